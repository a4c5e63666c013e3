// Which axis of each tile should run fastest: the one along which the memory it goes to, or else comes from,
// is contiguous. Loops over a tile are ordered by it, and slots are laid out by it.
//
//     write %y, %p, %ld, %one          %y: f32[i, j] runs j fastest, and so does %acc that %y is a cast of
//     %m = where (ge %i, %j), %d, %z   runs as %d does: a comparison of indices has no memory to run along
#include "codegen/common/inner.h"
#include <algorithm>

namespace tdl::codegen {
using ir::OpKind;

namespace {

std::string contiguousAxis(const ir::Op &op, const ir::Type &tile) {
    Access a = accessOf(op);
    for (size_t i = 0; i < tile.axes.size(); ++i)
        if (isConstant(a.strides[i], 1)) return tile.axes[i];
    return {};
}

/// The operands that an operation computes element by element.
std::vector<const ir::Value *> aligned(const ir::Op &op) {
    if (op.kind == OpKind::Broadcast) return {op.operands[0]};
    if (ir::isElementwise(op.kind)) return {op.operands.begin(), op.operands.end()};
    return {};
}

class Inner {
public:
    explicit Inner(std::unordered_map<const ir::Value *, std::string> &out) : inner(out) {}

    // From where values go to where they come from.
    void backward(const ir::Block &b) {
        for (auto it = b.ops.rbegin(); it != b.ops.rend(); ++it) {
            const ir::Op &op = **it;
            if (op.kind == OpKind::Write) propose(op.operands[0], contiguousAxis(op, op.operands[0]->type));
            if (op.kind == OpKind::Loop)
                for (size_t i = 0; i < op.results.size(); ++i) {
                    propose(op.body().args[i + 1].get(), of(op.result(i)));
                    propose(op.body().ops.back()->operands[i], of(op.result(i)));
                }
            for (auto &inside : op.blocks) backward(*inside);
            if (op.kind == OpKind::Loop)
                for (size_t i = 0; i < op.results.size(); ++i)
                    propose(op.operands[i + 3], of(op.body().args[i + 1].get()));
            for (auto &r : op.results)
                for (const ir::Value *x : aligned(op)) propose(x, of(r.get()));
        }
    }

    void forward(const ir::Block &b) {
        for (auto &p : b.ops) {
            const ir::Op &op = *p;
            if (op.kind == OpKind::Loop)
                for (size_t i = 0; i < op.results.size(); ++i) {
                    propose(op.body().args[i + 1].get(), of(op.operands[i + 3]));
                    propose(op.result(i), of(op.body().args[i + 1].get()));
                }
            for (auto &inside : op.blocks) forward(*inside);
            if (op.kind == OpKind::Loop || op.results.empty() || !op.result()->type.isTile()) continue;
            const ir::Value *r = op.result();
            if (op.kind == OpKind::Read) propose(r, contiguousAxis(op, r->type));
            const ir::Value *widest = nullptr; // and from memory rather than from indices
            for (const ir::Value *x : aligned(op)) {
                size_t n = x->type.axes.size(), most = widest ? widest->type.axes.size() : 0;
                if (n > most || (n > 0 && n == most && fromIndices.contains(widest) && !fromIndices.contains(x)))
                    widest = x;
            }
            if (op.kind == OpKind::Index || (widest && fromIndices.contains(widest)))
                fromIndices.insert(r);
            else if (widest)
                propose(r, of(widest));
            if (op.kind == OpKind::Reduce) propose(r, of(op.operands[0]));
            if (op.kind == OpKind::Dot) {
                DotAxes d = dotAxes(op);
                if (!d.columns.empty())
                    propose(r, d.columns.back());
                else if (!d.rows.empty())
                    propose(r, d.rows.back());
            }
            if (!r->type.axes.empty()) propose(r, r->type.axes.back());
        }
    }

private:
    std::unordered_map<const ir::Value *, std::string> &inner;
    std::unordered_set<const ir::Value *> fromIndices; // computed, so that any order is as good: `i >= j`

    std::string of(const ir::Value *v) const {
        auto it = inner.find(v);
        return it == inner.end() ? std::string() : it->second;
    }
    void propose(const ir::Value *v, const std::string &axis) {
        if (!axis.empty() && v->type.isTile() && v->type.hasAxis(axis)) inner.emplace(v, axis);
    }
};

} // namespace

void chooseInnerAxes(const ir::Op &program, std::unordered_map<const ir::Value *, std::string> &inner) {
    Inner pass(inner);
    pass.backward(program.body());
    pass.forward(program.body());
}

} // namespace tdl::codegen
