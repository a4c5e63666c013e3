// IR as text, both ways. print(parse(print(m))) == print(m) for every module; the syntax is in README.md.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <memory>
#include <optional>

namespace tdl::ir {

std::string print(const Module &);
/// One operation with its blocks, values named as in a module of its own: for dumps and messages.
std::string print(const Op &);

/// Parses file `file` of `sources`, of whatever stage its first line says; reports errors there. Adds the .tdl files
/// that it names to `sources` (without text, unless they are there already). Structure is not verified.
std::unique_ptr<Module> parse(Sources &sources, int file, Diagnostics &);

} // namespace tdl::ir
