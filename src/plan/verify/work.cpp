// The run of an instance: what a ticket reads and writes. Ranges and integers are followed as far as data does not decide
// them; an access through an index from data is one of the whole dimension, and so is a loop whose bounds are data.
#include "plan/verify/report.h"
#include <algorithm>

namespace tdl::plan {

using namespace ir;

void Machine::work(int n, const std::vector<Instruction> &block, bool maybe) {
    int rank = tickets[static_cast<size_t>(n)].rank;
    for (const Instruction &i : block) {
        if (!ok || budget < 0) return;
        auto set = [&](Value v) { values[static_cast<size_t>(i.out)] = v; };
        auto in = [&](size_t k) { return values[static_cast<size_t>(i.in[k])]; };
        switch (i.op->kind) {
        case OpKind::RangeOp: set({Value::Range, eval(i.a, rank), eval(i.b, rank)}); break;
        case OpKind::Whole: set({Value::Range, 0, eval(i.a, rank)}); break;
        case OpKind::ExprOp: set({Value::Int, eval(i.a, rank), 0}); break;
        case OpKind::Shift:
            set(in(0).kind == Value::Range && in(1).kind == Value::Int
                    ? Value{Value::Range, apply(ExprKind::Add, in(0).lo, in(1).lo),
                            apply(ExprKind::Add, in(0).hi, in(1).lo)}
                    : Value{});
            break;
        case OpKind::Begin:
        case OpKind::End:
            set(in(0).kind == Value::Range
                    ? Value{Value::Int, i.op->kind == OpKind::Begin ? in(0).lo : std::max(in(0).lo, in(0).hi),
                            0}
                    : Value{});
            break;
        case OpKind::Load:
        case OpKind::Store: access(n, i, maybe); break;
        case OpKind::For: loop(n, i, maybe); break;
        default: compute(i); break;
        }
    }
}

// Integers and truth values without axes.
void Machine::compute(const Instruction &i) {
    if (i.out < 0) return;
    Value &out = values[static_cast<size_t>(i.out)];
    out = {};
    const Type &type = i.op->result()->type;
    if (!type.isScalar() || isFloat(type.elem)) return;
    if (i.op->kind == OpKind::Const) {
        if (auto *v = std::get_if<int64_t>(i.op->find("value"))) out = {Value::Int, *v, 0};
        return;
    }
    int64_t v[3] = {};
    if (i.in.empty() || i.in.size() > 3) return;
    for (size_t k = 0; k < i.in.size(); ++k) {
        const Value &x = values[static_cast<size_t>(i.in[k])];
        if (x.kind != Value::Int) return;
        v[k] = x.lo;
    }
    auto binary = [&](ExprKind k) { out = {Value::Int, apply(k, v[0], v[1]), 0}; };
    switch (i.op->kind) {
    case OpKind::Add: return binary(ExprKind::Add);
    case OpKind::Sub: return binary(ExprKind::Sub);
    case OpKind::Mul: return binary(ExprKind::Mul);
    case OpKind::Div: return binary(ExprKind::Div);
    case OpKind::Rem: return binary(ExprKind::Mod);
    case OpKind::Min: return binary(ExprKind::Min);
    case OpKind::Max: return binary(ExprKind::Max);
    case OpKind::And: return binary(ExprKind::And);
    case OpKind::Or: return binary(ExprKind::Or);
    case OpKind::Eq: return binary(ExprKind::Eq);
    case OpKind::Ne: return binary(ExprKind::Ne);
    case OpKind::Lt: return binary(ExprKind::Lt);
    case OpKind::Le: return binary(ExprKind::Le);
    case OpKind::Gt: return binary(ExprKind::Gt);
    case OpKind::Ge: return binary(ExprKind::Ge);
    case OpKind::Not: out = {Value::Int, !v[0], 0}; return;
    case OpKind::Neg: out = {Value::Int, apply(ExprKind::Sub, 0, v[0]), 0}; return;
    case OpKind::Select: out = {Value::Int, v[0] ? v[1] : v[2], 0}; return;
    case OpKind::Cast: out = {Value::Int, v[0], 0}; return;
    default: return;
    }
}

void Machine::loop(int n, const Instruction &i, bool maybe) {
    int rank = tickets[static_cast<size_t>(n)].rank;
    const LoopSpec &spec = i.op->loop();
    int64_t extent = eval(i.a, rank);
    Span span{0, extent};
    if (spec.dist) span = blockOf(extent, rank);
    size_t own = 0;
    bool fromData = i.op->has("slice");
    if (i.in.size() < (fromData ? 2u : 0u) + (i.op->has("within") ? 1u : 0u)) return;
    Value bounds[2];
    if (fromData)
        own = 2, bounds[0] = values[static_cast<size_t>(i.in[0])],
        bounds[1] = values[static_cast<size_t>(i.in[1])];
    if (i.op->has("within")) {
        const Value &r = values[static_cast<size_t>(i.in[own])];
        if (r.kind == Value::Range)
            span = {r.lo, r.hi};
        else
            maybe = true;
    }
    if (spec.sliced) span = {std::max(span.first, eval(i.b, rank)), std::min(span.second, eval(i.c, rank))};
    if (fromData && bounds[0].kind == Value::Int) span.first = std::max(span.first, bounds[0].lo);
    if (fromData && bounds[1].kind == Value::Int) span.second = std::min(span.second, bounds[1].lo);
    if (fromData && (bounds[0].kind != Value::Int || bounds[1].kind != Value::Int)) maybe = true;
    int64_t step = spec.isRange ? std::max<int64_t>(1, eval(i.by, rank)) : 1;
    for (int64_t at = span.first; at < span.second && ok && spend(1); at += step) {
        if (static_cast<uint64_t>(span.second) - static_cast<uint64_t>(at) < static_cast<uint64_t>(step))
            step = span.second - at;
        values[static_cast<size_t>(i.arg)] =
            spec.isRange ? Value{Value::Range, at, at + step} : Value{Value::Int, at, 0};
        work(n, i.body, maybe);
    }
}

void Machine::access(int n, const Instruction &i, bool maybe) {
    Ticket &t = tickets[static_cast<size_t>(n)];
    const Memory &m = code.memories[static_cast<size_t>(i.memory)];
    bool store = i.op->kind == OpKind::Store;
    int64_t target = store && i.op->has("at") ? eval(i.a, t.rank) : t.rank;
    if (target < 0 || target >= instance.ranks)
        return fail(*i.op, Diag::PlanCount, "buffer", m.op->name(),
                    fmt::format("there is no rank {}", target), where(t.rank));
    Area &area = ranks[static_cast<size_t>(target)].areas[static_cast<size_t>(i.memory)];
    std::vector<Span> box;
    bool empty = false;
    for (size_t d = 0; d < m.extents.size(); ++d) {
        const Value &v = values[static_cast<size_t>(i.in[d + (store ? 1 : 0)])];
        Span held = area.held()[d], s = held;
        if (v.kind == Value::Unknown) maybe = true;
        if (v.kind == Value::Range) s = {v.lo, v.hi};
        if (v.kind == Value::Int) s = {v.lo, apply(ExprKind::Add, v.lo, 1)};
        Span keep = s;
        if (i.op->has("own") && m.dist == static_cast<int>(d)) keep = held;
        if (i.op->has("or"))
            keep = m.tensor           ? Span{0, eval(m.extents[d], t.rank)}
                   : m.bounds.empty() ? held
                                      : Span{0, eval(m.bounds[d], t.rank)};
        s = {std::max(s.first, keep.first), std::min(s.second, keep.second)};
        empty |= s.first >= s.second;
        box.push_back(s);
    }
    if (!store) values[static_cast<size_t>(i.out)] = {};
    if (empty) return;
    for (size_t d = 0; d < box.size(); ++d) {
        Span held = area.held()[d];
        if (box[d].first < held.first || box[d].second > held.second)
            return fail(*i.op, Diag::PlanOutside, t.task->op->symbol, m.op->name(),
                        box[d].first < held.first ? box[d].first : box[d].second - 1, d, where(t.rank));
    }
    if (store && i.op->has("at") && !mayStore[static_cast<size_t>(target)])
        fail(*i.op, Diag::PlanIsolation, t.task->op->symbol,
             fmt::format("stores to rank {} without waiting for its `done` word", target), where(t.rank));
    int64_t elements = 1;
    for (auto &[lo, hi] : box) elements *= hi - lo; // inside of an area, which is small
    if (!spend(elements)) return;
    if (m.protocol) touched[static_cast<size_t>(target)].insert(n);
    auto conflict = store ? area.write(n, box, t.before) : area.read(n, box, t.before, maybe);
    if (!conflict) return;
    if (conflict->undefined)
        return fail(*i.op, Diag::PlanUndefined, t.task->op->symbol, m.op->name(), where(t.rank));
    fail(*i.op, Diag::PlanRace, t.task->op->symbol, store ? "writes" : "reads", m.op->name(),
         tickets[static_cast<size_t>(conflict->other)].task->op->symbol,
         conflict->otherWrote ? "writes" : "reads", where(t.rank));
}

} // namespace tdl::plan
