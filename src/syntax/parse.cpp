// The front end as a list of steps: guards, tokens, then item by item parse tree and syntax tree. One item's
// parse tree is dropped before the next is made, so memory follows the largest kernel, not the file.
#include "syntax/parse.h"
#include "syntax/build.h"
#include "syntax/check_text.h"
#include "syntax/recover.h"

namespace tdl {
namespace {

using syntax::TokenText;

bool startsItem(size_t t) {
    using P = TdlParser;
    return t == P::IMPORT || t == P::TYPE || t == P::CONST || t == P::FN || t == P::KERNEL ||
           t == P::SCHEDULE;
}

void parseItems(const TokenText &text, syntax::Tokens tokens, ast::Module &module, Diagnostics &diags) {
    antlr4::ListTokenSource source(std::move(tokens.list));
    antlr4::CommonTokenStream stream(&source);
    TdlParser parser(&stream);
    auto recovery = std::make_shared<syntax::Recovery>(text, diags);
    parser.removeErrorListeners();
    parser.setErrorHandler(recovery);
    syntax::Builder builder(text, stream, diags);

    while (stream.LA(1) != antlr4::Token::EOF) {
        if (stream.LA(1) == TdlParser::SEMICOLON) {
            stream.consume();
            continue;
        }
        if (!startsItem(stream.LA(1))) {
            recovery->recoverBetweenItems(&parser);
            continue;
        }
        int before = diags.errorCount();
        recovery->reset(&parser);
        TdlParser::ItemContext *item = parser.item();
        if (diags.errorCount() == before) module.items.push_back(builder.item(item));
        parser.setContext(nullptr);
        parser.getTreeTracker().reset();
    }
}

} // namespace

std::optional<ast::Module> parse(const Sources &sources, int file, Diagnostics &diags) {
    const int before = diags.errorCount();
    ast::Module module;
    module.file = file;
    try { // ANTLR reports by exceptions; none leaves this function
        if (!checkText(sources, file, diags)) return std::nullopt;
        TokenText text(sources, file);
        std::optional<syntax::Tokens> tokens = syntax::tokenize(text, diags);
        if (!tokens) return std::nullopt;
        parseItems(text, std::move(*tokens), module, diags);
    } catch (const std::exception &e) {
        diags.report({file, 0, 0, 0}, Diag::ParserFailed, e.what());
    }
    if (diags.errorCount() != before) return std::nullopt;
    return module;
}

} // namespace tdl
