// The form of an index, as far as it can be compared with others: which loop or whole extent it follows, and
// how far moved.
//
//     %i, shift %i, -1, add %h, 1       Axis: root %i or %h, offset 0, -1, 1
//     const 3, expr N - 1               Constant: offset 3, N - 1
//     what data or other arithmetic makes of it: Other
#pragma once
#include "sema/context.h"

namespace tdl::sema {

struct IndexShape {
    enum Kind : uint8_t { Axis, Constant, Other } kind = Other;
    const ir::Value *root = nullptr;
    ir::Expr offset;
};
IndexShape shapeOf(const ir::Value *index);

/// The loop that binds a block argument: in a header or in a body. `spec` is null for what is not bound by a
/// loop.
struct LoopOf {
    const ir::Op *op = nullptr;
    const ir::LoopSpec *spec = nullptr;
    bool header() const { return spec && op->kind == ir::OpKind::Stage; }
};
LoopOf loopOf(const ir::Value *);

/// Do the turns of the loop (or the whole extent) reach each index below `extent`? `ownCopy`: on every rank
/// by itself.
bool covers(const Facts &, const ir::Value *root, const ir::Expr &extent, bool ownCopy);

/// Does `v` depend on what `loop` binds, as far as can be seen? Data from memory depends on its indices.
bool dependsOn(const ir::Value *v, const ir::Value *loop);

/// The header loop that `root` is an index of, or lies within; null if there is none.
const ir::Value *headerOf(const ir::Value *root);

} // namespace tdl::sema
