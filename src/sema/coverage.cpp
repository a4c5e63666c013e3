// What is defined when it is read, and complete at the end: `local` and `out` tensors start undefined, `out`
// tensors are written everywhere. A store covers its tensor if each index runs over exactly the extent of its
// dimension.
//
//     Y: out f32[N];  stage s for i in N[1 : N] by 64 { Y[i] = .. }     `Y` is `out`, but this store does not
//     run over all of its dimension `N`
#include "sema/analysis.h"
#include "sema/shape.h"
#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace tdl::sema {

namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

class Coverage {
public:
    explicit Coverage(Context &c) : ctx(c) {}

    void run(const Op &kernel) {
        for (auto &op : kernel.body().ops)
            if (op->kind == OpKind::Stage) stage(*op);
        for (auto &t : ctx.tensors)
            if (t->mode == "out") complete(*t);
    }

private:
    Context &ctx;
    std::map<const Tensor *, std::vector<const Op *>> stores; // of the stages so far

    void each(const ir::Block &b, const std::function<void(const Op &)> &f) {
        for (auto &op : b.ops) {
            f(*op);
            for (auto &inner : op->blocks) each(*inner, f);
        }
    }

    void stage(const Op &s) {
        std::map<const Tensor *, std::vector<const Op *>> here;
        each(s.body(), [&](const Op &op) {
            if (op.kind == OpKind::Store) here[&ctx.tensorOf(op.operands[1])].push_back(&op);
            if (op.kind != OpKind::Load) return;
            const Tensor &t = ctx.tensorOf(op.operands[0]);
            if (t.mode == "in" || t.mode == "inout" || stores.contains(&t)) return;
            auto said = ctx.report(op.loc, Diag::ReadUndefined, t.name, t.mode);
            said.note(t.loc, "declared here");
            if (t.mode == "out") said.note(hint(op.loc), "what has a value before the launch is `inout`");
        });
        for (auto &[t, list] : here) {
            auto &all = stores[t];
            all.insert(all.end(), list.begin(), list.end());
        }
    }

    // The first dimension that a store leaves in part; -1 if there is none.
    int gap(const Tensor &t, const Op &store, bool ownCopy) const {
        std::set<const Value *> roots;
        for (size_t d = 0; d < t.dims.size(); ++d) {
            IndexShape s = shapeOf(store.operands[2 + d]);
            bool axis = s.kind == IndexShape::Axis && s.offset.isConst(0) && roots.insert(s.root).second &&
                        covers(ctx.facts, s.root, t.dims[d].extent, ownCopy);
            bool only = s.kind == IndexShape::Constant && ctx.facts.equal(t.dims[d].extent, 1);
            if (!axis && !only) return static_cast<int>(d);
        }
        return -1;
    }

    void complete(const Tensor &t) {
        auto it = stores.find(&t);
        if (it == stores.end()) {
            ctx.report(t.loc, Diag::OutNever, t.name);
            return;
        }
        bool own = t.isPrivate();
        for (const Op *s : it->second)
            if (gap(t, *s, own) < 0) return;
        const Op &store = *it->second.front();
        auto d = static_cast<size_t>(gap(t, store, own));
        if (own && gap(t, store, false) < 0) {
            ctx.report(store.loc, Diag::OutOwnBlock, t.name, t.dims[d].extent.str())
                .note(t.loc, "each rank has its own, of which it would write a part")
                .note(hint(store.loc), fmt::format("mark it `uniform` or distribute it; or make it `inout`"));
            return;
        }
        ctx.report(store.loc, Diag::OutPart, t.name, t.dims[d].extent.str())
            .note(t.loc, "declared here")
            .note(hint(store.loc), "a tensor that is written in part is `inout`");
    }
};

} // namespace

void checkCoverage(Context &ctx, const Op &kernel) {
    Coverage(ctx).run(kernel);
}

} // namespace tdl::sema
