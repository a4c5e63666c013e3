// Loops of a body. The outer variables that a loop assigns become block arguments and results of the `for`.
//
//     for k in K by TK { acc += dot(A[i, k], B[j, k] over k) }
//
//     %acc_2 = for %acc(loop = k in K by TK, order = accumulate) : f32[i, j] {
//       ^(%k: range<k>, %acc_1: f32[i, j])
//       ...
//       %5 = add %acc_1, %4 : f32[i, j]
//       yield %5
//     }
#include "sema/lower.h"
#include <algorithm>

namespace tdl::sema {

using ir::OpKind;
using ir::Type;

namespace {

void nest(Context &ctx, const ast::For &f, Loc loc, size_t at, const std::vector<Carried> &carried);

void inside(Context &ctx, const ast::For &f, Loc loc, size_t at, const std::vector<Carried> &carried) {
    if (at + 1 < f.bindings.size())
        nest(ctx, f, loc, at + 1, carried);
    else
        statements(ctx, f.body);
}

// Nothing will be made of it, but what is wrong in the body is said, too.
void broken(Context &ctx, const ast::For &f, Loc loc, size_t at, const std::vector<Carried> &carried) {
    Scoped scope(ctx.scopes);
    ctx.scopes.declare(f.bindings[at].name, SymbolKind::Loop, Term::error(loc));
    inside(ctx, f, loc, at, carried);
}

std::string_view order(const ast::Binding &b, const std::vector<Carried> &carried) {
    if (b.anyOrder) return "any";
    bool accumulates = std::all_of(carried.begin(), carried.end(), [](auto &c) { return c.accumulates; });
    return accumulates ? "accumulate" : "recurrence";
}

void nest(Context &ctx, const ast::For &f, Loc loc, size_t at, const std::vector<Carried> &carried) {
    const ast::Binding &b = f.bindings[at];
    auto d = domain(ctx, *b.domain);
    auto spec = d ? loopSpec(ctx, b, *d) : std::nullopt;
    if (!spec) return broken(ctx, f, loc, at, carried);

    std::vector<ir::Value *> operands;
    bool slice = d->sliced && !spec->sliced;
    if (slice) operands = {toElem(ctx, d->low, Elem::I64), toElem(ctx, d->high, Elem::I64)};
    if (d->within) operands.push_back(d->within);
    for (const Carried &c : carried) operands.push_back(toValue(ctx, c.symbol->term));

    ir::Op *op = ir::Builder(*ctx.block).op(OpKind::For, at == 0 ? loc : b.loc, std::move(operands));
    op->set("loop", *spec);
    if (slice) op->set("slice", ir::Flag{});
    if (d->within) op->set("within", ir::Flag{});
    if (!carried.empty()) op->set("order", ir::Name{std::string(order(b, carried))});
    ir::Block &body = op->addBlock();
    ir::Value *index =
        body.addArg(spec->isRange ? Type::range(spec->name) : Type::scalar(Elem::I64), spec->name);
    for (const Carried &c : carried)
        c.symbol->term = Term::of(c.symbol->loc, body.addArg(c.symbol->type, c.symbol->name));

    ir::Block *outer = ctx.block;
    ctx.block = &body;
    {
        Scoped scope(ctx.scopes);
        bindLoop(ctx, b, *d, *spec, index);
        inside(ctx, f, loc, at, carried);
        std::vector<ir::Value *> next;
        for (const Carried &c : carried) next.push_back(toValue(ctx, c.symbol->term));
        ir::Builder(body).op(OpKind::Yield, {}, std::move(next));
    }
    ctx.block = outer;
    for (const Carried &c : carried)
        c.symbol->term = Term::of(c.symbol->loc, op->addResult(c.symbol->type, c.symbol->name));
}

} // namespace

void loop(Context &ctx, const ast::For &f, Loc loc) {
    nest(ctx, f, loc, 0, carriedBy(ctx, f));
}

} // namespace tdl::sema
