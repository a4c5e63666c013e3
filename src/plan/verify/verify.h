// Does a plan keep the contract of src/plan/README.md? It reads a plan alone, made or edited by whomever.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"

namespace tdl::plan {

/// Structure of the IR, then the rules of the contract. Reports every violation at its task, buffer or flag.
bool verify(const ir::Module &, Diagnostics &);

} // namespace tdl::plan
