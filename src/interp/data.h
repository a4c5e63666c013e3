// Generated data, and one rank's storage of a tensor. A value is a function of (seed, tensor, global index),
// and of the rank in a private tensor, so every rank, device and world size makes its part of the same
// tensor:
//
//     fill(t, source)                   all of t, for the interpreter
//     fill(Part{&t, 2}, memory, source) what rank 2 holds of it, with the same values
//
// Exact: -1, 0 or 1, one in four not zero; sums of products come out exactly. Real: uniform with mean 0 and
// standard deviation `scale` (scale.h), rounded to the element type. Integers are small: -4 .. 4 in real
// mode.
#pragma once
#include "interp/run.h"

namespace tdl::interp {

enum class DataMode { Exact, Real };

struct DataSource {
    DataMode mode = DataMode::Exact;
    uint64_t seed = 1;
    double scale = 1; // of real values
};

/// How rank `rank` stores `tensor` (whose contents may be absent): from its first element on, the block of
/// its indices in a distributed dimension, which has room for `capacity` indices on every rank.
struct Part {
    const Tensor *tensor;
    int64_t rank = 0;
    std::vector<int64_t> strides = {}; // in elements, one per dimension; empty: dense

    int64_t capacity(size_t dim) const; // indices that there is room for
    int64_t begin(size_t dim) const;    // the first index held
    int64_t count(size_t dim) const;    // indices held
    int64_t storage() const;            // elements of dense storage
    /// Calls f(n, offset in storage, step there, number of the first element in the whole tensor) for each
    /// run along the last dimension; the elements of a private tensor are counted in this rank's copy.
    void runs(const std::function<void(int64_t, int64_t, int64_t, int64_t)> &f) const;
};

/// Fills a tensor's contents, which are made if they are absent.
void fill(Tensor &, const DataSource &);
void fill(const Part &, void *memory, const DataSource &);
/// Copies between a tensor's contents and one rank's storage.
void write(const Part &, void *memory);
void read(Tensor &, const Part &, const void *memory);

/// A parameter's value: 1 or 2 in exact mode and for integers, else from 0.5 to 1.5.
Scalar generateScalar(const std::string &name, Elem, const DataSource &);

} // namespace tdl::interp
