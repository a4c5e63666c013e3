// The edits that make a program smaller, numbered: edit(text, 0), edit(text, 1), .. until there is none.
#pragma once
#include <optional>
#include <string>

namespace tdl::fuzz {

/// The program after edit `n`; an empty text if that one changes nothing; nothing if n is beyond the last. Whether the result is a valid
/// program is for the compiler to say.
std::optional<std::string> edit(const std::string &text, int n);

} // namespace tdl::fuzz
