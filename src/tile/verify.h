// The contract of tile IR (README.md in this folder), on top of what holds in every stage (ir/verify.h).
//
//     store %0, %A[%i]        with  %A = tensor(name = A, mode = in, ..)
//     error: stores to `A`, which is `in` [TDL0726]
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"

namespace tdl::tile {

/// Reports each violation at its place in the IR text, if the module was parsed from one, else in the source.
/// The rules of the contract are looked at only when the structure is sound.
bool verify(const ir::Module &, Diagnostics &);

} // namespace tdl::tile
