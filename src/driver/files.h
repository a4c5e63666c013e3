// Reading inputs, with limits; parts of file names.
#pragma once
#include "diagnostics/diagnostics.h"
#include <optional>
#include <string>

namespace tdl {

inline constexpr size_t kMaxInputBytes = 4u << 20;

/// The text of `path` (`-`: standard input); reports why not: missing, folder, unreadable, over the limit.
std::optional<std::string> readInput(const std::string &path, Diagnostics &);

/// `dir/name.ext` -> `name`, for output names.
std::string stemOf(const std::string &path);
/// The extension with its dot, or empty.
std::string extensionOf(const std::string &path);

} // namespace tdl
