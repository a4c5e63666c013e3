#include "plant.h"
#include <algorithm>
#include <functional>
#include <limits>

namespace tdl::fuzz {
namespace {

using namespace ir;

constexpr const char *kNames[] = {"none", "chunk", "peer", "tail", "identity", "init", "wait", "outside", "order"};

void each(Block &b, const std::function<void(Op &)> &f) {
    for (size_t n = 0; n < b.ops.size(); ++n) {
        Op *op = b.ops[n].get();
        for (auto &inner : op->blocks) each(*inner, f);
        f(*op);
    }
}

/// A constant like operand `v`, in front of `op`; a tile of it where `v` is one.
Value *before(Op &op, Value *v, double number) {
    auto &ops = op.parent->ops;
    auto insert = [&](std::unique_ptr<Op> o) {
        o->parent = op.parent;
        auto at = std::find_if(ops.begin(), ops.end(), [&](auto &x) { return x.get() == &op; });
        return ops.insert(at, std::move(o))->get();
    };
    auto constant = std::make_unique<Op>(OpKind::Const, op.loc);
    constant->set("value", isFloat(v->type.elem) ? Attr(number) : Attr(static_cast<int64_t>(number)));
    constant->addResult(Type::scalar(v->type.elem));
    Value *scalar = insert(std::move(constant))->result();
    if (v->type.isScalar()) return scalar;
    // 0 * v has the axes, whatever they are.
    auto product = std::make_unique<Op>(OpKind::Select, op.loc);
    auto compare = std::make_unique<Op>(OpKind::Eq, op.loc);
    compare->operands = {v, v};
    compare->addResult(Type::tile(Elem::Bool, v->type.axes));
    Value *equal = insert(std::move(compare))->result();
    product->operands = {equal, scalar, scalar};
    product->addResult(v->type);
    return insert(std::move(product))->result();
}

size_t firstCarried(const Op &loop) { return (loop.has("slice") ? 2u : 0u) + (loop.has("within") ? 1u : 0u); }

bool inTask(Plant p, Op &task) {
    bool any = false;
    const std::string kind = task.name("kind");
    auto change = [&](auto &&f) {
        f();
        any = true;
    };
    if (p == Plant::Wait && kind != "transfer") {
        auto &ops = task.body().ops;
        any = std::erase_if(ops, [](auto &op) { return op->kind == OpKind::Wait && op->operands[0]->def->name("kind") == "data"; }) > 0;
    }
    each(task.body(), [&](Op &op) {
        switch (p) {
        case Plant::Chunk:
            if (op.kind == OpKind::RangeOp && kind == "transfer" && op.expr("hi").kind() == ExprKind::Min)
                change([&] { op.set("hi", min(op.expr("hi").lhs(), op.expr("hi").rhs() - 1)); });
            break;
        case Plant::Peer:
            if (op.kind == OpKind::Store && op.has("at")) change([&] { op.set("at", (op.expr("at") + 1) % Expr::sym("ranks")); });
            break;
        case Plant::Tail:
            if (op.kind == OpKind::RangeOp && kind == "compute" && op.expr("hi").kind() == ExprKind::Min) change([&] { op.set("hi", op.expr("hi").rhs()); });
            break;
        case Plant::Identity:
            if (op.kind == OpKind::For && kind == "combine" && op.loop().extent.isSym("ranks"))
                for (size_t n = 0; n < op.results.size(); ++n) {
                    const Op *last = op.body().ops.back()->operands[n]->def;
                    Value *&init = op.operands[firstCarried(op) + n];
                    if (last && (last->kind == OpKind::Max || last->kind == OpKind::Min)) change([&] { init = before(op, init, 0); });
                }
            break;
        case Plant::Init:
            if (op.kind == OpKind::For && op.has("order") && op.name("order") == "accumulate")
                for (size_t n = 0; n < op.results.size(); ++n)
                    change([&] {
                        Value *&init = op.operands[firstCarried(op) + n];
                        init = before(op, init, 0);
                    });
            break;
        case Plant::Outside:
            if (op.kind == OpKind::Load && op.has("or")) change([&] { op.operands.back() = before(op, op.operands.back(), 0); });
            break;
        case Plant::Order:
            if (op.kind == OpKind::For && kind == "compute" && op.has("order") && op.name("order") == "recurrence" && !op.has("slice") && !op.has("within") && !op.loop().dist && !op.loop().sliced)
                change([&] {
                    LoopSpec l = op.loop();
                    l.sliced = true;
                    l.lo = 1;
                    l.hi = l.extent;
                    op.set("loop", l);
                });
            break;
        default: break;
        }
    });
    return any;
}

} // namespace

const char *plantName(Plant p) { return kNames[static_cast<int>(p)]; }

std::optional<Plant> findPlant(const std::string &name) {
    for (int n = 0; n < static_cast<int>(Plant::Count); ++n)
        if (name == kNames[n]) return static_cast<Plant>(n);
    return std::nullopt;
}

bool plantBug(Plant p, Module &plan) {
    bool any = false;
    if (p == Plant::None) return false;
    for (auto &op : plan.top.ops)
        for (auto &task : op->body().ops)
            if (task->kind == OpKind::Task) any |= inTask(p, *task);
    return any;
}

} // namespace tdl::fuzz
