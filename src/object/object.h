// Kernel IR to a relocatable object: for each kernel a descriptor, two entry points and the code of its
// plans, as the runtime expects them (runtime/include/tdl/abi.h). The same module gives the same bytes.
//
//     auto bytes = emitObject(kernModule, {}, diags);       // ELF; undefined symbols are the runtime's tdl_*
//     only
#pragma once
#include "codegen/common/device_code.h"
#include "codegen/host/host.h"
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <optional>
#include <string>

namespace tdl {

/// Several `kern`s of one name are the plans of one kernel, the first the default. Nothing, and reports, on
/// errors. `device`: code for devices, which becomes part of the object.
std::optional<std::string> emitObject(const ir::Module &kern, const codegen::HostOptions &, Diagnostics &,
                                      const codegen::DeviceCode *device = nullptr);
/// The same code as LLVM IR (after optimisation) and as assembly text.
std::optional<std::string> emitLLVM(const ir::Module &kern, const codegen::HostOptions &, Diagnostics &);
std::optional<std::string> emitAssembly(const ir::Module &kern, const codegen::HostOptions &, Diagnostics &);

/// What identifies a kernel among ranks: a hash of its plans as kernel IR, without source locations.
uint64_t identityOf(const std::vector<const ir::Op *> &plans);

/// "22.1.8"
std::string llvmVersion();

} // namespace tdl
