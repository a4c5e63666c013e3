// Stages: the loops of the header become those of the operation, whose block is one instance.
//
//     stage s for i in M by TM, j in N @ ranks by TN { ... }
//
//     stage @s(loops = [i in M by TM, j in N @ ranks by TN]) {
//       ^(%i: range<i>, %j: range<j>)
//       ...
//     }
#include "sema/lower.h"

namespace tdl::sema {

void stage(Context &ctx, const ast::Stage &s) {
    auto op = std::make_unique<ir::Op>(ir::OpKind::Stage, s.name.loc);
    op->symbol = s.name.text;
    ir::Block &block = op->addBlock();
    ctx.kernel->body().append(std::move(op));
    ir::Op *placed = ctx.kernel->body().ops.back().get();
    ctx.block = ctx.top = &block;
    ctx.wholes = 0;
    ctx.wholeAxes.clear();

    Scoped scope(ctx.scopes);
    std::vector<ir::LoopSpec> loops;
    for (const ast::Binding &b : s.bindings) {
        InMode header(ctx, Mode::Header, "a header loop");
        auto d = domain(ctx, *b.domain);
        auto spec = d ? loopSpec(ctx, b, *d) : std::nullopt;
        if (!spec) {
            ctx.scopes.declare(b.name, SymbolKind::Loop, Term::error(b.name.loc));
            continue;
        }
        ir::Type type = spec->isRange ? ir::Type::range(spec->name) : ir::Type::scalar(Elem::I64);
        bindLoop(ctx, b, *d, *spec, block.addArg(std::move(type), spec->name));
        loops.push_back(std::move(*spec));
    }
    placed->set("loops", std::move(loops));
    InMode body(ctx, Mode::Body, "");
    statements(ctx, s.body);
    ctx.block = ctx.top = nullptr;
}

} // namespace tdl::sema
