// Reading inputs with limits, writing outputs so that they appear whole or not at all.
#pragma once
#include "diagnostics/diagnostics.h"
#include <optional>
#include <string>

namespace tdl {

inline constexpr size_t kMaxInputBytes = 4u << 20;

/// The text of `path` (`-`: standard input); reports why not: missing, folder, unreadable, over the limit.
std::optional<std::string> readInput(const std::string &path, Diagnostics &);

/// Writes a file beside its place and renames it; `-` is standard output. With `keepIfSame` a file that already has
/// this content keeps its time stamp. Reports failures and leaves nothing behind.
bool writeOutput(const std::string &path, std::string_view bytes, bool keepIfSame, Diagnostics &);

/// `dir/name.ext` -> `name`, for output names.
std::string stemOf(const std::string &path);
/// The extension with its dot, or empty.
std::string extensionOf(const std::string &path);

} // namespace tdl
