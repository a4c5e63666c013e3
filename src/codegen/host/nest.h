// Loops over the indices of a tile, outermost first, and the elements of tiles at their current point. A
// value is computed in the outermost loop that has all its axes, once per point however often it is asked
// for:
//
//     Nest nest(e, {"i", "j"});                for i: { s = load S + i; for j: { x = load ..; store x * s } }
//     store(nest.eval(x) * nest.eval(s));      // s: f32[i] is loaded in the loop over i
//     nest.close();
#pragma once
#include "codegen/host/program.h"

namespace tdl::codegen {

class Nest {
public:
    /// `around`: loops that this one stands in, whose indices it sees.
    Nest(ProgramEmitter &, std::vector<std::string> axes, std::unordered_map<std::string, Part> parts = {},
         Nest *around = nullptr);
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
    /// Emission continues in the loop `depth` levels in: 0 before the loops, axes.size() innermost.
    void enter(size_t depth);
    void enterInnermost() { enter(levels.size()); }
    /// Emission continues behind the loops that are more than `depth` levels in, once per turn of those
    /// around.
    void leaveTo(size_t depth);
    /// Opens the innermost body for code with loops of its own; that ends with a branch to the block
    /// returned.
    llvm::BasicBlock *open();
    size_t depth() const { return levels.size(); }
    /// Ends the loops; emission continues behind them.
    void close();

private:
    struct Level {
        std::string axis;
        llvm::PHINode *index;
        llvm::BasicBlock *exit;
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
    llvm::Value *guarded(llvm::Value *condition, const ir::Op &read, llvm::Value *address,
                         llvm::Value *otherwise);
};

} // namespace tdl::codegen
