// Kernel IR to code for NVIDIA GPUs. One plan is one entry, `KERNEL$PLAN`, called as runtime/include/tdl/abi_device.h says;
// a block of threads is what a worker is on the host.
//
//     auto code = compileDevice(kernModule, {.archs = {{80, false}, {90, true}}}, diags);    // PTX and, with ptxas, cubins
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <optional>
#include <string>
#include <vector>

namespace tdl::codegen::nvptx {

/// An architecture: sm_90a is {90, true}, code that runs on sm_90 only.
struct Arch {
    int number = 80;
    bool specific = false;
    std::string str() const; // "sm_90a"
    friend bool operator==(const Arch &, const Arch &) = default;
};
/// sm_80 and later, as far as LLVM knows them.
std::optional<Arch> parseArch(std::string_view);

struct DeviceOptions {
    std::vector<Arch> archs;
    int optimise = 2;
    bool debugInfo = false;
    std::string ptxas; // a path; empty: looked for
};

struct DeviceImage {
    bool cubin = false; // else PTX
    Arch arch;
    std::string bytes;
};
struct DevicePlan {
    std::string kernel, plan, entry;
    ir::Expr workspace;  // bytes of a block, over sizes, ranks, rank
};
struct DeviceCode {
    std::vector<DeviceImage> images; // the same entries in each
    std::vector<DevicePlan> plans;
    std::string log;                 // per entry and architecture: registers, shared memory, spills
};

/// Of every plan, for every architecture: machine code, and PTX once for later ones; without ptxas only PTX, with a remark.
std::optional<DeviceCode> compileDevice(const ir::Module &kern, const DeviceOptions &, Diagnostics &);

/// The text for one architecture.
std::optional<std::string> emitPtxText(const ir::Module &kern, const Arch &, const DeviceOptions &, Diagnostics &);
/// Its machine code.
std::optional<std::string> emitCubin(const ir::Module &kern, const Arch &, const DeviceOptions &, Diagnostics &);

} // namespace tdl::codegen::nvptx
