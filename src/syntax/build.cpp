// What all builders share: names, words and places.
#include "syntax/build.h"

namespace tdl::syntax {

Loc Builder::span(const antlr4::ParserRuleContext *ctx) const {
    return text_.span(ctx->start, ctx->stop);
}

ast::Name Builder::word(const antlr4::Token *token) const {
    return {std::string(text_.of(token)), text_.loc(token)};
}

ast::Name Builder::name(antlr4::ParserRuleContext *ctx) const {
    return word(ctx->start);
}

std::vector<ast::Name> Builder::names(P::NamesContext *ctx) const {
    std::vector<ast::Name> out;
    if (!ctx) return out;
    for (P::NameContext *n : ctx->name()) out.push_back(name(n));
    return out;
}

std::vector<ast::Name> Builder::nameArgs(P::NameArgsContext *ctx) const {
    return ctx ? names(ctx->names()) : std::vector<ast::Name>{};
}

std::string Builder::unquoted(const antlr4::Token *token) const {
    std::string_view s = text_.of(token);
    return std::string(s.substr(1, s.size() - 2));
}

} // namespace tdl::syntax
