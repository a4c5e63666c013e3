#include "plan/derive/access.h"
#include "plan/plan.h"
#include <algorithm>
#include <functional>

namespace tdl::plan {

using namespace ir;

namespace {

/// f(op, loops around it in the stage's body, outermost first) for every operation of a phase.
void visit(const Phase &phase, const std::function<void(const Op &, const std::vector<const Op *> &)> &f) {
    std::vector<const Op *> around;
    auto walkOp = [&](auto &&self, const Op &op) -> void {
        f(op, around);
        if (op.blocks.empty()) return;
        around.push_back(&op);
        for (auto &b : op.blocks)
            for (auto &inner : b->ops) self(self, *inner);
        around.pop_back();
    };
    for (const Op *op : phase.ops) walkOp(walkOp, *op);
}

bool anyDistributed(const std::vector<const Op *> &loops) {
    return std::any_of(loops.begin(), loops.end(), [](const Op *l) { return l->loop().dist; });
}
bool teamIsAll(const Op &stage) {
    const auto &loops = stage.loops();
    return std::none_of(loops.begin(), loops.end(), [](const LoopSpec &l) { return l.dist; });
}

const Value *indexOf(const Op &access, size_t dim) {
    return access.operands[(access.kind == OpKind::Load ? 1 : 2) + dim];
}
const Value *memoryOf(const Op &access) {
    return access.operands[access.kind == OpKind::Load ? 0 : 1];
}

/// Does the access stay in this rank's block of its distributed tensor?
bool isOwn(const Op &access, const Reaches &reaches) {
    const Op &tensor = *memoryOf(access)->def;
    auto d = static_cast<size_t>(distDim(tensor));
    auto r = reaches.of(indexOf(access, d));
    return r && r->own && !r->shifted() && r->extent == tensor.dims()[d].extent;
}

bool hasAxis(const Value *v, const std::string &axis) {
    return v->type.hasAxis(axis);
}

/// Do all stores of the phase go to this rank's blocks if header loop `h` is cut to its block?
bool storesFollow(const Phase &phase, const Bindings &bindings, const Value *h) {
    Reaches reaches(bindings, h);
    bool any = false, all = true;
    visit(phase, [&](const Op &op, const std::vector<const Op *> &around) {
        if (op.kind != OpKind::Store) return;
        any = true;
        all = all && placementOf(*memoryOf(op)->def) == Placement::Distributed && isOwn(op, reaches) &&
              !anyDistributed(around);
    });
    return any && all;
}

} // namespace

std::vector<const Value *> restrictionsOf(const Op &stage, const std::vector<Phase> &phases,
                                          const Bindings &bindings) {
    std::vector<const Value *> out(phases.size(), nullptr);
    if (!teamIsAll(stage)) return out;
    for (size_t p = phases.size(); p-- > 0;) {
        const Phase &phase = phases[p];
        if (!phase.partials.empty()) continue; // every rank's part is needed
        for (size_t l = 0; l < stage.loops().size() && !out[p]; ++l) {
            const Value *h = stage.body().args[l].get();
            // What lies between phases is found by its indices along the loop, so it needs that axis.
            auto found = [&](const Value *v) { return !h->type.isRange() || hasAxis(v, h->type.axes[0]); };
            bool fits = std::all_of(phase.reloaded.begin(), phase.reloaded.end(), found) &&
                        std::all_of(phase.spilled.begin(), phase.spilled.end(), found);
            for (const Op *op : phase.ops)
                if (op->kind == OpKind::ReduceRanks) fits = fits && found(op->operands[0]);
            for (size_t q = p + 1; q < phases.size(); ++q)
                for (const Value *v : phases[q].reloaded)
                    if (std::find(phase.spilled.begin(), phase.spilled.end(), v) != phase.spilled.end())
                        fits = fits && out[q] == h;
            if (fits && storesFollow(phase, bindings, h)) out[p] = h;
        }
    }
    return out;
}

namespace {

std::string axisOf(const Value *index) {
    return index->type.isRange() ? index->type.axes[0] : std::string();
}

class Classifier {
public:
    Classifier(const Op &stage, const Phase &phase, const Bindings &bindings, const Value *restricted,
               Diagnostics &d)
        : stage_(stage), phase_(phase), bindings_(bindings), reaches(bindings, restricted), diags(d) {}

    std::optional<Accesses> run() {
        visit(phase_, [&](const Op &op, const std::vector<const Op *> &around) {
            if (op.kind == OpKind::Load) load(op);
            if (op.kind == OpKind::Store) store(op, around);
        });
        for (size_t g = 0; g < out.gathers.size(); ++g) {
            const auto &dims = out.gathers[g].tensor->def->dims();
            for (size_t i = 0; i < dims.size(); ++i)
                out.gathers[g].box.push_back(clipped(hulls[g][i], dims[i].extent));
        }
        if (!ok) return std::nullopt;
        return std::move(out);
    }

private:
    const Op &stage_;
    const Phase &phase_;
    const Bindings &bindings_;
    Reaches reaches;
    Diagnostics &diags;
    Accesses out;
    std::vector<std::vector<std::optional<Reach>>> hulls; // per gather and dimension
    bool ok = true;

    // All loads of a tensor that leave the own block share one buffer, the hull of what they reach.
    void load(const Op &op) {
        const Value *tensor = op.operands[0];
        if (placementOf(*tensor->def) != Placement::Distributed || isOwn(op, reaches)) return;
        size_t n = tensor->def->dims().size();
        auto it = std::find_if(out.gathers.begin(), out.gathers.end(),
                               [&](const Gather &g) { return g.tensor == tensor; });
        auto g = static_cast<size_t>(it - out.gathers.begin());
        bool first = it == out.gathers.end();
        if (first) {
            Gather gather{tensor, op.loc, {}, {}, false};
            for (size_t i = 0; i < n; ++i) gather.axes.push_back(axisOf(indexOf(op, i)));
            out.gathers.push_back(std::move(gather));
            hulls.emplace_back(n);
        }
        for (size_t i = 0; i < n; ++i) {
            auto r = reaches.of(indexOf(op, i));
            hulls[g][i] = first ? r : hull(hulls[g][i], r);
        }
        out.gathers[g].bounded |= op.has("or");
        out.gathered[&op] = g;
    }

    void store(const Op &op, const std::vector<const Op *> &around) {
        Placement p = placementOf(*op.operands[1]->def);
        bool all = teamIsAll(stage_) && !anyDistributed(around);
        StoreWay way = StoreWay::Local;
        if (p == Placement::Distributed && !isOwn(op, reaches)) way = all ? StoreWay::Own : StoreWay::Send;
        if (p == Placement::Uniform && !all) way = StoreWay::Send;
        out.stores[&op] = way;
        if (way == StoreWay::Send) send(op, around);
    }

    // What is written elsewhere must be known without looking at data: every loop around the store indexes one
    // dimension, wholly.
    void send(const Op &op, const std::vector<const Op *> &around) {
        const auto &dims = op.operands[1]->def->dims();
        const std::string &name = op.operands[1]->def->name();
        Send s{&op, {}, {}};
        std::unordered_map<const Value *, int> bound;
        for (size_t i = 0; i < dims.size(); ++i) {
            auto r = reaches.of(indexOf(op, i));
            if (!r || !r->exact) {
                ok = false;
                diags.report(op.loc, Diag::PlanInexactSend, name,
                             fmt::format("index {} does not run over a whole loop", i));
                return;
            }
            for (const Value *l : r->loops) ++bound[l];
            s.box.push_back(clipped(r, dims[i].extent));
            s.axes.push_back(axisOf(indexOf(op, i)));
        }
        auto check = [&](const Value *loop, const LoopSpec &spec) {
            if (bound[loop] == 1 || spec.extent.isConst(1)) return;
            ok = false;
            diags.report(op.loc, Diag::PlanInexactSend, name,
                         fmt::format("loop `{}` around it indexes {} dimensions", spec.name, bound[loop]));
        };
        for (size_t l = 0; l < stage_.loops().size(); ++l)
            check(stage_.body().args[l].get(), stage_.loops()[l]);
        for (const Op *l : around) check(l->body().args[0].get(), l->loop());
        out.sends.push_back(std::move(s));
    }
};

} // namespace

std::optional<Accesses> accessesOf(const Op &stage, const Phase &phase, const Bindings &bindings,
                                   const Value *restricted, Diagnostics &d) {
    return Classifier(stage, phase, bindings, restricted, d).run();
}

} // namespace tdl::plan
