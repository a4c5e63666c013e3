#include "plan/derive/box.h"
#include "plan/plan.h"

namespace tdl::plan {

using ir::Expr;
using ir::LoopSpec;
using ir::Op;
using ir::OpKind;
using ir::Value;

Interval wholeOf(const Expr &extent) {
    return {0, extent, extent};
}
Interval blockOfRank(const Expr &extent) {
    return {ir::blockBegin(extent, thisRank()), ir::blockEnd(extent, thisRank()), ir::blockOf(extent)};
}

namespace {
// Leaves out what the other bound says already: begins are not negative, and the end of a block lies in its extent.
Expr later(const Expr &a, const Expr &b) {
    return a.isConst(0) ? b : b.isConst(0) ? a : max(a, b);
}
bool isWithin(const Expr &a, const Expr &b) {
    return a == b || (a.kind() == ir::ExprKind::Min && a.lhs() == b);
}
Expr sooner(const Expr &a, const Expr &b) {
    return isWithin(a, b) ? a : isWithin(b, a) ? b : min(a, b);
}
} // namespace

Interval intersect(const Interval &a, const Interval &b) {
    Expr length = a.length == b.length || b.length.isConst(1) ? b.length
                  : a.length.isConst(1)                       ? a.length
                  : b.length == ir::blockOf(a.length)         ? b.length
                  : a.length == ir::blockOf(b.length)         ? a.length
                                                              : min(a.length, b.length);
    return {later(a.lo, b.lo), sooner(a.hi, b.hi), length};
}

Interval onRank(const Interval &v, const Expr &r) {
    return {onRank(v.lo, r), onRank(v.hi, r), v.length};
}
Box onRank(const Box &b, const Expr &r) {
    Box out;
    for (const Interval &v : b) out.push_back(onRank(v, r));
    return out;
}

Bindings bindingsOf(const Op &stage) {
    Bindings out;
    const auto &loops = stage.loops();
    for (size_t i = 0; i < loops.size(); ++i)
        out[stage.body().args[i].get()] = {&loops[i], nullptr, false, true};
    walk(stage.body(), [&](const Op &op) {
        if (op.kind != OpKind::For) return;
        Binding b{&op.loop(), nullptr, op.has("slice"), false};
        if (op.has("within")) b.within = op.operands[op.has("slice") ? 2 : 0];
        out[op.body().args[0].get()] = b;
    });
    return out;
}

Interval intervalOf(const LoopSpec &s, bool restricted) {
    Interval v = s.dist || restricted ? blockOfRank(s.extent) : wholeOf(s.extent);
    if (!s.sliced) return v;
    return {max(v.lo, s.lo), min(v.hi, s.hi), min(v.length, max(Expr(0), s.hi - s.lo))};
}

namespace {
// An integer known at launch.
std::optional<Expr> launchValue(const Value *v) {
    if (!v->def || !v->type.isScalar()) return std::nullopt;
    if (v->def->kind == OpKind::ExprOp) return v->def->expr("value");
    if (v->def->kind == OpKind::Const)
        if (auto *i = std::get_if<int64_t>(v->def->find("value"))) return Expr(*i);
    return std::nullopt;
}

std::optional<Reach> moved(std::optional<Reach> r, const Expr &n) {
    if (!r) return r;
    r->down = r->down + n;
    r->up = r->up + n;
    if (r->shifted()) r->own = false;
    return r;
}
} // namespace

std::optional<Reach> Reaches::of(const Value *v) const {
    if (auto it = bindings.find(v); it != bindings.end()) {
        const Binding &b = it->second;
        Reach r;
        if (b.within) {
            auto outer = of(b.within);
            if (!outer) return std::nullopt;
            r = *outer;
        } else {
            bool cut = v == restricted_;
            r.base = intervalOf(*b.spec, cut);
            r.extent = b.spec->extent;
            r.own = b.spec->dist || cut;
        }
        // A loop over data's bounds, or over a slice of a range, takes some of it.
        if (b.fromData || (b.within && b.spec->sliced)) r.exact = false;
        r.loops.push_back(v);
        return r;
    }
    if (!v->def) return std::nullopt;
    if (auto e = launchValue(v)) return Reach{{*e, *e + 1, 1}, 0, 0, std::nullopt, false, true, {}};
    switch (v->def->kind) {
    case OpKind::Whole: {
        const Expr &extent = v->def->expr("extent");
        return Reach{wholeOf(extent), 0, 0, extent, false, true, {}};
    }
    case OpKind::Shift:
    case OpKind::Add:
    case OpKind::Sub: {
        const Value *a = v->def->operands[0], *b = v->def->operands[1];
        if (!v->type.isRange() && !v->type.isScalar()) return std::nullopt;
        if (auto n = launchValue(b)) return moved(of(a), v->def->kind == OpKind::Sub ? Expr(0) - *n : *n);
        if (auto n = launchValue(a); n && v->def->kind == OpKind::Add) return moved(of(b), *n);
        return std::nullopt;
    }
    default: return std::nullopt;
    }
}

Interval clipped(const std::optional<Reach> &r, const Expr &extent) {
    if (!r) return wholeOf(extent);
    if (!r->shifted() && r->extent && *r->extent == extent) return r->base;
    Expr length = r->base.length + (r->up - r->down);
    return {later(0, max(Expr(0), r->base.lo + r->down)), min(extent, r->base.hi + r->up),
            length.isConst(1) ? length : min(extent, length)};
}

std::optional<Reach> hull(const std::optional<Reach> &a, const std::optional<Reach> &b) {
    if (!a || !b) return std::nullopt;
    if (!(a->base.lo == b->base.lo && a->base.hi == b->base.hi)) return std::nullopt;
    Reach r = *a;
    r.down = min(a->down, b->down);
    r.up = max(a->up, b->up);
    r.own = a->own && b->own;
    r.exact = false;
    return r;
}

} // namespace tdl::plan
