// Names the sizes of cuts: `i in N by 4096` becomes `i in N by by_i` with by_i = 4096 among the tile constants. A plan's
// cuts can then be changed in one place, and scaled down where a plan is checked on small instances.
#pragma once
#include "ir/op.h"
#include <memory>

namespace tdl::plan {

std::unique_ptr<ir::Op> withNamedCuts(const ir::Op &kernel);

} // namespace tdl::plan
