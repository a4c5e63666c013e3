// A tensor of a launch in global view: one array for a distributed or uniform tensor, one per rank for a
// private one. Floats are held as double and integers as int64_t, each always a value of the element type.
#pragma once
#include "ir/op.h"
#include "support/elem.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tdl::interp {

struct Tensor {
    std::string name;
    Elem elem = Elem::F32;
    std::vector<int64_t> extents; // global
    int dist = -1;                // the distributed dimension, or -1
    bool uniform = false;
    int64_t ranks = 1;
    std::vector<double> f;  // copies() arrays of elements() each, row-major; of float types
    std::vector<int64_t> i; // the same of integers and bool

    bool isPrivate() const { return dist < 0 && !uniform; }
    int64_t copies() const { return isPrivate() ? ranks : 1; }
    int64_t elements() const;
    /// Makes storage, filled with NaN or, for integers, a number nobody expects.
    void poison();
    /// Where rank `r` finds its elements: the number of the first.
    int64_t base(int64_t r) const { return isPrivate() ? r * elements() : 0; }
    /// `Y[3, 5]`; with the rank if every rank has a copy of its own. `at` counts through all copies.
    std::string element(int64_t at) const;
};

/// The tensor that `op` (OpKind::Tensor) declares, without storage; nothing if an extent is negative or
/// unknown.
std::optional<Tensor> declare(const ir::Op &op, int64_t ranks, const ir::Expr::Env &);

} // namespace tdl::interp
