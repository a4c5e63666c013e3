// Reductions over ranks where they are combined: the parts of all ranks lie in one buffer, and are taken in rank order, so
// that every rank that combines them gets the same bits.
//
//     %r = reduce_ranks %v(kind = sum) : f32[i]          v: bf16[i]
// -->
//     %r = for %zero(loop = source in ranks, order = recurrence) : f32[i] {
//       ^(%source: i64, %acc: f32[i])
//       %0 = load %v_parts[%source, %i] : bf16[i]
//       %1 = cast %0 : f32[i]
//       %2 = add %acc, %1 : f32[i]
//       yield %2
//     }
#include "plan/derive/compute.h"
#include <cmath>

namespace tdl::plan {

using namespace ir;

namespace {

/// What combining nothing gives.
Attr identityOf(const std::string &kind, Elem e) {
    bool extreme = kind == "max" || kind == "min", least = kind == "max";
    if (isFloat(e)) return !extreme ? 0.0 : least ? -HUGE_VAL : HUGE_VAL;
    if (!extreme) return int64_t{0};
    if (elemClass(e) == ElemClass::Bool) return int64_t{least ? 0 : 1};
    auto most = static_cast<int64_t>(~uint64_t{0} >> (65 - 8 * elemBytes(e)));
    return least ? -most - 1 : most;
}

/// Builds one turn of the loop.
struct Turn {
    Builder b;
    Loc loc;
    Value *make(OpKind k, std::vector<Value *> in, Type t) {
        return b.make(k, loc, std::move(in), std::move(t));
    }
    Value *as(Value *v, Elem e) {
        return v->type.elem == e ? v : make(OpKind::Cast, {v}, Type::tile(e, v->type.axes));
    }

    // Comparisons of narrow floats are in f32.
    static Elem compared(Elem e) { return isFloat(e) ? accumulatorOf(e) : e; }

    /// Is `x` what argmax (argmin) takes instead of `best` at rank `at`? The first always, then what is greater (less), and
    /// the first NaN.
    Value *takes(bool most, Value *x, Value *best, Value *at) {
        Type yes = Type::tile(Elem::Bool, x->type.axes);
        Value *zero = b.integer(loc, 0);
        Value *first = make(OpKind::Lt, {at, zero}, yes);
        Value *better = make(most ? OpKind::Gt : OpKind::Lt, {x, best}, yes);
        if (isFloat(x->type.elem)) {
            Value *isNaN = make(OpKind::Ne, {x, x}, yes), *wasNumber = make(OpKind::Eq, {best, best}, yes);
            better = make(OpKind::Or, {better, make(OpKind::And, {isNaN, wasNumber}, yes)}, yes);
        }
        return make(OpKind::Or, {first, better}, yes);
    }
};

} // namespace

void PhaseTask::combine(const Op &reduce, const Slot &parts) {
    const Loc &loc = reduce.loc;
    const Value &part = *reduce.operands[0];
    const Type &type = reduce.result()->type;
    const std::string &kind = reduce.name("kind");
    bool position = kind == "argmax" || kind == "argmin";
    std::vector<Value *> idx = indices(parts, loc);
    // A constant along all axes of the result.
    auto start = [&](Elem e, Attr value) {
        std::vector<Value *> in{
            out->make(OpKind::Const, loc, {}, Type::scalar(e), {{"value", std::move(value)}})};
        for (const std::string &axis : type.axes) in.push_back(rangeOf(axis, loc));
        return type.axes.empty() ? in[0]
                                 : out->make(OpKind::Broadcast, loc, std::move(in), Type::tile(e, type.axes));
    };

    std::vector<Value *> carried;
    if (position) {
        carried = {start(Elem::I64, int64_t{-1}),
                   start(Turn::compared(part.type.elem),
                         identityOf(kind == "argmax" ? "max" : "min", Turn::compared(part.type.elem)))};
    } else {
        carried = {start(type.elem, identityOf(kind, type.elem))};
    }
    LoopSpec overRanks;
    overRanks.name = w.coord("source", {});
    overRanks.extent = ranks();
    Op *loop = out->op(OpKind::For, loc, carried, {{"loop", overRanks}, {"order", Name{"recurrence"}}});
    Block &b = loop->addBlock();
    Value *source = b.addArg(Type::scalar(Elem::I64), overRanks.name);
    std::vector<Value *> before;
    for (Value *v : carried) before.push_back(b.addArg(v->type, position && before.empty() ? "at" : "acc"));
    Turn turn{Builder(b), loc};
    std::vector<Value *> load{parts.memory, source};
    load.insert(load.end(), idx.begin(), idx.end());
    Value *term = turn.make(OpKind::Load, std::move(load), part.type);
    std::vector<Value *> after;
    if (position) {
        term = turn.as(term, before[1]->type.elem);
        Value *takes = turn.takes(kind == "argmax", term, before[1], before[0]);
        after = {turn.make(OpKind::Select, {takes, source, before[0]}, before[0]->type),
                 turn.make(OpKind::Select, {takes, term, before[1]}, before[1]->type)};
    } else {
        OpKind op = kind == "max" ? OpKind::Max : kind == "min" ? OpKind::Min : OpKind::Add;
        after = {turn.make(op, {before[0], turn.as(term, type.elem)}, type)};
    }
    turn.b.op(OpKind::Yield, loc, after);
    for (Value *v : carried) loop->addResult(v->type, loop->results.empty() ? reduce.result()->hint : "");
    Value *result = loop->result();
    if (kind == "mean") {
        Value *n = out->make(OpKind::Cast, loc, {out->expr(loc, ranks())}, Type::scalar(type.elem));
        result = out->make(OpKind::Div, loc, {result, n}, type, {}, reduce.result()->hint);
    }
    map[reduce.result()] = result;
}

} // namespace tdl::plan
