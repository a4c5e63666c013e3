// Teams and uniform values. The team of an instance is all ranks, or one where a loop around it is
// distributed. What all ranks store to a tensor that they share must be one value at one place; all ranks
// must take part in a reduction over ranks. A value varies (between ranks) if it comes from a private tensor
// or from a loop that does.
//
//     stage s for i in M by 64 { Y[i] = X[i] }       Y: out uniform f32[M], X private:
//     error: all ranks store to `Y`, but the value may differ between ranks
//     note: `X` is private: every rank has its own
#include "sema/analysis.h"
#include <unordered_set>

namespace tdl::sema {

namespace {

using ir::Block;
using ir::Op;
using ir::OpKind;
using ir::Value;

enum class Team : uint8_t { All, One, Some }; // Some: in a loop that ranks run differently

class Teams {
public:
    explicit Teams(Context &c) : ctx(c) {}

    void run(const Op &stage) {
        varies.clear();
        const Op *alone = nullptr;
        for (size_t i = 0; i < stage.loops().size(); ++i)
            if (stage.loops()[i].dist) {
                mark(stage.body().args[i].get());
                alone = &stage;
            }
        do {
            changed = false;
            spread(stage.body());
        } while (changed);
        check(stage.body(), alone ? Team::One : Team::All, alone);
    }

private:
    Context &ctx;
    std::unordered_set<const Value *> varies;
    bool changed = false;

    void mark(const Value *v) { changed |= varies.insert(v).second; }
    bool any(const Op &op) const {
        for (const Value *v : op.operands)
            if (varies.contains(v)) return true;
        return false;
    }

    static size_t own(const Op &loop) {
        return (loop.has("slice") ? 2u : 0u) + (loop.has("within") ? 1u : 0u);
    }
    bool runsDifferently(const Op &loop) const {
        if (loop.loop().dist) return true;
        for (size_t i = 0; i < own(loop); ++i)
            if (varies.contains(loop.operands[i])) return true;
        return false;
    }

    // What is not known to vary is uniform: grows until nothing changes, since loops carry values round.
    void spread(const Block &b) {
        for (auto &op : b.ops) {
            switch (op->kind) {
            case OpKind::For: loop(*op); continue;
            case OpKind::ReduceRanks: continue;
            case OpKind::Load:
                if (ctx.tensorOf(op->operands[0]).isPrivate()) mark(op->result());
                break;
            default: break;
            }
            if (any(*op))
                for (auto &r : op->results) mark(r.get());
        }
    }

    void loop(const Op &op) {
        const Block &body = op.body();
        bool differs = runsDifferently(op);
        if (differs) mark(body.args[0].get());
        for (size_t i = 0; i < op.results.size(); ++i)
            if (varies.contains(op.operands[own(op) + i])) mark(body.args[1 + i].get());
        spread(body);
        for (size_t i = 0; i < op.results.size(); ++i) {
            if (varies.contains(body.ops.back()->operands[i])) mark(body.args[1 + i].get());
            if (differs || varies.contains(body.args[1 + i].get())) mark(op.result(i));
        }
    }

    Loc placeOf(const ir::LoopSpec &l) const { return ctx.axes.at(l.name).loc; }

    // ---- Messages: where does a value begin to differ? Searched from the value back, nearest first.
    void why(Diagnostics::Builder &said, const Value *value) const {
        std::vector<const Value *> queue{value};
        std::unordered_set<const Value *> seen;
        auto follow = [&](const Value *v) {
            if (varies.contains(v) && seen.insert(v).second) queue.push_back(v);
        };
        for (size_t i = 0; i < queue.size(); ++i) {
            const Value *v = queue[i];
            const Op &op = v->def ? *v->def : *v->block->parent;
            if (op.kind == OpKind::Load && ctx.tensorOf(op.operands[0]).isPrivate()) {
                said.note(op.loc, fmt::format("`{}` is private: every rank has its own",
                                              ctx.tensorOf(op.operands[0]).name));
                return;
            }
            size_t at = position(op, v);
            bool loopsOwn = !v->def && (op.kind == OpKind::Stage || at == 0); // a range or index
            if (loopsOwn) {
                const ir::LoopSpec &l = op.kind == OpKind::Stage ? op.loops()[at] : op.loop();
                if (l.dist)
                    return void(said.note(
                        placeOf(l), fmt::format("`{}` runs over this rank's block", ctx.axisSource(l.name))));
                for (size_t k = 0; k < own(op); ++k) follow(op.operands[k]);
            } else if (op.kind == OpKind::For) {
                if (v->def && runsDifferently(op)) {
                    said.note(op.loc, fmt::format("`{}` is assigned in a loop that each rank runs for itself",
                                                  v->hint));
                    if (op.loop().dist) return;
                    for (size_t k = 0; k < own(op); ++k) follow(op.operands[k]);
                }
                if (!v->def) --at;
                follow(op.operands[own(op) + at]);
                follow(op.body().ops.back()->operands[at]);
            } else {
                for (const Value *o : op.operands) follow(o);
            }
        }
    }
    // Among the results of `op`, or the arguments of its block.
    static size_t position(const Op &op, const Value *v) {
        const auto &list = v->def ? op.results : op.body().args;
        size_t at = 0;
        while (list[at].get() != v) ++at;
        return at;
    }

    // ---- The rules
    void check(const Block &b, Team team, const Op *because) {
        for (auto &op : b.ops) {
            switch (op->kind) {
            case OpKind::Store: store(*op, team, because); break;
            case OpKind::ReduceRanks: reduce(*op, team, because); break;
            case OpKind::For: {
                bool differs = team == Team::All && runsDifferently(*op);
                Team here = op->loop().dist ? Team::One : differs ? Team::Some : team;
                check(op->body(), here, here == team ? because : op.get());
                break;
            }
            default: break;
            }
        }
    }

    void store(const Op &op, Team team, const Op *because) {
        const Tensor &t = ctx.tensorOf(op.operands[1]);
        if (t.isPrivate() || team == Team::One) return;
        if (team == Team::Some) {
            ctx.report(op.loc, Diag::StoreBySome, t.name)
                .note(placeOf(because->loop()), "this loop runs differently on each rank")
                .note(t.loc, fmt::format("`{}` is {}", t.name, t.uniform ? "uniform" : "distributed"));
            return;
        }
        for (size_t i = 2; i < op.operands.size(); ++i)
            if (varies.contains(op.operands[i])) {
                auto said = ctx.report(op.loc, Diag::IndexVaries, t.name);
                why(said, op.operands[i]);
                return;
            }
        if (!varies.contains(op.operands[0])) return;
        auto said = ctx.report(op.loc, Diag::ValueVaries, t.name);
        why(said, op.operands[0]);
        said.note(hint(op.loc), "reduce it over `ranks`, or distribute a loop so that one rank stores");
    }

    void reduce(const Op &op, Team team, const Op *because) {
        const std::string &kind = op.name("kind");
        if (team == Team::One) {
            auto said = ctx.report(op.loc, Diag::ReduceAlone, kind);
            if (because->kind == OpKind::For)
                return void(said.note(placeOf(because->loop()), "this loop is distributed"));
            for (auto &l : because->loops())
                if (l.dist) return void(said.note(placeOf(l), "this loop is distributed"));
            return;
        }
        const Op *loop = op.parent->parent;
        if (loop->kind != OpKind::For) return;
        std::string_view where;
        for (const Op *l = loop; l->kind == OpKind::For && where.empty(); l = l->parent->parent) {
            loop = l;
            if (l->loop().isRange)
                where = "a `by` loop";
            else if (l->has("order") && l->name("order") == "any")
                where = "a loop `in any order`";
            else if (!l->loop().extent.isConst() || own(*l) > 0)
                where = "a loop whose extent is not constant";
        }
        if (where.empty())
            ctx.report(op.loc, Diag::NotBuilt, "a reduction over `ranks` in a loop");
        else
            ctx.report(op.loc, Diag::ReduceInLoop, kind, where)
                .note(placeOf(loop->loop()), "the loop is here");
    }
};

} // namespace

void checkTeams(Context &ctx, const Op &kernel) {
    Teams teams(ctx);
    for (auto &op : kernel.body().ops)
        if (op->kind == OpKind::Stage) teams.run(*op);
}

} // namespace tdl::sema
