// Checks a plan on small instances: a few ranks, a few tiles.
//
// Waits and counters only grow and nothing depends on timing, so an operation that may run stays so, and one run decides
// for all: each rank runs its tickets in order, one agent each, as far as it can. It must end, with every counter at its
// total; and because any two conflicting accesses must be ordered by flags and joins alone (not by the order in which
// tickets happened to run), all other runs read and write the same.
#pragma once
#include "diagnostics/diagnostics.h"
#include "plan/verify/code.h"

namespace tdl::plan {

struct Instance {
    int64_t ranks = 1;
    std::vector<int64_t> symbols; // by number; rank and coordinates are set by who runs
    std::string text;             // "M = 3, N = 0, ranks = 2"
};

enum class Outcome : uint8_t { Sound, Wrong, TooLarge };
/// Runs it; reports the first violation. Buffers that got elements from peers that nobody read are added to `unread`.
Outcome execute(const PlanCode &, const Instance &, Diagnostics &,
                std::vector<std::pair<const ir::Op *, std::string>> &unread);

/// Runs several; the number that was sound, or nothing if one was wrong.
std::optional<int> checkInstances(const ir::Op &plan, Diagnostics &, bool remarkUnread);

} // namespace tdl::plan
