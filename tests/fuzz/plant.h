// Bugs planted in the compiler, to see whether random programs find them: each changes the plan after it has been verified, as a wrong
// line in deriving or lowering would.
#pragma once
#include "ir/op.h"
#include <optional>
#include <string>

namespace tdl::fuzz {

enum class Plant {
    None,
    Chunk,    // a full chunk of a transfer ends one index early
    Peer,     // pushes go to the rank behind the one they are for
    Tail,     // ranges of compute tasks are not clipped where their extent ends
    Identity, // a maximum or minimum over ranks starts at 0
    Init,     // loops that accumulate start at 0, whatever the variable held
    Wait,     // compute tasks do not wait for what peers push
    Outside,  // what `or` says is 0
    Order,    // recurrences of the program skip their first turn
    Count
};
const char *plantName(Plant);
std::optional<Plant> findPlant(const std::string &name);

/// Returns whether there was anything to change.
bool plantBug(Plant, ir::Module &plan);

} // namespace tdl::fuzz
