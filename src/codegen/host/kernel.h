// All plans of one kernel as functions of an LLVM module: what src/object puts into the descriptor.
#pragma once
#include "codegen/host/debug_info.h"
#include "codegen/host/target.h"
#include "codegen/host/wait_site.h"
#include "ir/op.h"
#include <vector>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace tdl::codegen {

struct PlanCode {
    llvm::Function *layout = nullptr, *run = nullptr;
    std::vector<WaitSite> sites;
};

/// Adds the code of one `kern` to the module; its functions are internal. Reports and returns nothing on
/// errors.
std::optional<PlanCode> addPlan(llvm::Module &, const ir::Op &kern, const Target &, DebugInfo &,
                                Diagnostics &);

/// int64_t shape(const tdl_shape *, int64_t *extents): see abi.h.
llvm::Function *addShape(llvm::Module &, const ir::Op &kern, const Target &, Diagnostics &);

} // namespace tdl::codegen
