#include "codegen/host/target.h"
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <mutex>

namespace tdl::codegen {

Target::Target() = default;
Target::~Target() = default;
Target::Target(Target &&) noexcept = default;
Target &Target::operator=(Target &&) noexcept = default;

namespace {

// LLVM's registry of targets is the process's; filling it twice is harmless, at the same time is not.
void registerTargets() {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeX86TargetInfo(), LLVMInitializeX86Target(), LLVMInitializeX86TargetMC(),
            LLVMInitializeX86AsmPrinter();
        LLVMInitializeAArch64TargetInfo(), LLVMInitializeAArch64Target(), LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
    });
}

// The highest x86-64 level whose instructions this machine has all of.
int nativeLevel() {
    auto features = llvm::sys::getHostCPUFeatures();
    auto all = [&](std::initializer_list<const char *> names) {
        for (const char *n : names)
            if (!features.lookup(n)) return false;
        return true;
    };
    if (!all({"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"})) return 1;
    if (!all({"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"})) return 2;
    return all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) ? 4 : 3;
}

} // namespace

std::optional<Target> makeTarget(const HostOptions &o, Diagnostics &diags) {
    registerTargets();
    Target t;
    t.triple = o.triple.empty() ? llvm::sys::getDefaultTargetTriple() : llvm::Triple::normalize(o.triple);
    llvm::Triple triple(t.triple);
    bool x86 = triple.getArch() == llvm::Triple::x86_64, arm = triple.getArch() == llvm::Triple::aarch64;
    if (!x86 && !arm) {
        diags.report({}, Diag::UnknownTriple, t.triple);
        return std::nullopt;
    }
    t.optimise = o.optimise;
    t.debugInfo = o.debugInfo;
    t.withoutCode = o.withoutCode;
    if (x86) {
        t.level = o.cpu == CpuLevel::Native ? nativeLevel() : static_cast<int>(o.cpu);
        t.cpu = t.level == 1 ? "x86-64" : "x86-64-v" + std::to_string(t.level);
        t.tune = o.cpu == CpuLevel::Native ? llvm::sys::getHostCPUName().str() : "generic";
        t.halfInstructions = t.level >= 3;
        t.vectorBytes = t.level >= 4 ? 64 : t.level == 3 ? 32 : 16;
        t.vectorRegisters = t.level >= 4 ? 32 : 16;
    } else {
        t.cpu = t.tune = "generic";
        t.halfInstructions = true;
        t.vectorRegisters = 32;
    }
    std::string error;
#if LLVM_VERSION_MAJOR >= 22
    const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
#else
    const llvm::Target *found = llvm::TargetRegistry::lookupTarget(t.triple, error);
#endif
    if (!found) {
        diags.report({}, Diag::UnknownTriple, t.triple);
        return std::nullopt;
    }
    llvm::TargetOptions options;
    auto level = o.optimise == 0   ? llvm::CodeGenOptLevel::None
                 : o.optimise == 1 ? llvm::CodeGenOptLevel::Less
                                   : llvm::CodeGenOptLevel::Default;
#if LLVM_VERSION_MAJOR >= 21
    t.machine.reset(
        found->createTargetMachine(triple, t.cpu, "", options, llvm::Reloc::PIC_, std::nullopt, level));
#else
    t.machine.reset(
        found->createTargetMachine(t.triple, t.cpu, "", options, llvm::Reloc::PIC_, std::nullopt, level));
#endif
    return t;
}

void prepareModule(llvm::Module &m, const Target &t) {
#if LLVM_VERSION_MAJOR >= 21
    m.setTargetTriple(llvm::Triple(t.triple));
#else
    m.setTargetTriple(t.triple);
#endif
    m.setDataLayout(t.machine->createDataLayout());
    m.setPICLevel(llvm::PICLevel::BigPIC);
}

void setAttributes(llvm::Function &f, const Target &t) {
    f.addFnAttr("target-cpu", t.cpu);
    f.addFnAttr("tune-cpu", t.tune);
    f.addFnAttr("no-builtins");
    f.addFnAttr(llvm::Attribute::NoUnwind);
    f.setUWTableKind(llvm::UWTableKind::Sync); // so that debuggers and profilers see through it
    if (t.vectorBytes == 64) {
        f.addFnAttr("prefer-vector-width", "512");
        f.addFnAttr("min-legal-vector-width", "512");
    }
    if (t.debugInfo) f.addFnAttr("frame-pointer", "all");
}

std::optional<std::string> emitFile(llvm::Module &m, const Target &t, FileKind kind, Diagnostics &diags) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    llvm::TargetLibraryInfoImpl library(llvm::Triple(t.triple));
    library.disableAllFunctions(); // objects may call the runtime only
    passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
    auto type =
        kind == FileKind::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
    if (t.machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
        diags.report({}, Diag::UnknownTriple, t.triple);
        return std::nullopt;
    }
    passes.run(m);
    return std::string(bytes.begin(), bytes.end());
}

} // namespace tdl::codegen
