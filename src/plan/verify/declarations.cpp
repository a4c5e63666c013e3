// Declarations, and the names that expressions may use where they stand:
//
//     extents of tensors, words of flags, dims of protocol buffers     equal on all ranks: sizes, ranks, tile constants
//     origins, dims of rank buffers, words of joins, counts of tasks    also rank
//     everything inside a task                                          also its coordinates
#include "ir/verify.h"
#include "plan/plan.h"
#include "plan/verify/rules.h"
#include <unordered_set>

namespace tdl::plan {

using namespace ir;

namespace {

using Names = std::unordered_set<std::string>;

class Checker {
public:
    Checker(const Op &p, Diagnostics &d) : plan(p), diags(d) {
        for (const std::string &s : plan.names("sizes")) add(plan, s);
        add(plan, "ranks");
        add(plan, "rank");
        common = declared;
        common.erase("rank");
        for (const Bind &b : plan.binds("tiles")) {
            if (!common.insert(b.name).second || b.name == "rank")
                fail(plan, Diag::PlanDeclaration, "tile constant", b.name, "has the name of something else");
            if (b.value < 1) fail(plan, Diag::PlanDeclaration, "tile constant", b.name, "is not positive");
        }
        withRank = common;
        withRank.insert("rank");
    }

    bool run() {
        bool tasks = false;
        int done = 0;
        for (auto &op : plan.body().ops) {
            bool declaration = false;
            switch (op->kind) {
            case OpKind::Tensor:
            case OpKind::Param:
            case OpKind::Require:
            case OpKind::Buffer:
            case OpKind::Flag:
            case OpKind::Join: declaration = true; break;
            case OpKind::Task: tasks = true; break;
            default: fail(*op, Diag::PlanPlace, op->info().text, "beside the tasks of a plan"); continue;
            }
            if (declaration && tasks) fail(*op, Diag::PlanPlace, op->info().text, "behind a task");
            if (declaration && op->kind != OpKind::Require) add(*op, op->name());
            declare(*op);
            if (op->kind == OpKind::Flag && op->name("kind") == "done") ++done;
            if (op->kind == OpKind::Task) task(*op);
        }
        if (done != 1) fail(plan, Diag::PlanDone, fmt::format("there are {} of them", done));
        return ok;
    }

private:
    const Op &plan;
    Diagnostics &diags;
    Names declared, common, withRank;
    bool ok = true;

    template <class... A> void fail(const Op &op, Diag kind, A &&...args) {
        ok = false;
        diags.report(placeOf(op), kind, std::forward<A>(args)...);
    }

    void add(const Op &op, const std::string &name) {
        if (!declared.insert(name).second)
            fail(op, Diag::PlanDeclaration, op.info().text, name, "has the name of something else");
    }

    void known(const Op &op, const Expr &e, const Names &names) {
        for (const std::string &s : e.symbols())
            if (!names.contains(s)) fail(op, Diag::PlanName, s, e.str());
    }
    void known(const Op &op, const std::vector<Expr> &all, const Names &names) {
        for (const Expr &e : all) known(op, e, names);
    }
    void known(const Op &op, const LoopSpec &l, const Names &names) {
        known(op, l.extent, names);
        if (l.isRange) known(op, l.by, names);
        if (l.sliced) known(op, {l.lo, l.hi}, names);
    }

    void declare(const Op &op) {
        auto gives = [&](TypeKind k) {
            if (op.result()->type.kind != k)
                fail(op, Diag::PlanDeclaration, op.info().text, op.name(),
                     fmt::format("is declared as {}", op.result()->type.str()));
        };
        auto oneOf = [&](const char *attr, std::initializer_list<std::string_view> values) {
            for (std::string_view v : values)
                if (op.name(attr) == v) return;
            fail(op, Diag::PlanDeclaration, op.info().text, op.name(),
                 fmt::format("has {} `{}`", attr, op.name(attr)));
        };
        switch (op.kind) {
        case OpKind::Tensor: {
            gives(TypeKind::Tensor);
            oneOf("mode", {"in", "out", "inout", "local"});
            int dist = 0;
            for (const Dim &d : op.dims()) {
                known(op, d.extent, common);
                dist += d.dist;
            }
            if (dist > (op.has("uniform") ? 0 : 1))
                fail(op, Diag::PlanDeclaration, "tensor", op.name(),
                     "is distributed more than once, or uniform too");
            break;
        }
        case OpKind::Require: known(op, op.expr("cond"), common); break;
        case OpKind::Buffer: {
            gives(TypeKind::Buffer);
            oneOf("scope", {"protocol", "rank"});
            size_t n = op.exprs("dims").size();
            if (op.exprs("origin").size() != n || (op.has("bounds") && op.exprs("bounds").size() != n))
                fail(op, Diag::PlanDeclaration, "buffer", op.name(),
                     fmt::format("needs {} values in each list", n));
            known(op, op.exprs("dims"), op.name("scope") == "protocol" ? common : withRank);
            known(op, op.exprs("origin"), withRank);
            if (op.has("bounds")) known(op, op.exprs("bounds"), common);
            break;
        }
        case OpKind::Flag:
            gives(TypeKind::Flag);
            oneOf("kind", {"data", "done"});
            known(op, op.expr("words"), common);
            if (op.name("kind") == "done" && op.expr("words") != ranks())
                fail(op, Diag::PlanDone, "it has a word per rank");
            break;
        case OpKind::Join:
            gives(TypeKind::Join);
            known(op, op.expr("words"), withRank);
            break;
        default: break;
        }
    }

    void task(const Op &task) {
        Names names = withRank;
        if (task.names("coords").size() != task.exprs("counts").size())
            fail(task, Diag::PlanDeclaration, "task", task.symbol,
                 "has another number of coordinates than of counts");
        known(task, task.exprs("counts"), withRank);
        for (const std::string &c : task.names("coords"))
            if (!names.insert(c).second)
                fail(task, Diag::PlanDeclaration, "task", task.symbol,
                     fmt::format("uses `{}` as a coordinate, which stands for something else", c));
        walk(task.body(), [&](const Op &op) {
            for (auto &[attr, value] : op.attrs()) {
                if (auto *e = std::get_if<Expr>(&value)) known(op, *e, names);
                if (auto *l = std::get_if<LoopSpec>(&value)) known(op, *l, names);
            }
        });
    }
};

} // namespace

bool checkDeclarations(const Op &plan, Diagnostics &d) {
    return Checker(plan, d).run();
}

} // namespace tdl::plan
