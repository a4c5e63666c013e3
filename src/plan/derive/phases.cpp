#include "plan/derive/phases.h"
#include "plan/plan.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tdl::plan {

using namespace ir;

const Op *Phase::firstCombined() const {
    auto it =
        std::find_if(ops.begin(), ops.end(), [](const Op *o) { return o->kind == OpKind::ReduceRanks; });
    return it == ops.end() ? nullptr : *it;
}

namespace {

/// What the cut needs to know about one operation of the stage's block.
struct Node {
    const Op *op = nullptr;
    std::vector<const Value *> uses;          // also in nested blocks, defined in the stage's block
    std::vector<const Value *> reads, writes; // tensors, also in nested blocks
    int level = 0;
    int last = 0;         // may run in this phase or before: a store behind it overwrites what it reads
    std::set<int> wanted; // phases that use a result
    std::set<int> runs;   // phases that execute it
    bool root() const { return !writes.empty(); }
    bool cheap() const {
        switch (op->kind) {
        case OpKind::For:
        case OpKind::Dot:
        case OpKind::Reduce:
        case OpKind::ReduceRanks: return false;
        default: return true;
        }
    }
};

class Cut {
public:
    Cut(const Op &stage, Diagnostics &d) : diags(d) {
        for (auto &op : stage.body().ops) index(*op);
    }

    bool sound() {
        bool ok = true;
        for (Node &n : nodes)
            for (auto &b : n.op->blocks)
                walk(*b, [&](const Op &inner) {
                    if (inner.kind != OpKind::ReduceRanks) return;
                    ok = false;
                    diags.report(inner.loc, Diag::PlanReduceInLoop);
                });
        return ok;
    }

    std::vector<Phase> run() {
        setLevels();
        setLast();
        place();
        int count = 0;
        for (const Node &n : nodes)
            for (int p : n.runs) count = std::max(count, p + 1);
        std::vector<Phase> phases(static_cast<size_t>(count));
        auto at = [&](int p) -> Phase & { return phases[static_cast<size_t>(p)]; };
        for (const Node &n : nodes) {
            for (int p : n.runs) at(p).ops.push_back(n.op);
            if (n.runs.empty()) continue;
            if (n.op->kind == OpKind::ReduceRanks) at(n.level - 1).partials.push_back(n.op);
            // Phases that want a result and do not compute it read it back; the first that computes it stores it.
            for (auto &r : n.op->results) {
                bool spill = false;
                for (int p : wantedPhases(*r))
                    if (!n.runs.contains(p)) {
                        at(p).reloaded.push_back(r.get());
                        spill = true;
                    }
                if (spill) at(*n.runs.begin()).spilled.push_back(r.get());
            }
        }
        return phases;
    }

private:
    Diagnostics &diags;
    std::vector<Node> nodes;
    std::unordered_map<const Value *, size_t> definer; // values of the stage's block
    std::unordered_map<const Value *, std::set<int>> wantedBy;

    const std::set<int> &wantedPhases(const Value &v) { return wantedBy[&v]; }

    void index(const Op &op) {
        Node n;
        n.op = &op;
        std::unordered_set<const Value *> seen;
        auto visit = [&](const Op &o) {
            for (const Value *v : o.operands) {
                if (!seen.insert(v).second) continue;
                if (definer.contains(v)) n.uses.push_back(v);
            }
            if (o.kind == OpKind::Load) n.reads.push_back(o.operands[0]);
            if (o.kind == OpKind::Store) n.writes.push_back(o.operands[1]);
        };
        visit(op);
        for (auto &b : op.blocks) walk(*b, visit);
        for (auto &r : op.results) definer[r.get()] = nodes.size();
        nodes.push_back(std::move(n));
    }

    void setLevels() {
        std::unordered_map<const Value *, int> readAt; // the highest level that reads a tensor so far
        for (Node &n : nodes) {
            for (const Value *v : n.uses) n.level = std::max(n.level, nodes[definer.at(v)].level);
            if (n.op->kind == OpKind::ReduceRanks) ++n.level;
            for (const Value *t : n.writes)
                if (auto it = readAt.find(t); it != readAt.end()) n.level = std::max(n.level, it->second);
            for (const Value *t : n.reads) readAt[t] = std::max(readAt[t], n.level);
        }
    }

    void setLast() {
        constexpr int any = 1 << 30;
        std::unordered_map<const Value *, int> writtenAt; // the lowest level that writes a tensor further on
        for (size_t i = nodes.size(); i-- > 0;) {
            Node &n = nodes[i];
            n.last = any;
            for (const Value *t : n.reads)
                if (auto it = writtenAt.find(t); it != writtenAt.end()) n.last = std::min(n.last, it->second);
            for (const Value *t : n.writes) {
                int &level = writtenAt.try_emplace(t, n.level).first->second;
                level = std::min(level, n.level);
            }
        }
    }

    // Users stand behind what they use, so one walk from the end knows all of them.
    void place() {
        for (size_t i = nodes.size(); i-- > 0;) {
            Node &n = nodes[i];
            for (auto &r : n.op->results) n.wanted.insert(wantedBy[r.get()].begin(), wantedBy[r.get()].end());
            if (n.root()) {
                n.runs = {n.level};
            } else if (!n.wanted.empty()) {
                int first = std::min(*n.wanted.begin(), n.last);
                n.runs = {first};
                if (n.cheap())
                    for (int p : n.wanted)
                        if (p <= n.last) n.runs.insert(p);
            }
            if (n.runs.empty()) continue;
            for (const Value *v : n.uses) {
                if (n.op->kind == OpKind::ReduceRanks)
                    wantedBy[v].insert(n.level - 1);
                else
                    wantedBy[v].insert(n.runs.begin(), n.runs.end());
            }
        }
    }
};

} // namespace

std::vector<Phase> phasesOf(const Op &stage, Diagnostics &d) {
    Cut cut(stage, d);
    if (!cut.sound()) return {};
    return cut.run();
}

} // namespace tdl::plan
