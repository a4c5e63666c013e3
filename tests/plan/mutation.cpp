// Every synchronising operation, every transfer and every index of the derived plans is changed for the worse, one at a
// time; the verifier must refuse each. Those that it need not refuse are listed with the reason.
#include "common.h"
#include "plan/plan.h"
#include <doctest/doctest.h>
#include <functional>

using namespace tdl;
using namespace tdl::ir;
using namespace tdl::test;

namespace {

struct Mutation {
    std::string name;
    std::function<bool(Op &)> apply; // false: does not concern this operation
};

bool isSync(const Op &op) {
    return op.kind == OpKind::Wait || op.kind == OpKind::WaitJoin || op.kind == OpKind::Arrive ||
           op.kind == OpKind::Notify;
}
bool isDone(const Op &op) {
    return op.operands[0]->def->has("kind") && op.operands[0]->def->name("kind") == "done";
}

bool remove(Op &op) {
    Block &b = *op.parent;
    std::erase_if(b.ops, [&](auto &o) { return o.get() == &op; });
    return true;
}
bool change(Op &op, const char *attr, const std::function<Expr(const Expr &)> &f) {
    if (!op.has(attr)) return false;
    Expr e = op.expr(attr), changed = f(e);
    if (changed == e) return false;
    op.set(attr, changed);
    return true;
}
Expr nextRank(const Expr &e) {
    return (e + 1) % Expr::sym("ranks");
}
Expr plusOne(const Expr &e) {
    return e + 1;
}
Expr minusOne(const Expr &e) {
    return e - 1;
}

/// Another declaration of the same kind, if there is one.
Value *other(const Op &op) {
    const Op &plan = *op.operands[0]->def->parent->parent;
    for (auto &d : plan.body().ops)
        if (d->kind == op.operands[0]->def->kind && d->result() != op.operands[0]) return d->result();
    return nullptr;
}

const std::vector<Mutation> &mutations() {
    static const std::vector<Mutation> all{
        {"remove", [](Op &op) { return isSync(op) && remove(op); }},
        {"remove transfer",
         [](Op &op) { return op.kind == OpKind::Task && op.name("kind") == "transfer" && remove(op); }},
        {"remove unpack",
         [](Op &op) { return op.kind == OpKind::Task && op.name("kind") == "unpack" && remove(op); }},
        {"total + 1", [](Op &op) { return change(op, "total", plusOne); }},
        {"total - 1", [](Op &op) { return change(op, "total", minusOne); }},
        {"count - 1", [](Op &op) { return isSync(op) && change(op, "count", minusOne); }},
        {"from + 1", [](Op &op) { return op.kind == OpKind::Wait && change(op, "from", plusOne); }},
        {"next rank",
         [](Op &op) {
             return op.kind == OpKind::Notify && !op.expr("to").isConst() && change(op, "to", nextRank);
         }},
        {"next word", [](Op &op) { return op.kind == OpKind::Notify && change(op, "index", nextRank); }},
        {"next counter", [](Op &op) { return op.kind == OpKind::Arrive && change(op, "index", plusOne); }},
        {"other flag or join",
         [](Op &op) {
             Value *o = isSync(op) ? other(op) : nullptr;
             if (o) op.operands[0] = o;
             return o != nullptr;
         }},
        {"wait after work",
         [](Op &op) { // moved in front of the arrivals
             if (op.kind != OpKind::Wait && op.kind != OpKind::WaitJoin) return false;
             auto &ops = op.parent->ops;
             for (size_t i = 0; i + 1 < ops.size(); ++i)
                 if (ops[i].get() == &op) std::swap(ops[i], ops[i + 1]);
             return isSync(op) && ops.size() > 2 && ops[0].get() != &op && !isSync(*ops[0]);
         }},
        {"level - 1",
         [](Op &op) {
             if (op.kind != OpKind::Task || op.integer("level") < 2) return false;
             op.set("level", op.integer("level") - 1);
             return true;
         }},
        {"counts + 1",
         [](Op &op) {
             if (op.kind != OpKind::Task || op.exprs("counts").empty()) return false;
             auto counts = op.exprs("counts");
             counts.back() = counts.back() + 1;
             op.set("counts", counts);
             return true;
         }},
        {"at next rank", [](Op &op) { return op.kind == OpKind::Store && change(op, "at", nextRank); }},
        {"no at",
         [](Op &op) {
             if (op.kind != OpKind::Store || !op.has("at")) return false;
             op.erase("at");
             return true;
         }},
        {"at where it must not be",
         [](Op &op) {
             if (op.kind != OpKind::Store || op.has("at")) return false;
             op.set("at", Expr::sym("rank"));
             return true;
         }},
        {"no own",
         [](Op &op) {
             if (!op.has("own")) return false;
             op.erase("own");
             return true;
         }},
        {"hi + 1", [](Op &op) { return op.kind == OpKind::RangeOp && change(op, "hi", plusOne); }},
        {"hi - 1", [](Op &op) { return op.kind == OpKind::RangeOp && change(op, "hi", minusOne); }},
        {"lo + 1", [](Op &op) { return op.kind == OpKind::RangeOp && change(op, "lo", plusOne); }},
        {"lo - 1", [](Op &op) { return op.kind == OpKind::RangeOp && change(op, "lo", minusOne); }},
        {"smaller buffer",
         [](Op &op) {
             if (op.kind != OpKind::Buffer) return false;
             auto dims = op.exprs("dims");
             dims.back() = dims.back() - 1;
             op.set("dims", dims);
             return true;
         }},
        {"origin + 1",
         [](Op &op) {
             if (op.kind != OpKind::Buffer) return false;
             auto origin = op.exprs("origin");
             origin.back() = origin.back() + 1;
             op.set("origin", origin);
             return true;
         }},
    };
    return all;
}

Op *nth(Block &b, size_t &n) {
    for (auto &op : b.ops) {
        if (n-- == 0) return op.get();
        for (auto &inner : op->blocks)
            if (Op *found = nth(*inner, n)) return found;
    }
    return nullptr;
}

/// A mutant that the verifier lets pass, and why it may.
struct Equivalent {
    const char *mutation, *operation; // the operation's text starts so
    const char *why;
    const char *plan = ""; // empty: any
};
const std::vector<Equivalent> kEquivalent{
    {"next word", "notify",
     "all words of the flag are awaited together, so it does not matter which is whose"},
    {"next rank", "notify",
     "a later push to the same rank is awaited too, and on each rank it comes behind this one"},
    {"hi - 1", "%k = range",
     "not equivalent, but which elements of an `inout` tensor change is the program's business", "again"},
    {"lo + 1", "%k = range",
     "not equivalent, but which elements of an `inout` tensor change is the program's business", "again"},
};

struct Tally {
    int made = 0, refused = 0, equivalent = 0;
};

Tally mutate(const std::string &planText) {
    Tally t;
    auto whole = parse(planText);
    for (size_t k = 0; k < whole->top.ops.size(); ++k) {
        // One plan at a time.
        Module one;
        one.stage = Stage::Plan;
        ValueMap map;
        one.top.append(clone(*whole->top.ops[k], map));
        bool unread = verify(one).has(Diag::PlanUnread);
        size_t count = 0;
        plan::walk(one.top, [&](const Op &) { ++count; });
        for (size_t site = 0; site < count; ++site)
            for (const Mutation &m : mutations()) {
                Module mutant;
                mutant.stage = Stage::Plan;
                ValueMap again;
                mutant.top.append(clone(*one.top.ops[0], again));
                size_t n = site;
                Op *op = nth(mutant.top, n);
                std::string before = print(*op);
                if (!m.apply(*op)) continue;
                ++t.made;
                Verdict v = verify(mutant);
                if (!v.ok || (v.has(Diag::PlanUnread) && !unread)) { // data arrives that is not used any more
                    ++t.refused;
                    continue;
                }
                bool listed = false;
                for (const Equivalent &e : kEquivalent)
                    listed |= m.name == e.mutation && before.rfind(e.operation, 0) == 0 &&
                              (!*e.plan || one.top.ops[0]->symbol == e.plan);
                t.equivalent += listed;
                CHECK_MESSAGE(listed, "survived in " << one.top.ops[0]->symbol << ": " << m.name << " of\n"
                                                     << before);
            }
    }
    return t;
}

} // namespace

TEST_CASE("mutants of the samples' plans are refused") {
    for (const std::string &name : kSamples) {
        Tally t = mutate(planOf(name));
        MESSAGE(name << ": " << t.made << " mutants, " << t.refused << " refused, " << t.equivalent
                     << " judged equivalent");
        CHECK(t.equivalent <= 1); // one transfer each
    }
}

TEST_CASE("mutants of other plans are refused") {
    for (const std::string &name : kMore) {
        Tally t = mutate(planOf(name));
        MESSAGE(name << ": " << t.made << " mutants, " << t.refused << " refused, " << t.equivalent
                     << " judged equivalent");
    }
}
