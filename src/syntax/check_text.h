// What a text must fulfil before ANTLR may see it: size, UTF-8, no NUL bytes.
#pragma once
#include "diagnostics/diagnostics.h"

namespace tdl {

/// Reports what is wrong with the text of a file; true if nothing is.
bool checkText(const Sources &, int file, Diagnostics &);

/// Bytes of the UTF-8 sequence that starts at text[i], 0 if there is no valid one.
size_t utf8Length(std::string_view text, size_t i);

} // namespace tdl
