// Device code on the processor: every thread of every block of every rank is a fiber, the memory of all ranks is this
// process's, and the instructions of ptx.def are functions. Between barriers, threads run one after another in an order
// drawn from a seed, so that a missing barrier shows as a wrong result; threads that leave without the others, a barrier
// that some never reach, and shuffles of parts of a warp are errors.
#pragma once
#include "codegen/nvptx/build.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace simulate {

/// A plan's entry, compiled for this machine after the passes of the device.
class Program {
public:
    /// `without`: a barrier to leave out, counted in order of the code; -1: none.
    explicit Program(const tdl::ir::Module &kern, int optimise = 2, int without = -1);
    int barriers = 0; // in the code
    ~Program();
    const std::string &error() const { return wrong; }
    struct Plan {
        std::string entry;
        tdl::ir::Expr workspace;
    };
    std::vector<Plan> plans;

    struct Rank {
        std::vector<uint64_t> words; // the parameter block
        int blocks = 1;
    };
    /// Runs one launch to its end on all ranks. Returns an empty text, or what went wrong.
    std::string run(const std::string &entry, const std::vector<Rank> &ranks, uint64_t seed);

    struct State;

private:
    std::unique_ptr<State> state;
    std::string wrong;
};

/// Counts of the last run, over all threads.
struct Counts {
    uint64_t barriers = 0, polls = 0, tickets = 0, releases = 0;
};
const Counts &counts();

} // namespace simulate
