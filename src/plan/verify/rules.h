// The contract of src/plan/README.md as far as the text of a plan shows it, whatever the sizes.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"

namespace tdl::plan {

/// What stands where; names in expressions; scopes, kinds and ranks of declarations.
bool checkDeclarations(const ir::Op &plan, Diagnostics &);
/// The order within a task; what may be stored where.
bool checkTasks(const ir::Op &plan, Diagnostics &);
/// Flags, joins and levels.
bool checkSynchronisation(const ir::Op &plan, Diagnostics &);

} // namespace tdl::plan
