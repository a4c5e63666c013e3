// Where a program waits: an entry of tdl_plan.sites, by which a time-out names its place in the source.
#pragma once
#include "diagnostics/loc.h"

namespace tdl::codegen {
struct WaitSite {
    int task = 0;
    Loc loc;
};
} // namespace tdl::codegen
