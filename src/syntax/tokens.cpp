// The lexer's side of the front end.
//
//     x = 12ab + $y     --> malformed number `12ab`, unexpected character `$`; tokens: x = INT +
//     BAD_CHARACTER y
//
// ANTLR gets bytes rather than code points, all those beyond ASCII replaced by one control character: outside
// of comments and strings they are errors anyhow, token positions become byte offsets, and the lexer stays in
// its table.
#include "syntax/tokens.h"
#include "syntax/check_text.h"
#include "syntax/parse.h"

namespace tdl::syntax {
namespace {

constexpr size_t kMaxTokens = 1'000'000; // a parse needs some 500 bytes a token
constexpr int kMaxSigns = 8;             // `-` and `!` in a row

class ByteStream : public antlr4::ANTLRInputStream {
public:
    explicit ByteStream(std::string_view text) {
        _data.reserve(text.size());
        for (char c : text)
            _data.push_back(static_cast<unsigned char>(c) < 0x80 ? static_cast<unsigned char>(c) : 0x7F);
        if (text.starts_with("\xEF\xBB\xBF")) _data.replace(0, 3, 3, ' '); // byte order mark
    }
};

/// Reports what nests too deep: `((((` and `----` cost stack in every recursive walk.
bool checkNesting(const std::vector<std::unique_ptr<antlr4::Token>> &tokens, const TokenText &text,
                  Diagnostics &diags) {
    int depth = 0, signs = 0;
    for (const auto &token : tokens) {
        size_t type = token->getType();
        signs = type == TdlLexer::MINUS || type == TdlLexer::NOT ? signs + 1 : 0;
        if (type == TdlLexer::LPAREN || type == TdlLexer::LBRACKET || type == TdlLexer::LBRACE) ++depth;
        if (type == TdlLexer::RPAREN || type == TdlLexer::RBRACKET || type == TdlLexer::RBRACE)
            depth = std::max(depth - 1, 0);
        if (depth > kMaxNesting) {
            diags.report(text.loc(token.get()), Diag::TooDeep, kMaxNesting);
            return false;
        }
        if (signs > kMaxSigns) {
            diags.report(text.loc(token.get()), Diag::TooManySigns, kMaxSigns);
            return false;
        }
    }
    return true;
}

bool isName(size_t type) {
    return type == TdlLexer::NAME || (type >= TdlLexer::TYPE && type <= TdlLexer::UNIQUE);
}

/// Tells the `<` and `>` of `f<a, b>(` from comparisons. Linear: no token is looked at from two `<`.
void markAngles(const std::vector<std::unique_ptr<antlr4::Token>> &tokens) {
    auto type = [&](size_t i) { return i < tokens.size() ? tokens[i]->getType() : antlr4::Token::EOF; };
    auto mark = [&](size_t i, size_t t) {
        static_cast<antlr4::WritableToken *>(tokens[i].get())->setType(t);
    };
    for (size_t i = 1; i < tokens.size(); ++i) {
        if (type(i) != TdlLexer::LT || !isName(type(i - 1))) continue;
        size_t end = i + 1;
        while (isName(type(end)) && type(end + 1) == TdlLexer::COMMA) end += 2;
        if (!isName(type(end)) || type(end + 1) != TdlLexer::GT || type(end + 2) != TdlLexer::LPAREN)
            continue;
        mark(i, TdlLexer::LANGLE);
        mark(end + 1, TdlLexer::RANGLE);
    }
}

/// Reports tokens that are no words of the language. A bad number goes on as a number; the others stay what
/// they are, and the parser passes over them without another word. Unknown characters are reported once a
/// line.
class WordCheck {
public:
    WordCheck(const TokenText &text, Diagnostics &diags) : text_(text), diags_(diags) {}

    void operator()(antlr4::Token *token) {
        switch (token->getType()) {
        case TdlLexer::BAD_NUMBER:
            diags_.report(text_.loc(token), Diag::MalformedNumber, text_.of(token));
            static_cast<antlr4::WritableToken *>(token)->setType(TdlLexer::INT);
            break;
        case TdlLexer::BAD_STRING: diags_.report(text_.loc(token), Diag::UnterminatedString); break;
        case TdlLexer::BAD_CHARACTER:
            if (token->getLine() != lastLine_) unknown(token);
            lastLine_ = token->getLine();
            break;
        default: break;
        }
    }

private:
    void unknown(antlr4::Token *token) {
        size_t at = token->getStartIndex();
        std::string_view written = text_.text().substr(at, std::max<size_t>(utf8Length(text_.text(), at), 1));
        unsigned char c = static_cast<unsigned char>(written[0]);
        bool control = c < 0x20 || c == 0x7F;
        Loc loc = text_.loc(token);
        loc.len = static_cast<int32_t>(written.size());
        diags_.report(loc, Diag::UnknownCharacter,
                      control ? fmt::format("\\x{:02x}", c) : std::string(written));
    }

    const TokenText &text_;
    Diagnostics &diags_;
    size_t lastLine_ = 0;
};

} // namespace

Loc TokenText::loc(const antlr4::Token *t) const {
    auto size = t->getType() == antlr4::Token::EOF ? 1 : t->getStopIndex() + 1 - t->getStartIndex();
    return {file_, static_cast<int32_t>(t->getLine()), static_cast<int32_t>(t->getCharPositionInLine() + 1),
            static_cast<int32_t>(size)};
}

Loc TokenText::span(const antlr4::Token *first, const antlr4::Token *last) const {
    Loc l = loc(first);
    if (!last || last->getStopIndex() + 1 <= first->getStartIndex()) return l;
    std::string_view whole =
        text_.substr(first->getStartIndex(), last->getStopIndex() + 1 - first->getStartIndex());
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
    WordCheck check(text, diags);
    do {
        tokens.list.push_back(tokens.lexer->nextToken());
        check(tokens.list.back().get());
        if (tokens.list.size() > kMaxTokens) {
            diags.report(text.loc(tokens.list.back().get()), Diag::TooManyTokens, kMaxTokens);
            return std::nullopt;
        }
    } while (tokens.list.back()->getType() != antlr4::Token::EOF);
    markAngles(tokens.list);
    if (!checkNesting(tokens.list, text, diags)) return std::nullopt;
    return tokens;
}

} // namespace tdl::syntax
