// The operations on tiles that need no memory: elementwise, dot and reductions, as the language page defines
// them.
#pragma once
#include "interp/tile.h"

namespace tdl::interp {

/// When floats are rounded to the element type that they are of. Stored: at stores, casts and literals only,
/// all else is in f64. EachStep: after every operation, and every addition of a sum.
enum class Rounding { Stored, EachStep };

/// Add .. Cast.
Tile elementwise(const ir::Op &, const std::vector<const Tile *> &operands, Rounding);
/// `v` repeated along the axes of `ranges`.
Tile broadcast(const ir::Op &, const Tile &v, const std::vector<Range> &ranges);
Tile dot(const ir::Op &, const Tile &a, const Tile &b, Rounding);
Tile reduce(const ir::Op &, const Tile &, Rounding);
/// Combines one tile per rank, in the order given; argmax and argmin give the position in that order.
Tile reduceRanks(const ir::Op &, const std::vector<const Tile *> &, Rounding);

} // namespace tdl::interp
