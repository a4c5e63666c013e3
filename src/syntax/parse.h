// Text to syntax tree. Reports every syntax error it can tell apart (no cascades) and returns nothing if
// there was one.
//
//     Sources sources; Diagnostics diags(sources);
//     int file = sources.add("a.tdl", text);
//     if (std::optional<ast::Module> m = parse(sources, file, diags)) ...
//
// Before ANTLR sees the text it is checked: size, UTF-8, NUL bytes, nesting of brackets. No exception leaves
// parse().
#pragma once
#include "diagnostics/diagnostics.h"
#include "syntax/ast.h"

namespace tdl {

inline constexpr size_t kMaxSourceBytes = 4u << 20;
inline constexpr int kMaxNesting = 256; // of brackets and braces in the text
inline constexpr int kMaxDepth = 1024;  // of an expression in the tree (signs and `as` nest without brackets)

std::optional<ast::Module> parse(const Sources &, int file, Diagnostics &);

} // namespace tdl
