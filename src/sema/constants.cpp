// `tile`, `const`, `let` and `require`: names for what is known when a kernel is launched. They leave no
// operation behind but `require`.
//
//     const CH = 64                 CH is 64 wherever it stands, of the other side's type
//     let NS = ceil(K, CH)          NS is the expression ceil(K, 64)
//     tile TM = 128                 kernel @k(.., tiles = [TM = 128])
//     require K % 2 == 0            require(cond = K % 2 == 0, text = "K % 2 == 0")
#include "sema/lower.h"
#include "syntax/print.h"
#include <charconv>
#include <limits>

namespace tdl::sema {
namespace {

std::optional<int64_t> wholeNumber(const std::string &text) {
    int64_t v = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return v;
}

std::optional<Number> number(const std::string &text) {
    if (text == "true" || text == "false") return text == "true";
    if (auto i = wholeNumber(text)) return *i;
    double d = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), d);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return d;
}

void defineTile(Context &ctx, const ast::Definition &d) {
    auto term = symbol(ctx, *d.value, Mode::Constant, "a tile constant");
    int64_t v = 1;
    if (term && term->isInt())
        v = std::get<int64_t>(term->number);
    else if (term)
        ctx.report(d.value->loc, Diag::NotKnown, "a tile constant consists of numbers and constants",
                   fmt::format("`{}`", print(*d.value)));
    if (const std::string *text = ctx.define(d.name.text)) {
        auto fixed = wholeNumber(*text);
        if (!fixed || *fixed < 1)
            ctx.report({}, Diag::DefineValue, d.name.text, *text, "an integer of 1 or more");
        v = fixed.value_or(1);
    } else if (v < 1) {
        ctx.report(d.value->loc, Diag::ByNotPositive, v);
    }
    if (!ctx.scopes.declare(d.name, SymbolKind::Tile, Term::size(d.name.loc, ir::Expr::sym(d.name.text))))
        return;
    auto tiles = ctx.kernel->binds("tiles");
    tiles.push_back({d.name.text, std::max<int64_t>(v, 1)});
    ctx.kernel->set("tiles", std::move(tiles));
}

void defineConst(Context &ctx, const ast::Definition &d) {
    InMode mode(ctx, Mode::Constant, "a constant");
    Term term = value(ctx, *d.value);
    if (!term.isError() && !term.is(TermKind::Literal))
        term = notKnown(ctx, d.value->loc, fmt::format("`{}`", print(*d.value)));
    if (const std::string *text = ctx.define(d.name.text)) {
        if (auto n = number(*text)) {
            term = Term::literal(d.name.loc, *n);
        } else {
            ctx.report({}, Diag::DefineValue, d.name.text, *text, "a number, true or false");
            term = Term::error(d.name.loc);
        }
    }
    ctx.scopes.declare(d.name, SymbolKind::Const, term);
}

void defineLet(Context &ctx, const ast::Definition &d) {
    auto term = symbol(ctx, *d.value, Mode::Extent, "a `let`");
    ctx.scopes.declare(d.name, SymbolKind::Let, term.value_or(Term::error(d.name.loc)));
}

} // namespace

void define(Context &ctx, const ast::Define &define) {
    for (const ast::Definition &d : define.list) switch (define.kind) {
        case ast::DefineKind::Tile: defineTile(ctx, d); break;
        case ast::DefineKind::Const: defineConst(ctx, d); break;
        case ast::DefineKind::Let: defineLet(ctx, d); break;
        }
}

void require(Context &ctx, const ast::Require &r) {
    InMode mode(ctx, Mode::Extent, "a condition");
    Term term = value(ctx, *r.condition);
    if (term.isError()) return;
    if (term.is(TermKind::Literal) && std::holds_alternative<bool>(term.number)) {
        term.expr = ir::Expr(std::get<bool>(term.number) ? 1 : 0);
    } else if (!term.condition) {
        ctx.report(r.condition->loc, Diag::WantsBool, "require", elemName(elemOf(term)));
        return;
    }
    ir::Op *op = declaration(ctx, ir::OpKind::Require, r.condition->loc);
    op->set("cond", term.expr);
    op->set("text", print(*r.condition));
    ctx.facts.assume(term.expr);
}

} // namespace tdl::sema
