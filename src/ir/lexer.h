// Tokens of IR text: identifiers, %values, numbers, strings and punctuation; `//` comments run to the end of the line.
#pragma once
#include "diagnostics/diagnostics.h"
#include <string>
#include <string_view>

namespace tdl::ir {

enum class Tok : uint8_t { End, Ident, Value, Int, Float, Str, Punct, Bad };

struct Token {
    Tok kind = Tok::End;
    std::string_view text; // Value: without %; Str: raw, between the quotes
    Loc loc;
    bool is(std::string_view punct) const { return kind == Tok::Punct && text == punct; }
    bool word(std::string_view w) const { return kind == Tok::Ident && text == w; }
};

class Lexer {
public:
    Lexer(std::string_view text, int file) : text_(text), file_(file) {}
    Token next();

private:
    std::string_view text_;
    int file_, line_ = 1;
    size_t pos_ = 0, lineStart_ = 0;
    Token token(Tok, size_t begin, size_t end);
};

} // namespace tdl::ir
