// The arguments of a launch on one rank, from a kernel's descriptor: the struct that generated code reads, and this rank's
// storage of every tensor between guard zones, outputs poisoned.
#pragma once
#include "interp/compare.h"
#include "tdl/abi.h"
#include "tools/gpu.h"
#include <memory>
#include <string>
#include <vector>

namespace tdl {

class Arguments {
public:
    /// With `gpu`, the tensors are in its memory, guard zones and all.
    Arguments(const tdl_kernel &, const interp::Launch &, int rank, Gpu *gpu = nullptr);
    ~Arguments();
    Arguments(const Arguments &) = delete;
    const void *data() const { return bytes.data(); }
    const std::string &error() const { return wrong; }
    /// After launches: gets the tensors from the GPU. Returns an empty text, or what went wrong.
    std::string fetch();
    /// What is wrong with this rank's part of `reference` (found by its name), or an empty text: values, guard zones, elements
    /// that exist in storage but not in the tensor.
    std::string compare(const interp::Tensor &reference, interp::Tolerance) const;

private:
    struct Storage {
        const tdl_arg *arg;
        interp::Part part;
        size_t size; // bytes
        std::vector<char> memory, original; // guard, storage, guard
        uint64_t device = 0;                // the same on a GPU; 0: not there
        char *begin() { return memory.data() + kGuard; }
        const char *begin() const { return memory.data() + kGuard; }
    };
    static constexpr size_t kGuard = 256;
    std::vector<uint64_t> aligned; // keeps `bytes` aligned
    std::vector<char> bytes;
    std::vector<std::unique_ptr<Storage>> tensors;
    int rank;
    Gpu *gpu;
    std::string wrong;

    uint64_t onGpu(Storage &);
};

} // namespace tdl
