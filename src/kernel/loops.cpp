// Ranges become spans with bounds of their length, `for` becomes a counted loop:
//
//     for %a(loop = k in K by 64, ..) { ^(%k: range<k>, ..)    -->  loop %lo, %K, %64, %a { ^(%k_begin: i64, ..)
//                                                                     %k = span %k_begin, min(%k_begin + 64, %K)
#include "kernel/bounds.h"
#include "kernel/lowering.h"
#include <algorithm>

namespace tdl::kernel {
using namespace ir;

// In sizes, `ranks` and `rank` where no constant is found: what memory for tiles is planned with at launch.
std::optional<Expr> TaskLowering::capOf(const Num &lo, const Num &hi) const {
    if (!lo.isExpr() || !hi.isExpr()) return std::nullopt;
    const auto &sizes = kernel.plan.names("sizes");
    auto cap = upperBound(hi.expr, lo.expr, [&](std::string_view s) {
        return s == "rank" || s == "ranks" || std::find(sizes.begin(), sizes.end(), s) != sizes.end();
    });
    if (cap && cap->isConst()) return max(*cap, Expr(0));
    return cap;
}

void TaskLowering::define(const Value *range, Num lo, Num hi, std::optional<Expr> cap, Loc loc) {
    const std::string &axis = range->type.axes[0];
    Value *l = emit.value(lo), *h = emit.value(hi);
    Value *span = emit.build.make(OpKind::Span, loc, {l, h}, range->type, {{"axis", Name{axis}}},
                                  range->hint.empty() ? axis : range->hint);
    if (cap) span->def->set("cap", *cap);
    ranges.emplace(range, RangeOf{span, lo, hi, 0});
}

void TaskLowering::range(const Op &op) {
    if (op.kind == OpKind::Shift) {
        RangeOf r = ranges.at(op.operands[0]);
        r.shift = emit.add(r.shift, number(op.operands[1]));
        ranges.emplace(op.result(), r);
        return;
    }
    bool whole = op.kind == OpKind::Whole;
    Num lo = whole ? Expr(0) : kernel.fold(op.expr("lo")), hi = kernel.fold(op.expr(whole ? "extent" : "hi"));
    define(op.result(), lo, hi, capOf(lo, hi), locOf(op));
}

// An extent, this rank's block of one, or the indices of a range; a slice of it is intersected with it.
std::pair<Num, Num> TaskLowering::loopBounds(const Op &op) {
    const LoopSpec &l = op.loop();
    Expr extent = kernel.fold(l.extent), rank = Expr::sym("rank");
    Num lo = l.dist ? blockBegin(extent, rank) : Expr(0), hi = l.dist ? blockEnd(extent, rank) : extent;
    size_t next = op.has("slice") ? 2 : 0;
    if (op.has("within")) {
        const RangeOf &r = ranges.at(op.operands[next]);
        lo = r.begin(emit);
        hi = r.end(emit);
    }
    auto cut = [&](const Num &from, const Num &to) {
        lo = emit.max(lo, from);
        hi = emit.min(hi, to);
    };
    if (op.has("slice"))
        cut(number(op.operands[0]), number(op.operands[1]));
    else if (l.sliced)
        cut(kernel.fold(l.lo), kernel.fold(l.hi));
    return {lo, hi};
}

void TaskLowering::loop(const Op &op) {
    const LoopSpec &spec = op.loop();
    auto [lo, hi] = loopBounds(op);
    Expr step = spec.isRange ? kernel.fold(spec.by) : Expr(1);
    if (!step.isConst() || step.value() < 1) step = max(Expr(1), step);
    size_t own = (op.has("slice") ? 2u : 0u) + (op.has("within") ? 1u : 0u);
    std::vector<Value *> operands{emit.value(lo), emit.value(hi), emit.value(step)};
    for (size_t i = own; i < op.operands.size(); ++i) operands.push_back(use(op.operands[i]));
    Op *made = emit.build.op(OpKind::Loop, locOf(op), std::move(operands));
    for (auto &r : op.results) values.emplace(r.get(), made->addResult(r->type, r->hint));

    Block &body = made->addBlock();
    const Value *first = op.body().args[0].get();
    std::string name = first->hint.empty() ? spec.name : first->hint;
    Value *counter = body.addArg(Type::scalar(Elem::I64), spec.isRange ? name + "_begin" : name);
    for (size_t i = 1; i < op.body().args.size(); ++i) {
        const Value *a = op.body().args[i].get();
        values.emplace(a, body.addArg(a->type, a->hint));
    }
    Emitter::Nested nested(emit, body);
    if (spec.isRange) {
        // At most a step and at most all of it: the one known now, both if both are.
        std::optional<Expr> all = capOf(lo, hi), cap = capOf(0, step);
        if (!cap || (all && all->isConst())) cap = cap && cap->isConst() ? min(*cap, *all) : all;
        define(first, counter, emit.min(emit.add(counter, step), hi), cap, {});
    } else {
        values.emplace(first, counter);
    }
    block(op.body());
}

} // namespace tdl::kernel
