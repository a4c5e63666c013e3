// Kernel IR to code for NVIDIA GPUs. One plan is one entry, `KERNEL$PLAN`, called as runtime/include/tdl/abi_device.h says;
// a block of threads is what a worker is on the host.
//
//     auto code = compileDevice(kernModule, {.archs = {{80, false}, {90, true}}}, diags);    // PTX and, with ptxas, cubins
#pragma once
#include "codegen/common/device_code.h"
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <optional>
#include <string>
#include <vector>

namespace tdl::codegen::nvptx {

using codegen::Arch, codegen::DeviceCode, codegen::DeviceImage, codegen::DevicePlan;

/// "sm_80", "sm_90a": sm_80 and later, as far as LLVM knows them.
std::optional<Arch> parseArch(std::string_view);

struct DeviceOptions {
    std::vector<Arch> archs;
    int optimise = 2;
    bool debugInfo = false;
    std::string ptxas; // a path; empty: looked for
};

/// Of every plan, for every architecture: machine code, and PTX once for later ones; without ptxas only PTX, with a remark.
std::optional<DeviceCode> compileDevice(const ir::Module &kern, const DeviceOptions &, Diagnostics &);

/// The text for one architecture.
std::optional<std::string> emitPtxText(const ir::Module &kern, const Arch &, const DeviceOptions &, Diagnostics &);
/// Its machine code.
std::optional<std::string> emitCubin(const ir::Module &kern, const Arch &, const DeviceOptions &, Diagnostics &);

} // namespace tdl::codegen::nvptx
