// Operators. Where both sides are known at launch the result is, too, and no operation is written; else the
// operands are brought to the type in which they meet (convert.cpp) and their axes united.
//
//     M / 2 + 1         Size M / 2 + 1              x[i] * w[j]     mul : f32[i, j]
//     2 * 0.25          Literal 0.5                 i >= j          index %i, index %j, ge : bool[i, j]
#include "sema/lower.h"
#include <cmath>

namespace tdl::sema {

using ast::BinaryOp;
using ir::Expr;
using ir::ExprKind;
using ir::OpKind;
using ir::Type;

namespace {

constexpr int kMostNodes = 1000; // of an integer expression, as a tree

OpKind opKind(BinaryOp op) {
    switch (op) {
    case BinaryOp::LogicOr: return OpKind::Or;
    case BinaryOp::LogicAnd: return OpKind::And;
    case BinaryOp::Eq: return OpKind::Eq;
    case BinaryOp::Ne: return OpKind::Ne;
    case BinaryOp::Lt: return OpKind::Lt;
    case BinaryOp::Le: return OpKind::Le;
    case BinaryOp::Gt: return OpKind::Gt;
    case BinaryOp::Ge: return OpKind::Ge;
    case BinaryOp::Add: return OpKind::Add;
    case BinaryOp::Sub: return OpKind::Sub;
    case BinaryOp::Mul: return OpKind::Mul;
    case BinaryOp::Div: return OpKind::Div;
    case BinaryOp::Mod: return OpKind::Rem;
    }
    return OpKind::Add;
}

ExprKind exprKind(BinaryOp op) {
    switch (op) {
    case BinaryOp::LogicOr: return ExprKind::Or;
    case BinaryOp::LogicAnd: return ExprKind::And;
    case BinaryOp::Eq: return ExprKind::Eq;
    case BinaryOp::Ne: return ExprKind::Ne;
    case BinaryOp::Lt: return ExprKind::Lt;
    case BinaryOp::Le: return ExprKind::Le;
    case BinaryOp::Gt: return ExprKind::Gt;
    case BinaryOp::Ge: return ExprKind::Ge;
    case BinaryOp::Add: return ExprKind::Add;
    case BinaryOp::Sub: return ExprKind::Sub;
    case BinaryOp::Mul: return ExprKind::Mul;
    case BinaryOp::Div: return ExprKind::Div;
    case BinaryOp::Mod: return ExprKind::Mod;
    }
    return ExprKind::Add;
}

bool isLogic(BinaryOp op) {
    return op == BinaryOp::LogicAnd || op == BinaryOp::LogicOr;
}
bool isCompare(BinaryOp op) {
    return ir::isComparison(opKind(op));
}

double fold(BinaryOp op, double a, double b) {
    switch (op) {
    case BinaryOp::Add: return a + b;
    case BinaryOp::Sub: return a - b;
    case BinaryOp::Mul: return a * b;
    case BinaryOp::Div: return a / b;
    case BinaryOp::Eq: return a == b;
    case BinaryOp::Ne: return a != b;
    case BinaryOp::Lt: return a < b;
    case BinaryOp::Le: return a <= b;
    case BinaryOp::Gt: return a > b;
    case BinaryOp::Ge: return a >= b;
    case BinaryOp::Mod:
    case BinaryOp::LogicAnd:
    case BinaryOp::LogicOr: break;
    }
    return 0;
}

double asDouble(const Number &n) {
    return std::visit([](auto v) { return static_cast<double>(v); }, n);
}

Term symbolic(Context &ctx, Loc loc, ExprKind k, const Term &a, const Term &b, bool condition) {
    Term t = Term::size(loc, Expr::make(k, a.symbol(), b.symbol()), a.weight + b.weight + 1);
    t.condition = condition;
    if (t.weight <= kMostNodes) return t;
    ctx.report(loc, Diag::ExprTooLarge, kMostNodes);
    return Term::error(loc);
}

bool isTruth(const Term &t) {
    return t.condition || (t.is(TermKind::Literal) && std::holds_alternative<bool>(t.number));
}

Expr truth(const Term &t) {
    return t.condition ? t.expr : Expr(std::get<bool>(t.number) ? 1 : 0);
}

Term logic(Context &ctx, Loc loc, BinaryOp op, const Term &a, const Term &b) {
    for (const Term *t : {&a, &b})
        if (elemOf(*t) != Elem::Bool) {
            ctx.report(t->loc, Diag::WantsBool, spelling(op), elemName(elemOf(*t)));
            return Term::error(loc);
        }
    if (a.is(TermKind::Literal) && b.is(TermKind::Literal)) {
        bool x = std::get<bool>(a.number), y = std::get<bool>(b.number);
        return Term::literal(loc, op == BinaryOp::LogicAnd ? x && y : x || y);
    }
    if (isTruth(a) && isTruth(b)) {
        Term t = Term::size(loc, Expr::make(exprKind(op), truth(a), truth(b)), a.weight + b.weight + 1);
        t.condition = true;
        return t;
    }
    ir::Value *x = toValue(ctx, a), *y = toValue(ctx, b);
    return Term::of(loc, ctx.emit(opKind(op), loc, {x, y},
                                  Type::tile(Elem::Bool, ir::unionAxes(x->type.axes, y->type.axes))));
}

Bounds product(const Facts &facts, const Bounds &x, const Term &factor) {
    Bounds out;
    Expr n = factor.symbol();
    if (!facts.atLeast(n, 0)) return out;
    for (const Expr &e : x.low) out.low.push_back(e * n);
    for (const Expr &e : x.high) out.high.push_back((e - 1) * n + 1);
    return out;
}

// q, if e is q * n for an n that is not negative.
std::optional<Expr> quotient(const Facts &facts, const Expr &e, const Expr &n) {
    if (e.kind() != ExprKind::Mul || !facts.atLeast(n, 0)) return std::nullopt;
    if (facts.equal(e.rhs(), n)) return e.lhs();
    if (facts.equal(e.lhs(), n)) return e.rhs();
    return std::nullopt;
}

// What is known of an integer scalar that is made of others.
Bounds combine(const Facts &facts, BinaryOp op, const Term &a, const Term &b) {
    Bounds x = boundsOf(a), y = boundsOf(b), out;
    switch (op) {
    case BinaryOp::Add: return x.plus(y);
    case BinaryOp::Sub:
        for (const Expr &e : y.low) out.high.push_back(1 - e);
        for (const Expr &e : y.high) out.low.push_back(1 - e);
        return x.plus(out);
    case BinaryOp::Mul:
        return b.isSymbolic() ? product(facts, x, b) : a.isSymbolic() ? product(facts, y, a) : out;
    case BinaryOp::Div:
    case BinaryOp::Mod: {
        bool up = false;
        for (const Expr &e : x.low) up |= facts.atLeast(e, 0);
        if (!up || !b.isSymbolic()) return out;
        // 0 <= x < q * n says that n is not 0, and that x / n < q; n itself may be any size.
        bool counted = false;
        for (const Expr &e : x.high)
            if (auto q = quotient(facts, e, b.symbol())) {
                counted = true;
                if (op == BinaryOp::Div) out.high.push_back(*q);
            }
        bool positive = facts.atLeast(b.symbol(), 1);
        if (!positive && !counted) return out;
        out.low.push_back(0);
        if (op == BinaryOp::Mod)
            out.high.push_back(b.symbol());
        else if (positive)
            for (const Expr &e : x.high) out.high.push_back(ceilDiv(e, b.symbol()));
        return out;
    }
    default: return out;
    }
}

} // namespace

Term binary(Context &ctx, Loc loc, BinaryOp op, Term a, Term b) {
    if (a.isError() || b.isError()) return Term::error(loc);
    if (isLogic(op)) return logic(ctx, loc, op, a, b);
    if (a.isInt() && b.isInt()) {
        int64_t v = ir::apply(exprKind(op), std::get<int64_t>(a.number), std::get<int64_t>(b.number));
        return isCompare(op) ? Term::literal(loc, v != 0) : Term::literal(loc, v);
    }
    if (a.isSymbolic() && b.isSymbolic() && !(isCompare(op) && ctx.mode == Mode::Body))
        return symbolic(ctx, loc, exprKind(op), a, b, isCompare(op));
    auto elem = meet(ctx, loc, spelling(op), a, b, isCompare(op) ? Meet::Compare : Meet::Arithmetic);
    if (!elem) return Term::error(loc);
    if (op == BinaryOp::Mod && isFloat(*elem)) {
        ctx.report(loc, Diag::WantsInteger, "an operand of `%`", elemName(*elem));
        return Term::error(loc);
    }
    if (a.is(TermKind::Literal) && b.is(TermKind::Literal)) {
        double v = fold(op, asDouble(a.number), asDouble(b.number));
        return isCompare(op) ? Term::literal(loc, v != 0) : Term::literal(loc, v);
    }
    if (ctx.mode != Mode::Body) return notKnown(ctx, loc, fmt::format("what `{}` gives here", spelling(op)));
    ir::Value *x = toElem(ctx, a, *elem), *y = toElem(ctx, b, *elem);
    Type type = Type::tile(isCompare(op) ? Elem::Bool : *elem, ir::unionAxes(x->type.axes, y->type.axes));
    Term t = Term::of(loc, ctx.emit(opKind(op), loc, {x, y}, type));
    if (type == Type::scalar(Elem::I64)) t.bounds = combine(ctx.facts, op, a, b);
    return t;
}

Term least(Context &ctx, Loc loc, Term a, Term b, bool greatest) {
    if (a.isError() || b.isError()) return Term::error(loc);
    if (a.isSymbolic() && b.isSymbolic()) {
        if (!a.isInt() || !b.isInt())
            return symbolic(ctx, loc, greatest ? ExprKind::Max : ExprKind::Min, a, b, false);
        int64_t x = std::get<int64_t>(a.number), y = std::get<int64_t>(b.number);
        return Term::literal(loc, greatest ? std::max(x, y) : std::min(x, y));
    }
    std::string_view name = greatest ? "max" : "min";
    auto elem = meet(ctx, loc, name, a, b, Meet::Choose);
    if (!elem) return Term::error(loc);
    if (*elem == Elem::Bool) {
        ctx.report(loc, Diag::WantsNumber, name)
            .note(hint(loc), "of bools, `&&` is the least and `||` the greatest");
        return Term::error(loc);
    }
    if (ctx.mode != Mode::Body) return notKnown(ctx, loc, fmt::format("`{}(...)` of these", name));
    ir::Value *x = toElem(ctx, a, *elem), *y = toElem(ctx, b, *elem);
    Type type = Type::tile(*elem, ir::unionAxes(x->type.axes, y->type.axes));
    Term t = Term::of(loc, ctx.emit(greatest ? OpKind::Max : OpKind::Min, loc, {x, y}, type));
    if (type != Type::scalar(Elem::I64)) return t;
    for (const Term *side : {&a, &b}) { // at least (at most) either of them
        Bounds known = boundsOf(*side);
        auto &from = greatest ? known.low : known.high;
        auto &to = greatest ? t.bounds.low : t.bounds.high;
        to.insert(to.end(), from.begin(), from.end());
    }
    // On the other side, what holds for both.
    Bounds ofA = boundsOf(a), ofB = boundsOf(b);
    auto &rest = greatest ? t.bounds.high : t.bounds.low;
    for (const Expr &e : greatest ? ofA.high : ofA.low)
        for (const Expr &f : greatest ? ofB.high : ofB.low) {
            if (ctx.facts.atLeast(e, f))
                rest.push_back(greatest ? e : f);
            else if (ctx.facts.atLeast(f, e))
                rest.push_back(greatest ? f : e);
        }
    return t;
}

Term unary(Context &ctx, Loc loc, ast::UnaryOp op, Term a) {
    if (a.isError()) return a;
    Elem elem = elemOf(a);
    if (op == ast::UnaryOp::Not) {
        if (elem != Elem::Bool) {
            ctx.report(loc, Diag::WantsBool, spelling(op), elemName(elem));
            return Term::error(loc);
        }
        if (a.is(TermKind::Literal)) return Term::literal(loc, !std::get<bool>(a.number));
        if (a.condition) {
            a.expr = Expr::make(ExprKind::Not, a.expr, 0);
            a.loc = loc;
            return a;
        }
        return Term::of(loc, ctx.emit(OpKind::Not, loc, {a.value}, a.value->type));
    }
    if (elem == Elem::Bool) {
        ctx.report(loc, Diag::WantsNumber, spelling(op))
            .note(hint(loc), "a bool becomes a number only by `as`");
        return Term::error(loc);
    }
    if (a.isInt()) return Term::literal(loc, ir::apply(ExprKind::Sub, 0, std::get<int64_t>(a.number)));
    if (a.is(TermKind::Literal)) return Term::literal(loc, -std::get<double>(a.number));
    if (a.is(TermKind::Size))
        return symbolic(ctx, loc, ExprKind::Sub, Term::literal(loc, int64_t{0}), a, false);
    if (isFloat(elem) && elemBytes(elem) < 4) elem = Elem::F32;
    ir::Value *x = toElem(ctx, a, elem);
    return Term::of(loc, ctx.emit(OpKind::Neg, loc, {x}, x->type));
}

} // namespace tdl::sema
