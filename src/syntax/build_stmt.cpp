// Statements and loop headers.
#include "syntax/build.h"

namespace tdl::syntax {

using P = TdlParser;

std::vector<ast::Stmt> Builder::block(P::BlockContext *ctx) {
    std::vector<ast::Stmt> out;
    for (P::StmtContext *s : ctx->stmt()) out.push_back(stmt(s));
    return out;
}

ast::Stmt Builder::stmt(P::StmtContext *ctx) {
    Loc loc = span(ctx);
    if (auto *loop = ctx->loop()) return {loc, ast::For{bindings(loop->bindings()), block(loop->block())}};
    if (auto *ret = ctx->returnStmt()) return {loc, ast::Return{exprs(ret->expr())}};
    if (auto *scatter = ctx->scatter())
        return {loc, ast::Scatter{target(scatter->target()), expr(scatter->expr()),
                                  word(scatter->UNIQUE()->getSymbol())}};
    return assignment(ctx->assignment());
}

ast::Stmt Builder::assignment(P::AssignmentContext *ctx) {
    std::vector<ast::Target> targets;
    for (P::TargetContext *t : ctx->target()) targets.push_back(target(t));
    ast::ExprPtr value = expr(ctx->expr());
    if (ctx->COLON()) {
        ast::Decl decl{{}, type(ctx->type()), std::move(value)};
        for (ast::Target &t : targets) {
            if (!t.indices.empty()) diags_.report(t.loc, Diag::DeclaresElement, t.name.text);
            decl.names.push_back(std::move(t.name));
        }
        return {span(ctx), std::move(decl)};
    }
    ast::AssignOp op = ast::AssignOp::Set;
    switch (ctx->op->getType()) {
    case P::ADD_ASSIGN: op = ast::AssignOp::Add; break;
    case P::MAX_ASSIGN: op = ast::AssignOp::Max; break;
    case P::MIN_ASSIGN: op = ast::AssignOp::Min; break;
    default: break;
    }
    if (op != ast::AssignOp::Set && targets.size() > 1)
        diags_.report(text_.loc(ctx->op), Diag::OneTarget, ast::spelling(op), targets.size());
    return {span(ctx), ast::Assign{std::move(targets), op, std::move(value)}};
}

ast::Target Builder::target(P::TargetContext *ctx) {
    return {span(ctx), name(ctx->name()), exprs(ctx->expr())};
}

std::vector<ast::Binding> Builder::bindings(P::BindingsContext *ctx) {
    std::vector<ast::Binding> out;
    if (!ctx) return out;
    for (P::BindingContext *b : ctx->binding()) {
        const auto parts = b->expr(); // the domain and, perhaps, what stands after `by`
        out.push_back({span(b), name(b->name()), expr(parts[0]), parts.size() > 1 ? expr(parts[1]) : nullptr,
                       b->ANY() != nullptr});
    }
    return out;
}

} // namespace tdl::syntax
