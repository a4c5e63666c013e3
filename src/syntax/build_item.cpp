// Kernels, functions, schedules, and what else stands at the top of a file.
#include "syntax/build.h"

namespace tdl::syntax {

using P = TdlParser;

ast::Item Builder::item(P::ItemContext *ctx) {
    Loc loc = span(ctx);
    if (auto *import = ctx->importItem()) {
        antlr4::Token *path = import->STRING()->getSymbol();
        return {loc, ast::Import{unquoted(path), text_.loc(path)}};
    }
    if (auto *alias = ctx->typeAlias())
        return {loc, ast::TypeAlias{name(alias->name(0)), name(alias->name(1))}};
    if (auto *constant = ctx->constant())
        return {loc, ast::Define{ast::DefineKind::Const, definitions(constant->definition())}};
    if (ctx->fn()) return {loc, fn(ctx->fn())};
    if (ctx->kernel()) return {loc, kernel(ctx->kernel())};
    return {loc, schedule(ctx->schedule())};
}

ast::Fn Builder::fn(P::FnContext *ctx) {
    return {docBefore(ctx->start), name(ctx->name()), nameArgs(ctx->nameArgs()), params(ctx->params()),
            block(ctx->block())};
}

ast::Kernel Builder::kernel(P::KernelContext *ctx) {
    return {docBefore(ctx->start),     name(ctx->name()),
            nameArgs(ctx->nameArgs()), ctx->mesh() ? names(ctx->mesh()->names()) : std::vector<ast::Name>{},
            params(ctx->params()),     kernelBody(ctx->kernelBody())};
}

std::vector<ast::KernelItem> Builder::kernelBody(P::KernelBodyContext *ctx) {
    std::vector<ast::KernelItem> out;
    for (P::KernelItemContext *i : ctx->kernelItem()) out.push_back(kernelItem(i));
    return out;
}

ast::KernelItem Builder::kernelItem(P::KernelItemContext *ctx) {
    Loc loc = span(ctx);
    if (auto *define = ctx->define()) {
        auto kind = define->TILE()  ? ast::DefineKind::Tile
                    : define->LET() ? ast::DefineKind::Let
                                    : ast::DefineKind::Const;
        return {loc, ast::Define{kind, definitions(define->definition())}};
    }
    if (auto *require = ctx->require()) return {loc, ast::Require{expr(require->expr())}};
    if (auto *local = ctx->local()) return {loc, ast::Local{names(local->names()), type(local->type())}};
    if (auto *repeat = ctx->repeat())
        return {loc, ast::Repeat{expr(repeat->expr()), kernelBody(repeat->kernelBody())}};
    P::StageContext *stage = ctx->stage();
    if (stage->COLON())
        return {loc, ast::StageCall{name(stage->name(0)), name(stage->name(1)), nameArgs(stage->nameArgs()),
                                    exprs(stage->expr())}};
    return {loc, ast::Stage{name(stage->name(0)), bindings(stage->bindings()), block(stage->block())}};
}

std::vector<ast::Definition> Builder::definitions(const std::vector<P::DefinitionContext *> &list) {
    std::vector<ast::Definition> out;
    for (P::DefinitionContext *d : list) out.push_back({name(d->name()), expr(d->expr())});
    return out;
}

std::vector<ast::Param> Builder::params(P::ParamsContext *ctx) {
    std::vector<ast::Param> out;
    if (!ctx) return out;
    for (P::ParamContext *p : ctx->param()) {
        ast::Mode mode = p->IN()      ? ast::Mode::In
                         : p->OUT()   ? ast::Mode::Out
                         : p->INOUT() ? ast::Mode::InOut
                                      : ast::Mode::None;
        out.push_back({span(p), names(p->names()), mode, p->direction ? text_.loc(p->direction) : Loc{},
                       type(p->type())});
    }
    return out;
}

ast::Type Builder::type(P::TypeContext *ctx) {
    ast::Type out{span(ctx), std::nullopt, name(ctx->name()), {}};
    if (ctx->UNIFORM()) out.uniform = text_.loc(ctx->UNIFORM()->getSymbol());
    for (P::DimContext *d : ctx->dim()) {
        ast::Dim dim{span(d), std::nullopt, operation(d->operation()), std::nullopt};
        const auto around = d->name();
        if (d->IN()) dim.binder = name(around.front());
        if (d->AT()) dim.axis = name(around.back());
        out.dims.push_back(std::move(dim));
    }
    return out;
}

ast::Schedule Builder::schedule(P::ScheduleContext *ctx) {
    ast::Schedule out{docBefore(ctx->start), name(ctx->name()), names(ctx->names()), {}};
    for (P::DirectiveContext *d : ctx->scheduleBody()->directive()) out.directives.push_back(directive(d));
    return out;
}

ast::Directive Builder::directive(P::DirectiveContext *ctx) {
    if (ctx->TILE()) return {span(ctx), word(ctx->start), {}, {}, definitions(ctx->definition())};
    P::SubjectContext *subject = ctx->subject();
    ast::Directive out{span(ctx), word(subject->start), {}, {}, {}};
    if (subject->start != subject->stop) out.subject = word(subject->stop);
    for (P::ClauseContext *c : ctx->clause()) {
        ast::Clause clause{span(c), {}};
        for (P::WordContext *w : c->word())
            clause.words.push_back({std::string(text_.of(w->start)), text_.loc(w->start)});
        out.clauses.push_back(std::move(clause));
    }
    return out;
}

std::string Builder::docBefore(const antlr4::Token *token) {
    std::vector<antlr4::Token *> before = tokens_.getHiddenTokensToLeft(token->getTokenIndex());
    size_t line = token->getLine(), first = before.size();
    while (first > 0 && before[first - 1]->getLine() + 1 == line) line = before[--first]->getLine();
    std::string out;
    for (size_t i = first; i < before.size(); ++i) {
        std::string_view text = text_.of(before[i]).substr(3);
        if (text.starts_with(' ')) text.remove_prefix(1);
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
        if (i > first) out += '\n';
        out += text;
    }
    return out;
}

} // namespace tdl::syntax
