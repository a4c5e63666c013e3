// Calls of built-in functions: elementwise ones, `where`, `ceil`, `index`. Reductions and `dot` are in
// reduce.cpp.
//
//     exp(x)                 x bf16: cast to f32, exp
//     where(i >= j, s, 0)    select of the type in which s and 0 meet
//     ceil(M, 128)           Size ceil(M, 128)
//     index(N)               the indices of a whole extent: whole(axis = N), index : i64[N]
#include "sema/lower.h"
#include "syntax/print.h"
#include <map>

namespace tdl::sema {

using ir::OpKind;
using ir::Type;

namespace {

bool isReduction(std::string_view f) {
    return f == "sum" || f == "mean" || f == "argmax" || f == "argmin" || f == "max" || f == "min";
}

bool count(Context &ctx, const ast::Call &c, Loc loc, size_t n) {
    if (c.args.size() == n) return true;
    ctx.report(loc, Diag::ArgumentCount, c.callee.text, fmt::format("{} argument{}", n, n == 1 ? "" : "s"),
               c.args.size());
    return false;
}

Term elementary(Context &ctx, OpKind k, const ast::Call &c, Loc loc) {
    Term a = value(ctx, *c.args[0]);
    if (a.isError()) return a;
    Elem e = elemOf(a);
    if (a.isInt()) e = Elem::F32; // exp(1)
    if (!isFloat(e)) {
        ctx.report(c.args[0]->loc, Diag::WantsFloat, c.callee.text, elemName(e))
            .note(hint(loc), "convert it by `as f32`");
        return Term::error(loc);
    }
    if (ctx.mode != Mode::Body) return notKnown(ctx, loc, fmt::format("`{}(...)`", c.callee.text));
    ir::Value *x = toElem(ctx, a, elemBytes(e) < 4 ? Elem::F32 : e);
    return Term::of(loc, ctx.emit(k, loc, {x}, x->type));
}

Term absolute(Context &ctx, const ast::Call &c, Loc loc) {
    Term a = value(ctx, *c.args[0]);
    if (a.isError()) return a;
    Elem e = elemOf(a);
    if (e == Elem::Bool) {
        ctx.report(c.args[0]->loc, Diag::WantsNumber, "abs")
            .note(hint(loc), "a bool becomes a number only by `as`");
        return Term::error(loc);
    }
    if (a.isSymbolic()) return least(ctx, loc, a, unary(ctx, loc, ast::UnaryOp::Neg, a), true);
    if (ctx.mode != Mode::Body) return notKnown(ctx, loc, "`abs(...)` of this");
    ir::Value *x = toElem(ctx, a, isFloat(e) && elemBytes(e) < 4 ? Elem::F32 : e);
    return Term::of(loc, ctx.emit(OpKind::Abs, loc, {x}, x->type));
}

Term where(Context &ctx, const ast::Call &c, Loc loc) {
    Term cond = value(ctx, *c.args[0]), a = value(ctx, *c.args[1]), b = value(ctx, *c.args[2]);
    if (!cond.isError() && elemOf(cond) != Elem::Bool) {
        ctx.report(c.args[0]->loc, Diag::WantsBool, "where", elemName(elemOf(cond)));
        cond = Term::error(loc);
    }
    if (cond.isError() || a.isError() || b.isError()) return Term::error(loc);
    auto elem = meet(ctx, loc, "where", a, b, Meet::Choose);
    if (!elem) return Term::error(loc);
    if (ctx.mode != Mode::Body) return notKnown(ctx, loc, "`where(...)`");
    ir::Value *w = toValue(ctx, cond), *x = toElem(ctx, a, *elem), *y = toElem(ctx, b, *elem);
    auto axes = ir::unionAxes(ir::unionAxes(w->type.axes, x->type.axes), y->type.axes);
    return Term::of(loc, ctx.emit(OpKind::Select, loc, {w, x, y}, Type::tile(*elem, axes)));
}

// Of values that a launch does not know: (a / b) and one more where something is left on the side that rounds
// up.
Term ceiling(Context &ctx, const ast::Call &c, Loc loc) {
    using ast::BinaryOp;
    Term a = value(ctx, *c.args[0]), b = value(ctx, *c.args[1]);
    if (a.isError() || b.isError()) return Term::error(loc);
    for (const Term *t : {&a, &b})
        if (!isInt(elemOf(*t))) {
            ctx.report(t->loc, Diag::WantsInteger, "an argument of `ceil`", elemName(elemOf(*t)));
            return Term::error(loc);
        }
    if (a.isSymbolic() && b.isSymbolic()) {
        if (a.isInt() && b.isInt())
            return Term::literal(
                loc, ir::apply(ir::ExprKind::Ceil, std::get<int64_t>(a.number), std::get<int64_t>(b.number)));
        return Term::size(loc, ir::ceilDiv(a.symbol(), b.symbol()), a.weight + b.weight + 1);
    }
    if (ctx.mode != Mode::Body) return notKnown(ctx, loc, "`ceil(...)` of this");
    Term zero = Term::literal(loc, int64_t{0});
    Term rest = binary(ctx, loc, BinaryOp::Mod, a, b);
    Term sameSign = binary(ctx, loc, BinaryOp::Eq, binary(ctx, loc, BinaryOp::Lt, rest, zero),
                           binary(ctx, loc, BinaryOp::Lt, b, zero));
    Term up = binary(ctx, loc, BinaryOp::LogicAnd, binary(ctx, loc, BinaryOp::Ne, rest, zero), sameSign);
    Term quotient = binary(ctx, loc, BinaryOp::Div, a, b);
    if (up.isError() || quotient.isError()) return Term::error(loc);
    return binary(ctx, loc, BinaryOp::Add, quotient,
                  Term::of(loc, ctx.emit(OpKind::Cast, loc, {toValue(ctx, up)},
                                         Type::tile(elemOf(quotient), axesOf(up)))));
}

Term indexOf(Context &ctx, const ast::Call &c, Loc loc) {
    const auto *name = ast::get<ast::NameRef>(*c.args[0]);
    const Term *t = name ? axis(ctx, {name->name, c.args[0]->loc}) : nullptr;
    if (!name) ctx.report(c.args[0]->loc, Diag::NotAxis, print(*c.args[0]), "an expression");
    if (!t) return Term::error(loc);
    Term range = *t;
    range.loc = loc;
    return indices(ctx, range);
}

Term unknown(Context &ctx, const ast::Call &c, Loc loc) {
    for (const auto &arg : c.args) expression(ctx, *arg);           // for what is wrong in there
    if (ctx.functions.contains(c.callee.text)) return ctx.gap(loc); // was reported where it stands
    if (c.callee.text == "scan")
        ctx.report(c.callee.loc, Diag::NotBuilt, "`scan`");
    else
        ctx.report(c.callee.loc, Diag::UnknownFunction, c.callee.text);
    return Term::error(loc);
}

const std::map<std::string_view, OpKind> kElementary{
    {"exp", OpKind::Exp},     {"exp2", OpKind::Exp2}, {"log2", OpKind::Log2}, {"sqrt", OpKind::Sqrt},
    {"rsqrt", OpKind::Rsqrt}, {"erf", OpKind::Erf},   {"tanh", OpKind::Tanh}};

} // namespace

Term call(Context &ctx, const ast::Call &c, Loc loc) {
    const std::string &f = c.callee.text;
    auto unaryFn = kElementary.find(f);
    bool choice = f == "max" || f == "min";
    bool plain = unaryFn != kElementary.end() || f == "abs" || f == "where" || f == "ceil" || f == "index";
    if (!plain && !isReduction(f) && f != "dot") return unknown(ctx, c, loc);
    if (!c.axes.empty()) {
        ctx.report(c.axes[0].loc, Diag::NoAxisList, f);
        return Term::error(loc);
    }
    if (plain && !c.over.empty()) {
        ctx.report(c.over[0].loc, Diag::NoOver, f);
        return Term::error(loc);
    }
    if (!plain && !choice && c.over.empty()) {
        ctx.report(loc, Diag::NeedsOver, f);
        return Term::error(loc);
    }
    bool reduces = !c.over.empty();
    size_t n = f == "where" ? 3 : f == "ceil" || f == "dot" || (choice && !reduces) ? 2 : 1;
    if (!count(ctx, c, loc, n)) return Term::error(loc);
    if (reduces && ctx.mode != Mode::Body) return notKnown(ctx, loc, fmt::format("`{}(...)`", f));
    if (f == "dot") return dot(ctx, c, loc);
    if (reduces) return reduction(ctx, c, loc);
    if (choice) {
        Term a = value(ctx, *c.args[0]), b = value(ctx, *c.args[1]);
        return least(ctx, loc, a, b, f == "max");
    }
    if (f == "abs") return absolute(ctx, c, loc);
    if (f == "where") return where(ctx, c, loc);
    if (f == "ceil") return ceiling(ctx, c, loc);
    if (f == "index")
        return ctx.mode == Mode::Body ? indexOf(ctx, c, loc) : notKnown(ctx, loc, "`index(...)`");
    return elementary(ctx, unaryFn->second, c, loc);
}

} // namespace tdl::sema
