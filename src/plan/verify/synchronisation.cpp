// Flags, joins and levels. If levels do not decrease along the tickets, and each wait is for something of a lower level,
// then a ticket with the lowest level that has not ended can run on every rank: there is no circular wait, for any sizes,
// any number of ranks and any number of agents.
#include "ir/verify.h"
#include "plan/plan.h"
#include "plan/verify/rules.h"
#include <algorithm>
#include <unordered_map>

namespace tdl::plan {

using namespace ir;

namespace {

struct Use {
    const Op *op, *task;
};
struct Uses {
    std::vector<Use> publishes, waits; // notify or arrive; wait or wait_join
};

class Checker {
public:
    Checker(const Op &p, Diagnostics &d) : plan(p), diags(d) {}

    bool run() {
        for (const Op *task : tasksOf(plan)) collect(*task);
        if (!ok) return false; // the rest relies on types
        levels();
        for (auto &op : plan.body().ops) {
            if (op->kind == OpKind::Flag) op->name("kind") == "done" ? doneFlag(*op) : dataFlag(*op);
            if (op->kind == OpKind::Join) join(*op);
        }
        return ok;
    }

private:
    const Op &plan;
    Diagnostics &diags;
    std::unordered_map<const Op *, Uses> uses; // by declaration
    bool ok = true;

    template <class... A> void fail(const Op &op, Diag kind, A &&...args) {
        ok = false;
        diags.report(placeOf(op), kind, std::forward<A>(args)...);
    }

    void collect(const Op &task) {
        walk(task.body(), [&](const Op &op) {
            bool publishes = op.kind == OpKind::Notify || op.kind == OpKind::Arrive;
            if (!publishes && op.kind != OpKind::Wait && op.kind != OpKind::WaitJoin) return;
            bool flag = op.kind == OpKind::Notify || op.kind == OpKind::Wait;
            const Op *decl = op.operands[0]->def;
            if (!decl || decl->kind != (flag ? OpKind::Flag : OpKind::Join))
                return fail(op, Diag::IrTypeRule, op.info().text, flag ? "needs a flag" : "needs a join");
            Uses &u = uses[decl];
            (publishes ? u.publishes : u.waits).push_back({&op, &task});
        });
    }

    void levels() {
        int64_t level = 0;
        for (const Op *task : tasksOf(plan)) {
            if (task->integer("level") < level)
                fail(*task, Diag::PlanLevel, task->symbol,
                     fmt::format("has level {} behind one of level {}", task->integer("level"), level));
            level = std::max(level, task->integer("level"));
        }
        for (auto &decl : plan.body().ops) {
            if (decl->kind != OpKind::Flag && decl->kind != OpKind::Join) continue;
            if (decl->kind == OpKind::Flag && decl->name("kind") == "done") continue; // of the launch before
            const Uses &u = uses[decl.get()];
            for (const Use &w : u.waits)
                for (const Use &p : u.publishes)
                    if (p.task->integer("level") >= w.task->integer("level"))
                        fail(*w.op, Diag::PlanLevel, w.task->symbol,
                             fmt::format(
                                 "waits for `{}`, which `{}` publishes at level {}, not below its own {}",
                                 decl->name(), p.task->symbol, p.task->integer("level"),
                                 w.task->integer("level")));
        }
    }

    void dataFlag(const Op &flag) {
        const Uses &u = uses[&flag];
        if (u.publishes.size() != 1)
            fail(flag, Diag::PlanFlag, flag.name(),
                 fmt::format("is notified by {} operations, not by one", u.publishes.size()));
        if (u.waits.empty()) fail(flag, Diag::PlanFlag, flag.name(), "is notified, but nothing waits for it");
    }

    void doneFlag(const Op &flag) {
        const Uses &u = uses[&flag];
        if (u.publishes.size() != 1)
            return fail(flag, Diag::PlanDone,
                        fmt::format("it is notified by {} operations, not by one", u.publishes.size()));
        const Op &n = *u.publishes[0].op;
        if (!n.expr("to").isConst(0) || n.expr("count") != ranks() || n.expr("index") != thisRank())
            fail(n, Diag::PlanDone, "a rank notifies its own word on all ranks");
    }

    static std::string blockText(const Op &arrive) {
        std::string s;
        for (auto &b : arrive.blocks)
            for (auto &op : b->ops) {
                s += op->operands[0]->def->name();
                for (auto &[name, value] : op->attrs()) s += " " + printAttr(value);
                s += blockText(*op) + ";";
            }
        return s;
    }

    void join(const Op &join) {
        const Uses &u = uses[&join];
        if (u.publishes.empty()) return fail(join, Diag::PlanJoin, join.name(), "has no arrivals");
        const Op &first = *u.publishes[0].op;
        bool observed = !u.waits.empty();
        for (const Use &p : u.publishes) {
            observed |= !p.op->blocks.empty() && !p.op->body().ops.empty();
            if (p.op->expr("total") != first.expr("total"))
                fail(*p.op, Diag::PlanJoin, join.name(),
                     fmt::format("has a total of {} here and of {} elsewhere", p.op->expr("total").str(),
                                 first.expr("total").str()));
            if (blockText(*p.op) != blockText(first))
                fail(*p.op, Diag::PlanJoin, join.name(),
                     "does one thing here when it is complete and another elsewhere");
        }
        if (!observed)
            fail(join, Diag::PlanJoin, join.name(),
                 "counts, but nothing waits for it or happens when it is complete");
        for (const Use &w : u.waits)
            if (first.expr("index").isConst() && w.op->expr("index").isConst() &&
                w.op->expr("total") != first.expr("total"))
                fail(*w.op, Diag::PlanJoin, join.name(),
                     fmt::format("is waited for with a total of {}, but gets {}", w.op->expr("total").str(),
                                 first.expr("total").str()));
    }
};

} // namespace

bool checkSynchronisation(const Op &plan, Diagnostics &d) {
    return Checker(plan, d).run();
}

} // namespace tdl::plan
