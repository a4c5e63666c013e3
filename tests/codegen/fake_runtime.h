// The runtime's side of an object in a few lines, for tests of generated code: ranks are threads, waits spin,
// scratch starts as NaN and has guard zones behind it.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tdl/abi.h>
#include <vector>

namespace fake {

struct Tensor {
    void *data = nullptr;
    std::vector<int64_t> strides;
};

/// One launch of one kernel on some ranks.
class Launch {
public:
    Launch(const tdl_kernel *, int ranks, std::vector<int64_t> sizes, std::vector<uint64_t> scalars = {});
    /// Tensor argument `index` (in order of declaration) of a rank, with the strides of all dimensions.
    void tensor(int rank, int index, void *data, std::vector<int64_t> strides);
    /// The same for a dense tensor of these extents.
    void dense(int rank, int index, void *data, const std::vector<int64_t> &extents);
    /// Runs the plan on all ranks; false if a guard zone was touched. `abortAt`: the n-th wait of a rank
    /// reports an abort.
    bool run(int plan = 0, int workers = 1, int abortAt = -1);
    uint64_t epoch = 1;

    // What happened, summed over the ranks.
    std::atomic<int64_t> tickets{0}, waits{0}, arrivals{0}, notifies{0};
    std::vector<int64_t> layout; // of rank 0: what the plan's layout function wrote

    struct Rank;

private:
    const tdl_kernel *kernel;
    int ranks;
    std::vector<int64_t> sizes;
    std::vector<uint64_t> scalars;
    std::vector<std::vector<Tensor>> tensors; // [rank][index]
};

} // namespace fake
