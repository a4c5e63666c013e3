// Text to tokens for the parser. Words that are none are reported here, and nesting is bounded, so that
// nothing that recurses over the text can overflow the stack. Included by the few files that talk to ANTLR.
#pragma once
#include "TdlLexer.h"
#include "antlr4-runtime.h"
#include "diagnostics/diagnostics.h"
#include <optional>

namespace tdl::syntax {

/// Where tokens stand in their file, and what they say. ANTLR's positions are byte offsets here (see
/// tokens.cpp).
class TokenText {
public:
    TokenText(const Sources &sources, int file) : text_(sources[file].text), file_(file) {}
    int file() const { return file_; }
    std::string_view text() const { return text_; }
    std::string_view of(const antlr4::Token *t) const {
        return text_.substr(t->getStartIndex(), t->getStopIndex() + 1 - t->getStartIndex());
    }
    Loc loc(const antlr4::Token *) const;
    /// From first to last, as far as they are on the first one's line.
    Loc span(const antlr4::Token *first, const antlr4::Token *last) const;
    /// Directly behind a token.
    Loc behind(const antlr4::Token *) const;

private:
    std::string_view text_;
    int file_;
};

/// The tokens of a file, the last one EOF, with what they point into.
struct Tokens {
    std::unique_ptr<antlr4::ANTLRInputStream> bytes;
    std::unique_ptr<TdlLexer> lexer;
    std::vector<std::unique_ptr<antlr4::Token>> list;
};
/// Nothing if the parser must not see the tokens: too many, or nested too deep.
std::optional<Tokens> tokenize(const TokenText &, Diagnostics &);

} // namespace tdl::syntax
