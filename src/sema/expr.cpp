// Expressions: what each form of the syntax stands for. Operators are in arithmetic.cpp, calls in call.cpp
// and reduce.cpp, indices in access.cpp.
//
//     M + 1         Size M + 1, no operation           i (a range)    as a value: %0 = index %i : i64[i]
//     x * 0.5       mul %x, const 0.5                  i.end          %0 = end %i : i64
#include "sema/lower.h"
#include "syntax/print.h"

namespace tdl::sema {

using ir::OpKind;
using ir::Type;

Term notKnown(Context &ctx, Loc loc, const std::string &what) {
    switch (ctx.mode) {
    case Mode::Body: break;
    case Mode::Header:
        ctx.report(loc, Diag::NotBuilt, "a header loop whose bounds depend on data or other loops");
        break;
    case Mode::Constant:
        ctx.report(loc, Diag::NotKnown, fmt::format("{} consists of numbers and constants", ctx.purpose),
                   what);
        break;
    case Mode::Extent:
    case Mode::By:
        ctx.report(loc, Diag::NotKnown,
                   fmt::format("{} consists of sizes, constants and `ranks`", ctx.purpose), what);
        break;
    }
    return Term::error(loc);
}

namespace {

std::string named(const Symbol &s) {
    return fmt::format("`{}`, {},", s.name, describe(s.kind));
}

Term scalarParameter(Context &ctx, const Symbol &s, Loc loc) {
    if (ctx.mode != Mode::Body) return notKnown(ctx, loc, named(s));
    Term t = s.term;
    t.loc = loc;
    return t.is(TermKind::Literal) ? Term::of(loc, toElem(ctx, t, s.elem)) : t; // a literal: fixed by -D
}

Term name(Context &ctx, const std::string &text, Loc loc) {
    if (text == "ranks") return Term::size(loc, ir::Expr::sym("ranks"));
    if (text == "rank") {
        ctx.report(loc, Diag::NotBuilt, "`rank` as a value");
        return Term::error(loc);
    }
    Symbol *s = ctx.scopes.find(text);
    if (!s) {
        ctx.report(loc, Diag::UnknownName, text);
        return Term::error(loc);
    }
    if (s->broken) return ctx.gap(loc);
    Term t = s->term;
    t.loc = loc;
    switch (s->kind) {
    case SymbolKind::Const:
    case SymbolKind::Size:
    case SymbolKind::Let: return t;
    case SymbolKind::Tile:
        if (ctx.mode == Mode::By) return t;
        ctx.report(loc, Diag::TileConstant, text)
            .note(hint(loc), fmt::format("a constant with a meaning is declared by `const {} = ...`", text));
        return Term::error(loc);
    case SymbolKind::Param: return scalarParameter(ctx, *s, loc);
    case SymbolKind::Tensor: return ctx.mode == Mode::Body ? t : notKnown(ctx, loc, named(*s));
    case SymbolKind::Loop:
    case SymbolKind::Variable:
        if (ctx.mode == Mode::Body || t.is(TermKind::Size) || t.isError()) return t;
        return notKnown(ctx, loc, named(*s));
    case SymbolKind::Alias: break;
    }
    ctx.report(loc, Diag::NotValue, text, describe(s->kind)).note(s->loc, "declared here");
    return Term::error(loc);
}

Term member(Context &ctx, const ast::Member &m, Loc loc) {
    Term base = expression(ctx, *m.base);
    if (base.isError()) return base;
    bool end = m.member.text == "end";
    if (!base.is(TermKind::Range) || (!end && m.member.text != "begin")) {
        ctx.report(m.member.loc, Diag::NoMember, print(*m.base), m.member.text)
            .note(hint(loc), "a range has `.begin` and `.end`");
        return Term::error(loc);
    }
    Term t = Term::of(
        loc, ctx.emit(end ? OpKind::End : OpKind::Begin, loc, {base.value}, Type::scalar(Elem::I64)));
    t.bounds = base.bounds.moved(end ? 1 : 0);
    return base.expr.isConst(0) ? t : binary(ctx, loc, ast::BinaryOp::Add, t, Term::size(loc, base.expr));
}

Term cast(Context &ctx, const ast::Cast &c, Loc loc) {
    auto to = elemType(ctx, c.type);
    Term t = value(ctx, *c.arg);
    if (!to || t.isError()) return Term::error(loc);
    if (ctx.mode != Mode::Body) return notKnown(ctx, loc, fmt::format("`... as {}`", c.type.text));
    if (t.is(TermKind::Literal) && literalFits(ctx, t, *to)) return Term::of(loc, toElem(ctx, t, *to));
    ir::Value *v = toValue(ctx, t); // not left out where the type is the same already: `as` rounds
    return Term::of(loc, ctx.emit(OpKind::Cast, loc, {v}, Type::tile(*to, v->type.axes)));
}

Term orElse(Context &ctx, const ast::OrElse &o, Loc loc) {
    if (const auto *index = ast::get<ast::Index>(*o.arg)) return load(ctx, *index, loc, o.fallback.get());
    value(ctx, *o.arg);
    ctx.report(o.fallback->loc, Diag::OrNeedsTensor)
        .note(hint(loc), "`X[i] or v` is v where i lies outside of X; conditions are joined by `||`");
    return Term::error(loc);
}

Term chain(Context &ctx, const ast::Chain &c, Loc loc) {
    Term t = value(ctx, *c.operands[0]);
    for (size_t i = 0; i < c.ops.size(); ++i)
        t = binary(ctx, loc, c.ops[i], t, value(ctx, *c.operands[i + 1]));
    t.loc = loc;
    return t;
}

Term domainTerm(Context &ctx, const ast::Expr &e) {
    auto d = domain(ctx, e);
    Term t = Term::error(e.loc);
    if (!d) return t;
    t.kind = TermKind::Domain;
    t.domain = std::make_shared<const Domain>(std::move(*d));
    return t;
}

} // namespace

Term expression(Context &ctx, const ast::Expr &e) {
    struct Visitor {
        Context &ctx;
        const ast::Expr &e;
        Term operator()(const ast::IntLit &l) { return Term::literal(e.loc, l.value); }
        Term operator()(const ast::FloatLit &l) { return Term::literal(e.loc, l.value); }
        Term operator()(const ast::BoolLit &l) { return Term::literal(e.loc, l.value); }
        Term operator()(const ast::NameRef &n) { return name(ctx, n.name, e.loc); }
        Term operator()(const ast::Chain &c) { return chain(ctx, c, e.loc); }
        Term operator()(const ast::Unary &u) { return unary(ctx, e.loc, u.op, value(ctx, *u.arg)); }
        Term operator()(const ast::Cast &c) { return cast(ctx, c, e.loc); }
        Term operator()(const ast::OrElse &o) { return orElse(ctx, o, e.loc); }
        Term operator()(const ast::Index &i) { return load(ctx, i, e.loc, nullptr); }
        Term operator()(const ast::Slice &) { return domainTerm(ctx, e); }
        Term operator()(const ast::Shard &) { return domainTerm(ctx, e); }
        Term operator()(const ast::Member &m) { return member(ctx, m, e.loc); }
        Term operator()(const ast::Call &c) { return call(ctx, c, e.loc); }
    };
    return std::visit(Visitor{ctx, e}, e.node);
}

Term value(Context &ctx, const ast::Expr &e) {
    return asValue(ctx, e, expression(ctx, e));
}

Term asValue(Context &ctx, const ast::Expr &e, const Term &t) {
    switch (t.kind) {
    case TermKind::Error:
    case TermKind::Literal:
    case TermKind::Size:
    case TermKind::Value: return t;
    case TermKind::Range: return indices(ctx, t);
    case TermKind::Domain: ctx.report(e.loc, Diag::NotValue, print(e), "what a loop runs over"); break;
    case TermKind::Tensor:
        ctx.report(e.loc, Diag::NotValue, t.tensor->name, "a tensor")
            .note(hint(e.loc),
                  fmt::format("its elements have an index per dimension: `{}[...]`", t.tensor->name));
        break;
    }
    return Term::error(e.loc);
}

Term indices(Context &ctx, const Term &range) {
    Type type = Type::tile(Elem::I64, range.value->type.axes);
    Term v = Term::of(range.loc, ctx.emit(OpKind::Index, range.loc, {range.value}, type));
    return range.expr.isConst(0)
               ? v
               : binary(ctx, range.loc, ast::BinaryOp::Add, v, Term::size(range.loc, range.expr));
}

Term integer(Context &ctx, const ast::Expr &e, std::string_view what) {
    Term t = value(ctx, e);
    if (t.isError() || t.isSymbolic()) return t;
    bool scalar = t.is(TermKind::Value) && t.value->type.isScalar() && isInt(t.value->type.elem);
    if (scalar) return t;
    std::string found = t.is(TermKind::Value) ? ctx.show(t.value->type)
                        : t.condition         ? "bool"
                                              : std::string(elemName(elemOf(t)));
    ctx.report(e.loc, Diag::WantsInteger, what, found);
    return Term::error(e.loc);
}

std::optional<Term> symbol(Context &ctx, const ast::Expr &e, Mode mode, std::string_view what) {
    InMode in(ctx, mode, what);
    Term t = integer(ctx, e, what);
    if (t.isError()) return std::nullopt;
    return t;
}

} // namespace tdl::sema
