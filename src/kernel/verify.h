// The contract of kernel IR (README.md): structure first, then names, axes, operands, tokens, signals.
//
//     write %v, %A_in_base, %1     a.kern:24:5: error: `write` to another rank's `A_in` without the token of a `done` flag
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"

namespace tdl::kernel {

/// Reports each violation; true if there is none.
bool verify(const ir::Module &, Diagnostics &);

} // namespace tdl::kernel
