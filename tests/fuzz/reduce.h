// A smaller program with the same failure: one edit after the other is tried, of the syntax tree (stages, statements, loops, dimensions,
// operands) and of how it is run (ranks, shapes, sizes), and kept if the program then fails in the same way.
#pragma once
#include "run.h"

namespace tdl::fuzz {

struct Reduced {
    Program program;
    Outcome outcome;
    int tried = 0, kept = 0;
};
Reduced reduce(const Program &, const Outcome &, const RunOptions &, int seconds);

} // namespace tdl::fuzz
