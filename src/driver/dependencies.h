// Make dependencies (-MD and kin), for Make, Ninja and CMake.
//
//     out/a.o: a.tdl lib/norms.tdl            (a line for each)
//
//     lib/norms.tdl:              (-MP: Make goes on when the file is gone)
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tdl {

/// `targets` stand as they are, `files` are quoted; the first of them is the input itself, which gets no empty rule.
std::string makeRule(const std::vector<std::string> &targets, const std::vector<std::string> &files, bool phony);

/// A file name as gcc writes it in a rule: `my $x#1` --> `my\ $$x\#1`.
std::string quoteForMake(std::string_view name);

} // namespace tdl
