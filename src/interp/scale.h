// What a kernel does to the size of numbers, found from its operations: how large inputs may be so that
// outputs are of about unit variance, and how closely results can be expected to agree.
//
//     acc += dot(A[i, k], B[j, k] over k), k in K:   A and B are scaled by K^(-1/4), their K products add to about 1
#pragma once
#include "interp/compare.h"

namespace tdl::interp {

/// Standard deviation for each `in` and `inout` tensor in real mode; 1 where no sum is in sight.
std::map<std::string, double> inputScales(const ir::Op &kernel, const Launch &);

/// Are results exact on exact data, whatever the order of sums: nothing but moves, sums, products,
/// comparisons and the like?
bool isExact(const ir::Op &kernel);

/// What to demand of `out` in this mode: equality, or the tolerance of the least precise type that values
/// pass through.
Tolerance toleranceFor(const ir::Op &kernel, const Tensor &out, DataMode);

} // namespace tdl::interp
