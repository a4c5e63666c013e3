// LLVM's way from a module to PTX text.
#pragma once
#include "codegen/nvptx/nvptx.h"
#include <memory>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tdl::codegen::nvptx {

/// The PTX version that code for an architecture is written in: the oldest that has all it needs, so that many drivers and
/// versions of ptxas read it. 78 is 7.8.
int ptxVersion(const Arch &);

struct Target {
    std::unique_ptr<llvm::TargetMachine> machine;
    Arch arch;
    int optimise = 2;

    Target();
    ~Target();
    Target(Target &&) noexcept;
};
std::optional<Target> makeTarget(const Arch &, int optimise, Diagnostics &);
void prepareModule(llvm::Module &, const Target &);
void optimise(llvm::Module &, const Target &);
std::optional<std::string> emitText(llvm::Module &, const Target &, Diagnostics &);

} // namespace tdl::codegen::nvptx
