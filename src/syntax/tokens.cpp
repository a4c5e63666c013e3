// The lexer's side of the front end.
//
//     x = 12ab + $y     --> malformed number `12ab`, unexpected character `$`; tokens: x = INT + y
//
// ANTLR gets bytes rather than code points, all those beyond ASCII replaced by one control character: outside of
// comments and strings they are errors anyhow, token positions become byte offsets, and the lexer stays in its table.
#include "syntax/tokens.h"
#include "syntax/check_text.h"
#include "syntax/parse.h"

namespace tdl::syntax {
namespace {

constexpr size_t kMaxTokens = 1'000'000; // a parse needs some 500 bytes a token

class ByteStream : public antlr4::ANTLRInputStream {
public:
    explicit ByteStream(std::string_view text) {
        _data.reserve(text.size());
        for (char c : text) _data.push_back(static_cast<unsigned char>(c) < 0x80 ? static_cast<unsigned char>(c) : 0x7F);
        if (text.starts_with("\xEF\xBB\xBF")) _data.replace(0, 3, 3, ' '); // byte order mark
    }
};

/// Reports brackets and signs that nest too deep: `((((` and `----` cost stack in every recursive walk.
bool checkNesting(const std::vector<std::unique_ptr<antlr4::Token>> &tokens, const TokenText &text, Diagnostics &diags) {
    std::vector<int> open; // depth that each open bracket added: itself and the signs before it
    int depth = 0, signs = 0;
    for (const auto &token : tokens) {
        switch (token->getType()) {
        case TdlLexer::LPAREN:
        case TdlLexer::LBRACKET:
        case TdlLexer::LBRACE:
            open.push_back(signs + 1);
            depth += signs + 1;
            signs = 0;
            break;
        case TdlLexer::RPAREN:
        case TdlLexer::RBRACKET:
        case TdlLexer::RBRACE:
            if (!open.empty()) {
                depth -= open.back();
                open.pop_back();
            }
            signs = 0;
            break;
        case TdlLexer::MINUS:
        case TdlLexer::NOT: ++signs; break;
        default: signs = 0;
        }
        if (depth + signs > kMaxNesting) {
            diags.report(text.loc(token.get()), Diag::TooDeep, kMaxNesting);
            return false;
        }
    }
    return true;
}

/// Reports a token that is no word of the language and gives it the type it was meant to have; false: drop it.
/// `end` is where the last unknown character ended, which may be several bytes.
bool repair(antlr4::Token *token, const TokenText &text, size_t &end, Diagnostics &diags) {
    auto become = [&](size_t type) { static_cast<antlr4::WritableToken *>(token)->setType(type); };
    switch (token->getType()) {
    case TdlLexer::BAD_NUMBER:
        diags.report(text.loc(token), Diag::MalformedNumber, text.of(token));
        become(TdlLexer::INT);
        return true;
    case TdlLexer::BAD_STRING:
        diags.report(text.loc(token), Diag::UnterminatedString);
        become(TdlLexer::STRING);
        return true;
    case TdlLexer::BAD_CHARACTER: {
        size_t at = token->getStartIndex();
        if (at < end) return false;
        size_t length = std::max<size_t>(utf8Length(text.text(), at), 1);
        end = at + length;
        Loc loc = text.loc(token);
        loc.len = static_cast<int32_t>(length);
        std::string_view written = text.text().substr(at, length);
        unsigned char c = static_cast<unsigned char>(written[0]);
        diags.report(loc, Diag::UnknownCharacter, c < 0x20 || c == 0x7F ? fmt::format("\\x{:02x}", c) : std::string(written));
        return false;
    }
    default: return true;
    }
}

} // namespace

Loc TokenText::loc(const antlr4::Token *t) const {
    auto size = t->getType() == antlr4::Token::EOF ? 1 : t->getStopIndex() + 1 - t->getStartIndex();
    return {file_, static_cast<int32_t>(t->getLine()), static_cast<int32_t>(t->getCharPositionInLine() + 1),
            static_cast<int32_t>(size)};
}

Loc TokenText::span(const antlr4::Token *first, const antlr4::Token *last) const {
    Loc l = loc(first);
    if (!last || last->getStopIndex() + 1 <= first->getStartIndex()) return l;
    std::string_view whole = text_.substr(first->getStartIndex(), last->getStopIndex() + 1 - first->getStartIndex());
    if (last->getLine() != first->getLine()) {
        whole = whole.substr(0, whole.find('\n'));
        whole = whole.substr(0, whole.find("//"));
        whole = whole.substr(0, whole.find_last_not_of(" \t\r") + 1);
    }
    l.len = static_cast<int32_t>(std::max<size_t>(whole.size(), 1));
    return l;
}

Loc TokenText::behind(const antlr4::Token *t) const {
    Loc l = loc(t);
    l.col += l.len;
    l.len = 1;
    return l;
}

std::optional<Tokens> tokenize(const TokenText &text, Diagnostics &diags) {
    Tokens tokens;
    tokens.bytes = std::make_unique<ByteStream>(text.text());
    tokens.lexer = std::make_unique<TdlLexer>(tokens.bytes.get());
    tokens.lexer->removeErrorListeners();
    size_t badEnd = 0;
    bool atEnd = false;
    while (!atEnd) {
        std::unique_ptr<antlr4::Token> token = tokens.lexer->nextToken();
        atEnd = token->getType() == antlr4::Token::EOF;
        if (!repair(token.get(), text, badEnd, diags)) continue;
        tokens.list.push_back(std::move(token));
        if (tokens.list.size() > kMaxTokens) {
            diags.report(text.loc(tokens.list.back().get()), Diag::TooManyTokens, kMaxTokens);
            return std::nullopt;
        }
    }
    if (!checkNesting(tokens.list, text, diags)) return std::nullopt;
    return tokens;
}

} // namespace tdl::syntax
