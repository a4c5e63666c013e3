// Types of values: which one two operands meet in, what becomes what without `as`, and the casts that follow.
//
//     i32 + i64      i64                 bf16 + bf16        f32: arithmetic of narrow floats is done there
//     f32 * 2        f32, 2 is 2.0       max(bf16, bf16)    bf16: nothing is computed
//     i32 + f32      an error            x: f32 = bf16      widens; the other way it would take `as`
#include "support/convert.h"
#include "sema/lower.h"
#include <cmath>

namespace tdl::sema {

using ir::OpKind;
using ir::Type;

Elem elemOf(const Term &t) {
    if (t.is(TermKind::Value)) return t.value->type.elem;
    if (t.condition) return Elem::Bool;
    if (!t.is(TermKind::Literal)) return Elem::I64;
    return std::visit(
        [](auto n) {
            if constexpr (std::is_same_v<decltype(n), bool>)
                return Elem::Bool;
            else if constexpr (std::is_same_v<decltype(n), int64_t>)
                return Elem::I64;
            else
                return Elem::F32;
        },
        t.number);
}

std::vector<std::string> axesOf(const Term &t) {
    return t.is(TermKind::Value) ? t.value->type.axes : std::vector<std::string>{};
}

namespace {

Elem widerInt(Elem a, Elem b) {
    return elemBytes(a) >= elemBytes(b) ? a : b;
}

Elem widerFloat(Elem a, Elem b) {
    if (a == b) return a;
    return elemBytes(a) == 8 || elemBytes(b) == 8 ? Elem::F64 : Elem::F32;
}

/// What a literal becomes beside an operand of type `other`; its own type if that is no choice.
Elem beside(const Term &literal, Elem other) {
    Elem own = elemOf(literal);
    if (own == Elem::I64 && other != Elem::Bool) return other;
    return isFloat(own) && isFloat(other) ? other : own;
}

} // namespace

std::optional<Elem> meet(Context &ctx, Loc loc, std::string_view op, const Term &a, const Term &b, Meet how) {
    Elem x = elemOf(a), y = elemOf(b);
    bool left = a.is(TermKind::Literal), right = b.is(TermKind::Literal);
    if (left && right) { // of two literals a float decides
        if (isFloat(x) && isInt(y)) y = x;
        if (isFloat(y) && isInt(x)) x = y;
    } else if (left) {
        x = beside(a, y);
    } else if (right) {
        y = beside(b, x);
    }
    if (x == Elem::Bool || y == Elem::Bool) {
        bool allowed = how == Meet::Choose || op == "==" || op == "!=";
        if (x == y && allowed) return x;
        ctx.report(loc, Diag::WantsNumber, op).note(hint(loc), "a bool becomes a number only by `as`");
        return std::nullopt;
    }
    if (isInt(x) != isInt(y)) {
        ctx.report(loc, Diag::MixedTypes, op, elemName(x), elemName(y))
            .note(hint(loc), "convert one of them by `as`");
        return std::nullopt;
    }
    Elem e = isInt(x) ? widerInt(x, y) : widerFloat(x, y);
    if (how != Meet::Choose && isFloat(e) && elemBytes(e) < 4) e = Elem::F32;
    if ((left && !literalFits(ctx, a, e)) || (right && !literalFits(ctx, b, e))) return std::nullopt;
    return e;
}

bool literalFits(Context &ctx, const Term &t, Elem e) {
    if (!t.isInt() || !isInt(e)) return true;
    int64_t v = std::get<int64_t>(t.number);
    if (wrapTo(e, v) == v) return true;
    ctx.report(t.loc, Diag::LiteralRange, v, elemName(e));
    return false;
}

ir::Value *toElem(Context &ctx, const Term &t, Elem e) {
    if (t.is(TermKind::Literal)) {
        ir::Attr number = std::visit(
            [&](auto n) -> ir::Attr {
                if (isFloat(e)) {
                    auto d = static_cast<double>(n);
                    return elemBytes(e) < 4 ? roundTo(e, d) : d;
                }
                if constexpr (std::is_same_v<decltype(n), double>)
                    return intFromFloat(e, n);
                else
                    return wrapTo(e, static_cast<int64_t>(n));
            },
            t.number);
        return ctx.emit(OpKind::Const, t.loc, {}, Type::scalar(e), {{"value", number}});
    }
    ir::Value *v = t.value;
    if (t.is(TermKind::Size)) {
        ir::Builder b(*ctx.block);
        v = b.expr(t.loc, t.expr);
    }
    if (v->type.elem == e) return v;
    return ctx.emit(OpKind::Cast, t.loc, {v}, Type::tile(e, v->type.axes));
}

ir::Value *toValue(Context &ctx, const Term &t) {
    return toElem(ctx, t, elemOf(t));
}

bool widens(const Term &t, Elem to) {
    Elem from = elemOf(t);
    if (from == to) return true;
    if (t.is(TermKind::Literal)) return beside(t, to) == to;
    if (isInt(from) && isInt(to)) return elemBytes(from) < elemBytes(to);
    return isFloat(from) && isFloat(to) && elemBytes(from) < elemBytes(to);
}

ir::Value *fitTile(Context &ctx, const Term &t, const ast::Name &name, const Type &type) {
    if (!widens(t, type.elem)) {
        auto said = ctx.report(t.loc, Diag::Narrowing, name.text, elemName(type.elem), elemName(elemOf(t)));
        if (Symbol *s = ctx.scopes.peek(name.text); s && s->loc.valid() && s->loc != name.loc)
            said.note(s->loc, fmt::format("`{}` gets its type here", name.text));
        return nullptr;
    }
    if (!literalFits(ctx, t, type.elem)) return nullptr;
    for (const std::string &a : axesOf(t))
        if (!type.hasAxis(a)) {
            auto said = ctx.report(t.loc, Diag::AxisDropped, ctx.axisSource(a), name.text);
            if (Symbol *s = ctx.scopes.peek(name.text); s && s->loc.valid() && s->loc != name.loc)
                said.note(s->loc, fmt::format("`{}` gets its axes here", name.text));
            return nullptr;
        }
    ir::Value *v = toElem(ctx, t, type.elem);
    if (v->type.axes.size() == type.axes.size()) return v;
    std::vector<ir::Value *> operands{v};
    for (const std::string &a : type.axes) operands.push_back(ctx.axes.at(a).range);
    return ctx.emit(OpKind::Broadcast, name.loc, operands, type);
}

} // namespace tdl::sema
