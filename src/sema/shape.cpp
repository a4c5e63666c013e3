#include "sema/shape.h"
#include <unordered_set>

namespace tdl::sema {

using ir::Expr;
using ir::Op;
using ir::OpKind;
using ir::Value;

IndexShape shapeOf(const Value *v) {
    if (!v->def) {
        bool bound = loopOf(v).spec != nullptr;
        return {bound ? IndexShape::Axis : IndexShape::Other, v, Expr(0)};
    }
    const Op &op = *v->def;
    switch (op.kind) {
    case OpKind::Whole: return {IndexShape::Axis, v, Expr(0)};
    case OpKind::Const: return {IndexShape::Constant, nullptr, Expr(op.integer("value"))};
    case OpKind::ExprOp: return {IndexShape::Constant, nullptr, op.expr("value")};
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Shift: {
        IndexShape a = shapeOf(op.operands[0]), b = shapeOf(op.operands[1]);
        bool minus = op.kind == OpKind::Sub;
        if (!minus && a.kind == IndexShape::Constant) std::swap(a, b);
        if (a.kind == IndexShape::Other || b.kind != IndexShape::Constant) return {};
        a.offset = minus ? a.offset - b.offset : a.offset + b.offset;
        return a;
    }
    default: return {};
    }
}

LoopOf loopOf(const Value *v) {
    if (v->def) return {};
    const Op *op = v->block->parent;
    const auto &args = v->block->args;
    if (op->kind == OpKind::For) return args[0].get() == v ? LoopOf{op, &op->loop()} : LoopOf{};
    for (size_t i = 0; i < args.size() && op->kind == OpKind::Stage; ++i)
        if (args[i].get() == v) return {op, &op->loops()[i]};
    return {};
}

namespace {

const Value *withinOf(const Op &loop) {
    if (loop.kind != OpKind::For || !loop.has("within")) return nullptr;
    return loop.operands[loop.has("slice") ? 2 : 0];
}

} // namespace

bool covers(const Facts &facts, const Value *root, const Expr &extent, bool ownCopy) {
    if (root->def) return root->def->kind == OpKind::Whole && facts.equal(root->def->expr("extent"), extent);
    LoopOf l = loopOf(root);
    if (!l.spec || (l.spec->dist && ownCopy)) return false;
    if (l.op->has("slice")) return false;
    if (l.spec->sliced && !(facts.atLeast(0, l.spec->lo) && facts.atLeast(l.spec->hi, l.spec->extent)))
        return false;
    if (const Value *range = withinOf(*l.op)) return covers(facts, range, extent, ownCopy);
    return facts.equal(l.spec->extent, extent);
}

bool dependsOn(const Value *v, const Value *loop) {
    std::unordered_set<const Value *> seen;
    std::vector<const Value *> todo{v};
    while (!todo.empty()) {
        const Value *x = todo.back();
        todo.pop_back();
        if (x == loop) return true;
        if (!seen.insert(x).second) continue;
        if (x->def) {
            if (x->def->kind == OpKind::For) return true; // carried: anything
            todo.insert(todo.end(), x->def->operands.begin(), x->def->operands.end());
            continue;
        }
        LoopOf l = loopOf(x);
        if (!l.spec) return true;
        if (l.op->kind != OpKind::For) continue;
        size_t own = (l.op->has("slice") ? 2u : 0u) + (l.op->has("within") ? 1u : 0u);
        todo.insert(todo.end(), l.op->operands.begin(),
                    l.op->operands.begin() + static_cast<std::ptrdiff_t>(own));
    }
    return false;
}

const Value *headerOf(const Value *root) {
    while (root && !root->def) {
        LoopOf l = loopOf(root);
        if (l.header()) return root;
        root = l.spec ? withinOf(*l.op) : nullptr;
    }
    return nullptr;
}

} // namespace tdl::sema
