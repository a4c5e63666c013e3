// A program's freedoms, tried out: ranges cut elsewhere, accumulations and loops in any order run in other
// orders. By the language the results are the same up to rounding; a difference is a mistake in the program.
//
//     for j in S by T in any order { x = x * 2 + sum(X[j] over j) }
//     a.tdl:3:5: error: `Y` depends on the order of a loop or on where ranges are cut: 4 elements differ, .. [TDL1009]
#pragma once
#include "interp/scale.h"

namespace tdl::interp {

/// Runs a prepared launch in checked mode, and `variants` times more with other cuts and orders, which must
/// give the same outputs as `mode` says. Those of the first run are then in `l`.
bool runVaried(const ir::Op &kernel, Launch &l, DataMode mode, uint64_t seed, int variants, Diagnostics &);

} // namespace tdl::interp
