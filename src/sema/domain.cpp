// What loops run over.
//
//     i in M by TM              i in M by TM
//     k in K @ ranks by TK      k in K @ ranks by TK               this rank's block of K
//     j in S[4 : N]             j in S[4 : N]                      bounds known at launch
//     j in S[0 : i.end] by TK   j in S by TK, with `slice`: the bounds are operands
//     t in i                    t in M, with `within`: the range i is an operand
#include "sema/lower.h"
#include "syntax/print.h"

namespace tdl::sema {

namespace {

std::optional<Domain> shard(Context &ctx, const ast::Shard &s) {
    if (s.axis.text != "ranks") {
        ctx.report(s.axis.loc, Diag::NoRankAxis, s.axis.text);
        return std::nullopt;
    }
    auto extent = symbol(ctx, *s.extent, ctx.mode == Mode::Body ? Mode::Extent : ctx.mode, "an extent");
    if (!extent) return std::nullopt;
    Domain d;
    d.extent = extent->symbol();
    d.dist = true;
    return d;
}

std::optional<Domain> slice(Context &ctx, const ast::Slice &s, Loc loc) {
    auto d = domain(ctx, *s.base);
    Term low = integer(ctx, *s.begin, "a bound of a slice"),
         high = integer(ctx, *s.end, "a bound of a slice");
    if (!d || low.isError() || high.isError()) return std::nullopt;
    if (d->sliced) { // a slice of a slice: what both have
        low = least(ctx, loc, d->low, low, true);
        high = least(ctx, loc, d->high, high, false);
    }
    d->sliced = true;
    d->low = low;
    d->high = high;
    return d;
}

} // namespace

std::optional<Domain> domain(Context &ctx, const ast::Expr &e) {
    if (const auto *s = ast::get<ast::Shard>(e)) return shard(ctx, *s);
    if (const auto *s = ast::get<ast::Slice>(e)) return slice(ctx, *s, e.loc);
    Term t = expression(ctx, e);
    Domain d;
    std::string found;
    switch (t.kind) {
    case TermKind::Error: return std::nullopt;
    case TermKind::Domain: return *t.domain;
    case TermKind::Range:
        d.within = t.value;
        d.inside = t.bounds;
        d.extent = t.bounds.high.front();
        return d;
    case TermKind::Literal:
    case TermKind::Size:
        if (t.isSymbolic()) {
            d.extent = t.symbol();
            return d;
        }
        found = elemName(elemOf(t));
        break;
    case TermKind::Value: found = ctx.show(t.value->type); break;
    case TermKind::Tensor: found = "a tensor"; break;
    }
    auto said = ctx.report(e.loc, Diag::NotLoopable, fmt::format("`{}`, {}", print(e), found));
    if (t.is(TermKind::Value) && isInt(elemOf(t)))
        said.note(hint(e.loc), fmt::format("where data decides, slice an extent: `E[0 : {}]`", print(e)));
    return std::nullopt;
}

std::optional<ir::LoopSpec> loopSpec(Context &ctx, const ast::Binding &b, const Domain &d) {
    ir::LoopSpec spec;
    spec.extent = d.extent;
    spec.dist = d.dist;
    if (d.sliced && d.low.isSymbolic() && d.high.isSymbolic()) {
        spec.sliced = true;
        spec.lo = d.low.symbol();
        spec.hi = d.high.symbol();
    }
    if (b.by) {
        auto by = symbol(ctx, *b.by, Mode::By, "the number behind `by`");
        if (!by) return std::nullopt;
        spec.isRange = true;
        spec.by = by->symbol();
        if (by->isInt() && spec.by.value() < 1) {
            ctx.report(b.by->loc, Diag::ByNotPositive, spec.by.value());
            return std::nullopt;
        }
        // A tile constant is 1 or more, a size may be 0.
        ir::Expr least = spec.by.substitute([&](std::string_view name) -> std::optional<ir::Expr> {
            Symbol *s = ctx.scopes.peek(std::string(name));
            if (!s || s->kind != SymbolKind::Tile) return std::nullopt;
            return ir::Expr::sym(s->name) + 1;
        });
        if (!ctx.facts.atLeast(least, 1)) spec.by = ir::max(1, spec.by);
    }
    spec.name = ctx.freshAxis(b.name.text);
    return spec;
}

void bindLoop(Context &ctx, const ast::Binding &b, const Domain &d, const ir::LoopSpec &spec,
              ir::Value *value) {
    Term t;
    t.kind = spec.isRange ? TermKind::Range : TermKind::Value;
    t.loc = b.name.loc;
    t.value = value;
    t.bounds = {{ir::Expr(0)}, {spec.extent}};
    auto know = [](std::vector<ir::Expr> &to, const std::vector<ir::Expr> &from, int by) {
        for (const ir::Expr &e : from) to.push_back(plus(e, by));
    };
    know(t.bounds.low, d.inside.low, 0);
    know(t.bounds.high, d.inside.high, 0);
    if (d.sliced) {
        know(t.bounds.low, boundsOf(d.low).low, 0);
        know(t.bounds.high, boundsOf(d.high).high, -1);
    }
    ctx.axes[spec.name] = {b.name.text, b.loc, spec.isRange ? value : nullptr};
    ctx.scopes.declare(b.name, SymbolKind::Loop, t);
}

} // namespace tdl::sema
