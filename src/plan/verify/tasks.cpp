// The block of a task: waits, then ranges and tile operations, then arrivals. So whatever a ticket reads lies behind its
// waits, and whatever it publishes lies behind its writes.
#include "ir/verify.h"
#include "plan/plan.h"
#include "plan/verify/rules.h"

namespace tdl::plan {

using namespace ir;

namespace {

class Checker {
public:
    explicit Checker(Diagnostics &d) : diags(d) {}

    bool run(const Op &plan) {
        for (const Op *task : tasksOf(plan)) {
            enum { Waits, Work, Arrivals } part = Waits;
            for (auto &op : task->body().ops) {
                auto is = op->kind == OpKind::Wait || op->kind == OpKind::WaitJoin ? Waits
                          : op->kind == OpKind::Arrive                             ? Arrivals
                                                                                   : Work;
                if (is < part)
                    fail(*op, Diag::PlanPlace, op->info().text,
                         is == Waits ? "behind other operations of a task" : "behind an arrival");
                part = is;
                if (is == Work) work(*op);
                if (is == Arrivals) arrival(*op);
            }
            if (part != Arrivals) fail(*task, Diag::PlanPlace, "task", "in a plan without arriving anywhere");
        }
        return ok;
    }

private:
    Diagnostics &diags;
    bool ok = true;

    template <class... A> void fail(const Op &op, Diag kind, A &&...args) {
        ok = false;
        diags.report(placeOf(op), kind, std::forward<A>(args)...);
    }

    void work(const Op &op) {
        switch (op.kind) {
        case OpKind::Wait:
        case OpKind::WaitJoin:
        case OpKind::Arrive:
        case OpKind::Notify:
            return fail(op, Diag::PlanPlace, op.info().text, "in a loop or among tile operations");
        case OpKind::Tensor:
        case OpKind::Param:
        case OpKind::Require:
        case OpKind::Buffer:
        case OpKind::Flag:
        case OpKind::Join:
        case OpKind::Task:
        case OpKind::Plan: return fail(op, Diag::PlanPlace, op.info().text, "in a task");
        case OpKind::Store: store(op); break;
        default: break;
        }
        for (auto &b : op.blocks)
            for (auto &inner : b->ops) work(*inner);
    }

    void store(const Op &op) {
        const Op &memory = *op.operands[1]->def;
        bool tensor = memory.kind == OpKind::Tensor;
        auto wrong = [&](const char *why) { fail(op, Diag::PlanStore, memory.name(), why); };
        if (op.has("at") && (tensor || memory.name("scope") != "protocol"))
            wrong("`at` another rank there are protocol buffers only");
        if (op.has("own") && (!tensor || distDim(memory) < 0)) wrong("`own` is for distributed tensors");
        if (tensor && memory.name("mode") == "in") wrong("it is `in`");
    }

    void arrival(const Op &op) {
        for (auto &b : op.blocks)
            for (auto &inner : b->ops) {
                if (inner->kind == OpKind::Arrive)
                    arrival(*inner);
                else if (inner->kind != OpKind::Notify)
                    fail(*inner, Diag::PlanPlace, inner->info().text, "in the block of an `arrive`");
            }
    }
};

} // namespace

bool checkTasks(const Op &plan, Diagnostics &d) {
    return Checker(d).run(plan);
}

} // namespace tdl::plan
