// Upper bounds of differences of expressions: how long a range can be, known before its task is.
//
//     hi = min(M, ti * 128 + 128), lo = ti * 128                                  -->  hi - lo <= 128
//     hi = min(M, b + min(B, c + 64)), lo = min(M, b + min(B, c))                 -->  64
//     hi = min(M, (p + 1) * B), lo = p * B, where the coordinate p is not known   -->  B
//
// In integers: an expression that wraps around 64 bits has no meaning as an index.
#pragma once
#include "ir/expr.h"

namespace tdl::kernel {

using Known = std::function<bool(std::string_view symbol)>;

/// Something that `hi - lo` never exceeds, a constant if one was found, else over known symbols; nothing if neither was.
std::optional<ir::Expr> upperBound(const ir::Expr &hi, const ir::Expr &lo, const Known &known);

/// Can be shown: a <= b, whatever the symbols are.
bool neverExceeds(const ir::Expr &a, const ir::Expr &b);

} // namespace tdl::kernel
