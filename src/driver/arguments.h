// Argument files: `tdlc @list` stands for the words in the file `list`, as gcc reads them.
#pragma once
#include <string>
#include <vector>

namespace tdl {

/// Replaces every `@FILE` by the words of FILE, which may name further files. What cannot be read stays as it is, and then
/// fails as an input. Returns an empty text, or what is wrong.
std::string expandArgumentFiles(const std::vector<std::string> &args, std::vector<std::string> &expanded);

/// The words of an argument file.
std::vector<std::string> splitWords(std::string_view text);

} // namespace tdl
