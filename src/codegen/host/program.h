// Emission of one program, split by construct over several files that share this class. Internal to
// codegen/host.
//
//     program.cpp   blocks, scalars, control            nest.cpp     loops over a tile, elements of virtual
//     tiles memory.cpp    addresses, slots, alias scopes       write.cpp    tiles into memory and slots
//     reduce.cpp    reductions                           dot.cpp      products: panels and register tiles
//     sync.cpp      acquire, arrive, release
#pragma once
#include "codegen/common/element.h"
#include "codegen/common/expr.h"
#include "codegen/common/llvm.h"
#include "codegen/host/frame.h"
#include "codegen/host/plan.h"
#include <functional>

namespace tdl::codegen {

/// A range at run time.
struct Span {
    llvm::Value *low = nullptr, *length = nullptr; // length >= 0
};
/// A slot at run time.
struct SlotMemory {
    llvm::Value *base = nullptr;
    std::vector<std::string> axes;      // as in Slot
    std::vector<llvm::Value *> strides; // elements
    Elem elem = Elem::F32;
    int scope = -1; // alias scope
};

class Nest;

/// Part of an axis: local indices [from, to); null: all of it.
struct Part {
    llvm::Value *from = nullptr, *to = nullptr;
};

/// The loops of a reduction: `take` gives the next accumulator at an element, `finish` (if any) the result
/// from the last.
struct ReduceLoops {
    const std::vector<std::string> &over;
    std::string inner; // the axis of the elements that runs fastest
    const ir::Value *result;
    int slot; // of the result; < 0: a scalar
    Elem accumulator;
    llvm::Value *start;
    bool add = false; // start from what the slot holds instead
    std::function<llvm::Value *(Nest &, llvm::Value *)> take;
    std::function<llvm::Value *(llvm::Value *)> finish;
};

class ProgramEmitter {
public:
    ProgramEmitter(PlanContext &, size_t program);
    llvm::Function *run();

private:
    friend class Nest;
    friend class DotEmitter;
    PlanContext &plan;
    const ir::Op &program;
    const Storage &storage;
    size_t index;
    llvm::LLVMContext &context;
    llvm::IRBuilder<> b;
    ElementBuilder elements;
    llvm::Function *function = nullptr;
    llvm::BasicBlock *entry = nullptr, *leave = nullptr; // allocas; the one return
    llvm::Value *frame = nullptr, *worker = nullptr, *ticket = nullptr;
    llvm::Value *rank = nullptr, *epoch = nullptr;
    std::unordered_map<std::string, llvm::Value *> symbols;       // of expressions
    std::unordered_map<const ir::Value *, llvm::Value *> scalars; // scalars and addresses
    std::unordered_map<const ir::Value *, Span> ranges;
    std::vector<std::pair<std::string, Span>> axes; // in scope, innermost last
    std::vector<SlotMemory> slots;
    std::vector<llvm::MDNode *> scopeList, noAliasList; // per alias scope
    llvm::DISubprogram *subprogram = nullptr;

    // program.cpp
    void prologue();
    void block(const ir::Block &);
    void operation(const ir::Op &);
    void loop(const ir::Op &);
    void branch(const ir::Op &);
    void fail(const ir::Op &, const char *why);
    void locate(const ir::Op &);
    llvm::Value *expression(const ir::Expr &);
    llvm::Value *scalar(const ir::Value *);
    llvm::Value *element(const ir::Op &elementwise, const std::vector<llvm::Value *> &operands);
    llvm::Value *frameField(Frame, llvm::Type *);
    llvm::Value *slotOf(llvm::Value *array, int64_t i, llvm::Type *); // array[i] of 8-byte entries
    const Span &axis(const std::string &name);
    llvm::Value *i64(int64_t v) { return b.getInt64(static_cast<uint64_t>(v)); }
    llvm::AllocaInst *local(llvm::Type *, const char *name, uint64_t count = 1);
    llvm::BasicBlock *newBlock(const char *name);

    // memory.cpp
    void addressOperation(const ir::Op &);
    void layOutSlots();
    llvm::Value *workspace();
    void fillWithNaN(llvm::Value *at, llvm::Value *bytes);
    void aliasScopes();
    int scopeOf(const ir::Value *address);
    void tag(llvm::Instruction *, int scope);
    llvm::Value *load(llvm::Value *address, Elem, int scope);
    void store(llvm::Value *value, llvm::Value *address, Elem, int scope);

    // write.cpp
    void write(const ir::Op &);
    void define(const ir::Value *, int slot); // computes the tile into the slot
    void assign(const ir::Value *, int slot); // as above, or a copy if it has been computed
    void yield(const ir::Op &loop);
    void copySlot(int from, int to);
    std::vector<std::string> nestOrder(std::vector<std::string> axes, const std::string &inner);

    // reduce.cpp
    void reduce(const ir::Op &, int slot); // slot < 0: to a scalar
    void reduceArg(const ir::Op &, int slot);
    void reduceNest(const ReduceLoops &);
    // dot.cpp
    void dot(const ir::Op &, int slot); // as above
    void multiply(const ir::Op &, int slot, bool add);
    void product(const Product &, int slot);
    void copyOperand(const ir::Value *, int slot, const Product &, const Part &, Nest &around);
    void transpose(int from, int to, llvm::Value *rows, llvm::Value *columns);
    void registerTiles(const Product &, int slot, llvm::Value *base, llvm::Value *steps);
    void countedLoop(llvm::Value *end, int64_t step, const std::function<void(llvm::Value *)> &body);
    void fill(int slot, llvm::Value *);

    // sync.cpp
    void acquire(const ir::Op &);
    void arrive(const ir::Op &);
    void release(const ir::Op &);
    llvm::Value *callRuntime(const char *name, llvm::Type *result, std::vector<llvm::Value *> args);
    int64_t site(const ir::Op &);
    void leaveIf(llvm::Value *aborted);
};

} // namespace tdl::codegen
