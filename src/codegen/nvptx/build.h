// The middle of code generation for GPUs: a module of LLVM IR with the entries of all plans. Tests run it on the host.
#pragma once
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/target.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace tdl::codegen::nvptx {

/// Verified, not optimised.
struct DeviceModule {
    std::unique_ptr<llvm::LLVMContext> context;
    std::unique_ptr<llvm::Module> module;
    std::vector<DevicePlan> plans;

    DeviceModule();
    ~DeviceModule();
    DeviceModule(DeviceModule &&) noexcept;
};
std::optional<DeviceModule> buildModule(const ir::Module &kern, const Target &, const DeviceOptions &, Diagnostics &);

} // namespace tdl::codegen::nvptx
