// Does a plan keep the contract of src/plan/README.md? It reads a plan alone, made or edited by whomever.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"

namespace tdl::plan {

struct VerifyOptions {
    /// Also remark where elements arrive from peers that nobody reads. (Where a box is the hull of what is read, some may.)
    bool remarkUnread = false;
};

/// Structure of the IR; the rules of the contract that the text shows, for all sizes; then small instances, of which the
/// first violation is reported. Every report names the task, buffer or flag.
bool verify(const ir::Module &, Diagnostics &, const VerifyOptions & = {});

} // namespace tdl::plan
