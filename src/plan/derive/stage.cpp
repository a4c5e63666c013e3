#include "plan/derive/stage.h"
#include "plan/derive/compute.h"
#include "plan/derive/transfer.h"
#include <algorithm>

namespace tdl::plan {

using namespace ir;

namespace {

class StageDeriver {
public:
    StageDeriver(Writer &writer, const Op &op, Diagnostics &d)
        : w(writer), stage(op), diags(d), bindings(bindingsOf(op)) {}

    bool run() {
        int before = diags.errorCount();
        phases = phasesOf(stage, diags);
        restricted = restrictionsOf(stage, phases, bindings);
        if (diags.errorCount() != before) return false;
        for (size_t p = 0; p < phases.size(); ++p)
            if (!phase(p)) return false;
        return true;
    }

private:
    Writer &w;
    const Op &stage;
    Diagnostics &diags;
    const Bindings bindings;
    std::vector<Phase> phases;
    std::vector<const Value *> restricted;
    std::unordered_map<const Value *, Slot> spills; // values between phases
    struct Parts {
        Slot slot;
        Value *here = nullptr;
    };
    std::unordered_map<const Op *, Parts> parts; // of reductions over ranks

    const Value *restrictionWhereCombined(const Op &reduce) const {
        for (size_t p = 0; p < phases.size(); ++p)
            if (std::find(phases[p].ops.begin(), phases[p].ops.end(), &reduce) != phases[p].ops.end())
                return restricted[p];
        return nullptr;
    }

    std::string nameOf(const Value &v) const { return v.hint.empty() ? stage.symbol : v.hint; }

    bool phase(size_t p) {
        const Phase &phase = phases[p];
        auto accesses = accessesOf(stage, phase, bindings, restricted[p], diags);
        if (!accesses) return false;
        PhaseTask::Targets targets{*accesses, {}, {}};
        std::vector<std::pair<Value *, Loc>> flags;
        for (const Gather &g : accesses->gathers) {
            auto [buffer, here] = gather(g);
            targets.gathers.push_back(buffer);
            flags.emplace_back(here, g.loc);
        }
        for (const Send &s : accesses->sends) targets.sends[s.store] = sendBuffer(s);
        // Where results of this phase go.
        for (const Value *v : phase.spilled) {
            Slot slot = slotFor(stage, v->type);
            slot.memory = w.buffer(w.fresh(nameOf(*v) + "_kept"), v->def->loc, v->type.elem, "rank",
                                   slot.box(stage, nullptr));
            spills[v] = std::move(slot);
        }
        std::unordered_map<const Value *, Slot> outboxes; // of operands; several reductions may share one
        for (const Op *r : phase.partials) {
            const Value *v = r->operands[0];
            if (outboxes.contains(v)) continue;
            Slot slot = slotFor(stage, v->type);
            slot.memory = w.buffer(w.fresh(nameOf(*v) + "_out"), r->loc, v->type.elem, "rank",
                                   slot.box(stage, nullptr));
            outboxes[v] = std::move(slot);
        }

        PhaseTask task(w, stage, restricted[p]);
        const Op *first = phase.firstCombined();
        task.open(first ? stage.symbol + "_" + first->name("kind") : stage.symbol,
                  first ? "combine" : "compute");
        for (const Op *op : phase.ops)
            if (op->kind == OpKind::ReduceRanks) flags.emplace_back(parts.at(op).here, op->loc);
        for (auto &[flag, loc] : flags) waitForAll(w, task.task(), loc, flag);
        task.start();
        for (const Value *v : phase.reloaded) task.reload(*v, spills.at(v), v->def->loc);
        for (const Op *op : phase.ops) {
            if (op->kind == OpKind::ReduceRanks)
                task.combine(*op, parts.at(op).slot);
            else
                task.copy(*op, targets);
            for (auto &r : op->results)
                if (std::find(phase.spilled.begin(), phase.spilled.end(), r.get()) != phase.spilled.end())
                    task.spill(*r, spills.at(r.get()), op->loc);
        }
        for (const Op *r : phase.partials)
            if (auto it = outboxes.find(r->operands[0]);
                it != outboxes.end() && r == firstUser(phase, it->first))
                task.spill(*it->first, it->second, r->loc);
        task.close();

        for (auto &[store, way] : accesses->stores) w.forget(store->operands[1]);

        for (const Op *r : phase.partials) distribute(*r, outboxes.at(r->operands[0]));
        for (const Send &s : accesses->sends) deliver(s, targets.sends.at(s.store));
        return true;
    }

    static const Op *firstUser(const Phase &phase, const Value *v) {
        for (const Op *r : phase.partials)
            if (r->operands[0] == v) return r;
        return nullptr;
    }

    // Every owner pushes what another rank reads of a distributed tensor; the reader has one buffer for all of it.
    Writer::Staged gather(const Gather &g) {
        const Op &tensor = *g.tensor->def;
        const std::string &name = tensor.name();
        Writer::Staged *before = w.staged(g.tensor, g.box);
        Value *buffer =
            before ? before->buffer
                   : w.buffer(w.fresh(name + "_in"), g.loc, tensor.result()->type.elem, "protocol", g.box);
        if (g.bounded) buffer->def->set("bounds", extentsOf(tensor));
        if (before) return *before;
        auto box = [&](const Expr &to) {
            Box b = onRank(g.box, to);
            auto d = static_cast<size_t>(distDim(tensor));
            b[d] = intersect(b[d], blockOfRank(tensor.dims()[d].extent));
            return b;
        };
        Value *here = emit(w, {name, g.loc, w.declared().at(g.tensor), buffer, box, g.axes, false});
        w.stage(g.tensor, g.box, {buffer, here});
        return {buffer, here};
    }

    // Each rank gets of every rank's partial result what it will combine.
    void distribute(const Op &reduce, const Slot &outbox) {
        const Value *cut = restrictionWhereCombined(reduce);
        for (auto &[other, p] : parts)
            if (other->operands[0] == reduce.operands[0] && restrictionWhereCombined(*other) == cut) {
                parts[&reduce] = Parts(p);
                return;
            }
        Box box = outbox.box(stage, cut), withSource = box;
        withSource.insert(withSource.begin(), wholeOf(ranks()));
        std::string name = nameOf(*reduce.operands[0]);
        Parts &p = parts[&reduce];
        p.slot = outbox;
        p.slot.memory = w.buffer(w.fresh(name + "_parts"), reduce.loc, reduce.operands[0]->type.elem,
                                 "protocol", withSource);
        auto boxFor = [&](const Expr &to) { return onRank(box, to); };
        p.here = emit(w, {name, reduce.loc, outbox.memory, p.slot.memory, boxFor, outbox.axes(), true});
    }

    Value *sendBuffer(const Send &s) {
        const Op &tensor = *s.store->operands[1]->def;
        return w.buffer(w.fresh(tensor.name() + "_out"), s.store->loc, tensor.result()->type.elem, "rank",
                        s.box);
    }

    // What this rank wrote of a tensor that lives elsewhere goes to its owners, or to every copy, and is stored there.
    void deliver(const Send &s, Value *outbox) {
        const Op &tensor = *s.store->operands[1]->def;
        const Loc &loc = s.store->loc;
        int dim = distDim(tensor);
        Box landing;
        for (const Dim &d : tensor.dims())
            landing.push_back(d.dist ? blockOfRank(d.extent) : wholeOf(d.extent));
        Value *landed = w.buffer(w.fresh(tensor.name() + "_landed"), loc, tensor.result()->type.elem,
                                 "protocol", landing);
        auto owned = [&](Box b, const Expr &owner) {
            if (dim >= 0) {
                auto d = static_cast<size_t>(dim);
                b[d] = intersect(b[d], onRank(landing[d], owner));
            }
            return b;
        };
        auto box = [&](const Expr &to) { return owned(s.box, to); };
        Value *here = emit(w, {tensor.name(), loc, outbox, landed, box, s.axes, false});

        std::string source = w.coord("s", {});
        Chunks chunks = chunksOf(w, owned(onRank(s.box, Expr::sym(source)), thisRank()), {source});
        std::vector<Expr> counts{ranks()};
        counts.insert(counts.end(), chunks.counts.begin(), chunks.counts.end());
        Task t = w.open(w.fresh("unpack_" + tensor.name()), "unpack", loc, chunks.coords, std::move(counts));
        waitForAll(w, t, loc, here);
        copyChunk(t, loc, landed, w.declared().at(tensor.result()), rangesOf(t, loc, chunks, s.axes), {},
                  nullptr);
        w.close(t);
    }
};

} // namespace

bool deriveStage(Writer &w, const Op &stage, Diagnostics &d) {
    return StageDeriver(w, stage, d).run();
}

} // namespace tdl::plan
