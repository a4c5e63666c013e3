// The tables of one kernel in an object: tdl_kernel and what it points to. Internal to object/.
#pragma once
#include "codegen/host/kernel.h"
#include "diagnostics/diagnostics.h"

namespace llvm {
class Constant;
}

namespace tdl {

/// Device code of a plan: null pointers if there is none.
struct DeviceEntry {
    std::string name;
    llvm::Function *workspace = nullptr;
};

struct KernelCode {
    std::string name, source;
    std::vector<const ir::Op *> plans;   // `kern`s
    std::vector<codegen::PlanCode> code; // of each
    std::vector<DeviceEntry> entries;    // of each, or empty
    llvm::Constant *images = nullptr;    // table of n_images
    int imageCount = 0;
    llvm::Function *shape = nullptr;
    uint64_t identity = 0;
    int cpuLevel = 0;
};

/// Adds NAME_descriptor and the entry points NAME and NAME_prepare.
void addDescriptor(llvm::Module &, const KernelCode &, const codegen::Target &);

} // namespace tdl
