// Upper bounds of differences of expressions: how long a range can be, known before sizes are.
//
//     hi = min(M, ti * 128 + 128), lo = ti * 128         -->  hi - lo <= 128
//     hi = min(M, b + min(B, c + 64)), lo = min(M, b + min(B, c))  -->  64
//
// In integers: an expression that wraps around 64 bits has no meaning as an index.
#pragma once
#include "ir/expr.h"

namespace tdl::kernel {

/// A constant that `hi - lo` never exceeds, whatever its symbols are; nothing if none was found.
std::optional<int64_t> upperBound(const ir::Expr &hi, const ir::Expr &lo);

} // namespace tdl::kernel
