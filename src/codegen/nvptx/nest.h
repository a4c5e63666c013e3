// Loops over the indices of a tile, outermost first, and the elements of tiles at their current point; each thread runs
// its share. A value is computed in the outermost loop that has all its axes, once per point however often it is asked for:
//
//     Nest nest(e, e.sharedOut({"i", "j"}, e.wholeBlock()));   for i = t / 128 by 2: { s = load S + i; for j = t % 128 by 128: ..}
//     store(nest.eval(x) * nest.eval(s));                      // s: f32[i] is loaded in the loop over i
//     nest.close();
//
// The loops differ between threads: no barrier stands inside, unless all of them are in order.
#pragma once
#include "codegen/nvptx/program.h"

namespace tdl::codegen::nvptx {

class Nest {
public:
    /// `around`: loops that this one stands in, whose indices it sees.
    Nest(ProgramEmitter &, std::vector<NestLoop> loops, Nest *around = nullptr);
    /// The element of a tile or scalar at the current point.
    llvm::Value *eval(const ir::Value *);
    /// The same by the operation that defines it, although it may have a slot.
    llvm::Value *compute(const ir::Value *);
    llvm::Value *read(const ir::Op &op) { return readElement(op); } // a scalar, or a tile at this point
    /// Local index (from 0) along an axis.
    llvm::Value *index(const std::string &axis);
    /// base + sum of index * stride, in elements; computed as far out as possible.
    llvm::Value *address(llvm::Value *base, llvm::Type *elem, const std::vector<std::string> &axes,
                         const std::vector<llvm::Value *> &strides);
    llvm::Value *slotAddress(const SlotMemory &);
    /// Emission continues in the loop `depth` levels in: 0 before the loops, depth() innermost.
    void enter(size_t depth);
    void enterInnermost() { enter(levels.size()); }
    /// Emission continues behind the loops that are more than `depth` levels in, once per turn of those around.
    void leaveTo(size_t depth);
    /// Lets `body`, which may have control flow of its own, run where emission stands.
    void here(const std::function<void()> &body);
    size_t depth() const { return levels.size(); }
    /// Ends the loops; emission continues behind them.
    void close();

private:
    struct Level {
        std::string axis;
        llvm::PHINode *index;
        llvm::Instruction *end = nullptr; // emission goes before it, behind the loop
    };
    ProgramEmitter &e;
    Nest *around;
    std::vector<Level> levels;
    std::vector<llvm::Instruction *> anchors; // per depth: emission goes before it
    std::unordered_map<const ir::Value *, llvm::Value *> known;
    size_t current = 0;

    size_t depthOf(const std::vector<std::string> &axes) const;
    llvm::Value *fromSlot(const ir::Value *, int slot);
    llvm::Value *operation(const ir::Op &);
    llvm::Value *readElement(const ir::Op &);
    llvm::Value *guarded(llvm::Value *condition, const ir::Op &read, llvm::Value *address, llvm::Value *otherwise);
};

} // namespace tdl::codegen::nvptx
