// Emission of the programs of a plan into its entry, split by construct over several files that share this class. Internal.
//
//     entry.cpp     tickets, the last block      nest.cpp    loops over a tile, shared out over threads; elements of virtual tiles
//     program.cpp   blocks, scalars, control     write.cpp   tiles into memory and slots
//     memory.cpp    addresses, slots             reduce.cpp  reductions: threads, warps or the block per element
//     region.cpp    barriers where needed        dot.cpp     products
//     sync.cpp      acquire, arrive, release
//
// All threads of a block run a program together. Scalars are computed by every thread and are equal in all of them, so
// control is uniform; elements of tiles are shared out.
#pragma once
#include "codegen/common/element.h"
#include "codegen/common/expr.h"
#include "codegen/common/llvm.h"
#include "codegen/nvptx/plan.h"
#include "codegen/nvptx/ptx.h"
#include "codegen/nvptx/region.h"
#include <functional>

namespace tdl::codegen::nvptx {

/// A range at run time; cap: its length at most, -1 if that is not a constant.
struct Span {
    llvm::Value *low = nullptr, *length = nullptr; // length >= 0
    int64_t cap = -1;
};
/// A slot at run time.
struct SlotMemory {
    llvm::Value *base = nullptr;
    std::vector<std::string> axes;        // as in Slot
    std::vector<llvm::Value *> strides;   // elements
    Elem elem = Elem::F32;
    int resource = 0;
};
/// Threads that share out work: the power of two `count`, of which this is number `index`.
struct Team {
    int count = 1;
    llvm::Value *index = nullptr;
};
/// One loop of a nest: indices from, from + step, .. < to.
struct NestLoop {
    std::string axis;
    llvm::Value *from, *to, *step;
};
/// Part of an axis: local indices [from, to); null: all of it.
struct Part {
    llvm::Value *from = nullptr, *to = nullptr;
};
using Parts = std::unordered_map<std::string, Part>;
using Caps = std::unordered_map<std::string, int64_t>;

class Nest;
struct Fold;

class ProgramEmitter {
public:
    ProgramEmitter(PlanContext &);
    llvm::Function *run();

private:
    friend class Nest;
    friend class Region;
    PlanContext &plan;
    llvm::LLVMContext &context;
    llvm::IRBuilder<> b;
    ElementBuilder elements;
    llvm::Function *function = nullptr;
    llvm::GlobalVariable *sharedMemory = nullptr;
    llvm::BasicBlock *entry = nullptr, *leave = nullptr;               // allocas; next ticket
    llvm::Value *thread = nullptr, *lane = nullptr, *warp = nullptr;   // i64
    llvm::Value *isFirst = nullptr;                                    // thread 0?
    llvm::Value *ticket = nullptr, *epoch = nullptr, *control = nullptr, *ownHeap = nullptr;
    std::unordered_map<std::string, llvm::Value *> symbols;            // of expressions
    std::unordered_map<const ir::Value *, llvm::Value *> params;
    Hazards hazards;

    // of the program that is being emitted
    const ir::Op *program = nullptr;
    const Placement *placement = nullptr;
    std::unordered_map<const ir::Value *, llvm::Value *> scalars;      // scalars and addresses
    std::unordered_map<const ir::Value *, Span> ranges;
    std::vector<std::pair<std::string, Span>> axes;                    // in scope, innermost last
    std::vector<SlotMemory> slots;
    const Storage &storage() const { return placement->storage; }

    // entry.cpp
    void prologue();
    void drawTickets(llvm::BasicBlock *draw, llvm::BasicBlock *done);
    void finish();
    void emitProgram(size_t index, llvm::Value *rest, const std::vector<llvm::Value *> &counts);
    llvm::Value *special(unsigned intrinsic);                          // thread and block numbers: i32
    llvm::Value *word(int64_t i);                                      // of the parameter block
    llvm::Value *pointerWord(int64_t i);
    llvm::Value *heap(llvm::Value *rank);
    llvm::Value *sharedAt(int64_t byte);

    // program.cpp
    void block(const ir::Block &);
    void operation(const ir::Op &);
    void loop(const ir::Op &);
    void branch(const ir::Op &);
    void fail(const ir::Op &, const char *why);
    llvm::Value *expression(const ir::Expr &);
    llvm::Value *scalar(const ir::Value *);
    llvm::Value *element(const ir::Op &elementwise, const std::vector<llvm::Value *> &operands);
    const Span &axis(const std::string &name);
    llvm::Value *i64(int64_t v) { return b.getInt64(static_cast<uint64_t>(v)); }
    llvm::AllocaInst *local(llvm::Type *, const char *name);
    llvm::BasicBlock *newBlock(const char *name);
    llvm::Value *ptx(Ptx p, const std::vector<llvm::Value *> &operands = {}) { return emitPtx(b, p, operands); }
    /// Runs `body` where the condition holds; emission goes on behind both.
    void when(llvm::Value *condition, const std::function<void()> &body);
    /// for (i = from; i < to; i += step)
    void counted(llvm::Value *from, llvm::Value *to, llvm::Value *step, const std::function<void(llvm::Value *)> &body);
    void zeroJoins();

    // memory.cpp
    void addressOperation(const ir::Op &);
    void layOutSlots();
    int resourceOf(const ir::Value *address);
    llvm::Value *load(llvm::Value *address, Elem);
    void store(llvm::Value *value, llvm::Value *address, Elem);
    llvm::Value *offset(llvm::Value *base, llvm::Value *bytes) { return b.CreateGEP(b.getInt8Ty(), base, bytes); }

    // nest.cpp: loops over axes, outermost first, by every thread, or shared out over a team
    std::vector<NestLoop> inOrder(const std::vector<std::string> &axes, const Parts & = {});
    /// `caps`: lengths at most, where they are less than the axis'.
    std::vector<NestLoop> sharedOut(const std::vector<std::string> &axes, const Team &, const Parts & = {}, const Caps &caps = {});
    Team wholeBlock() { return {kThreads, thread}; }

    // write.cpp
    void write(const ir::Op &);
    void define(const ir::Value *, int slot);          // computes the tile into the slot
    void assign(const ir::Value *, int slot);          // as above, or a copy if it has been computed
    void yield(const ir::Op &loop);
    void copySlot(int from, int to);
    void fill(int slot, llvm::Value *);

    // reduce.cpp
    void reduce(const ir::Op &, int slot);             // slot < 0: to a scalar
    void fold(const Fold &);
    std::vector<llvm::Value *> acrossWarp(const Fold &, std::vector<llvm::Value *> state);
    std::vector<llvm::Value *> acrossBlock(const Fold &, std::vector<llvm::Value *> state);
    llvm::Value *shuffle(llvm::Value *, int distance);

    // dot.cpp
    void dot(const ir::Op &, int slot);                // as above
    void multiply(const ir::Op &, int slot, bool add);
    void product(const ir::Op &, const BlockProduct &, int slot);
    void stage(const ir::Value *, const std::string &row, const std::string &over, llvm::Value *slab, int pitch, const Part &rows,
               const Part &ks, Elem, Nest &around);

    // sync.cpp
    void acquire(const ir::Op &);
    void arrive(const ir::Op &);
    void release(const ir::Op &);
    /// Of thread 0's value, to all threads.
    llvm::Value *broadcast(llvm::Value *);
    void barrier();                                    // unconditional
    void flush();                                      // a barrier if anything is pending
    llvm::Value *waitFor(llvm::Value *address, llvm::Value *expected, bool join, int object, llvm::Value *index, int site);
};

} // namespace tdl::codegen::nvptx
