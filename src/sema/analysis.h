// Questions about a whole stage or kernel, asked of its IR once it is free of other errors.
#pragma once
#include "sema/context.h"

namespace tdl::sema {

void checkTeams(Context &, const ir::Op &kernel);    // teams.cpp
void checkWriters(Context &, const ir::Op &kernel);  // writers.cpp
void checkCoverage(Context &, const ir::Op &kernel); // coverage.cpp

} // namespace tdl::sema
