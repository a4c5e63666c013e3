// One plan of a kernel on its way to code: its declarations with the indices that the runtime knows them by,
// and what its programs have in common. Internal to codegen/host.
#pragma once
#include "codegen/common/declarations.h"
#include "codegen/host/debug_info.h"
#include "codegen/host/storage.h"
#include "codegen/host/target.h"
#include "codegen/host/wait_site.h"

namespace llvm {
class DISubprogram;
class Function;
class Module;
class StructType;
class Value;
} // namespace llvm

namespace tdl::codegen {

struct PlanContext : Declarations {
    llvm::Module &module;
    const ir::Op &kern;
    const Target &target;
    DebugInfo &debug;
    Diagnostics &diags;
    std::vector<Storage> storage; // per program
    std::vector<WaitSite> sites;  // filled while programs are emitted

    std::string
    localName(std::string_view what) const; // of a function of this plan; not visible outside the object
};

/// What one ticket of a program does: void(frame, worker, ticket, coordinates...).
llvm::Function *emitProgram(PlanContext &, size_t program);
/// void layout(shape, int64_t *out) and void run(frame, worker), see abi.h.
llvm::Function *emitLayout(PlanContext &);
llvm::Function *emitRun(PlanContext &, const std::vector<llvm::Function *> &programs);

} // namespace tdl::codegen
