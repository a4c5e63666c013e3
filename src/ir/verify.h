// What holds in every stage: counts and attributes by ops.def, values visible where they are used, types of the
// operations that the stages share. The verifiers of tile/, plan/ and kernel/ call this first and add their own rules.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"

namespace tdl::ir {

/// Reports each violation at its place in the IR text, if the module was parsed from one, else in the source.
bool verifyStructure(const Module &, Diagnostics &);

/// The place of `op` to report: in its IR text if it has one.
inline Loc placeOf(const Op &op) { return op.text.valid() ? op.text : op.loc; }

} // namespace tdl::ir
