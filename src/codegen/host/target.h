// The machine that code is generated for, and LLVM's way from a module to bytes.
#pragma once
#include "codegen/host/host.h"
#include "diagnostics/diagnostics.h"
#include <memory>
#include <optional>
#include <string>

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace tdl::codegen {

struct Target {
    std::unique_ptr<llvm::TargetMachine> machine;
    std::string triple, cpu, tune;
    int level = 0; // 1..4 on x86-64, else 0
    bool halfInstructions = false;
    int vectorBytes = 16; // of one register
    int vectorRegisters = 16;
    int optimise = 2;
    bool debugInfo = false, withoutCode = false;

    Target();
    ~Target();
    Target(Target &&) noexcept;
    Target &operator=(Target &&) noexcept;
};

/// Nothing, and a report, if LLVM has no such target.
std::optional<Target> makeTarget(const HostOptions &, Diagnostics &);
/// Attributes that every function needs: processor, no library calls, unwind tables.
void setAttributes(llvm::Function &, const Target &);
void prepareModule(llvm::Module &, const Target &);
void optimise(llvm::Module &, const Target &);

enum class FileKind { Object, Assembly };
/// The module as a relocatable object or as assembly text; the same bytes for the same module.
std::optional<std::string> emitFile(llvm::Module &, const Target &, FileKind, Diagnostics &);

} // namespace tdl::codegen
