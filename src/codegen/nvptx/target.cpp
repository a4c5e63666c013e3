#include "codegen/nvptx/target.h"
#include "codegen/common/llvm.h"
#include <charconv>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Triple.h>
#include <mutex>

namespace tdl::codegen::nvptx {

Target::Target() = default;
Target::~Target() = default;
Target::Target(Target &&) noexcept = default;

namespace {

constexpr const char *kTriple = "nvptx64-nvidia-cuda";

const llvm::Target *findTarget() {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeNVPTXTargetInfo(), LLVMInitializeNVPTXTarget(), LLVMInitializeNVPTXTargetMC(), LLVMInitializeNVPTXAsmPrinter();
    });
    std::string error;
#if LLVM_VERSION_MAJOR >= 22
    return llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
#else
    return llvm::TargetRegistry::lookupTarget(kTriple, error);
#endif
}

bool isKnown(const Arch &arch) {
#if LLVM_VERSION_MAJOR >= 22
    std::unique_ptr<llvm::MCSubtargetInfo> info(findTarget()->createMCSubtargetInfo(llvm::Triple(kTriple), "", ""));
#else
    std::unique_ptr<llvm::MCSubtargetInfo> info(findTarget()->createMCSubtargetInfo(kTriple, "", ""));
#endif
    return info && info->isCPUStringValid(arch.str());
}

} // namespace

std::optional<Arch> parseArch(std::string_view text) {
    if (!text.starts_with("sm_")) return std::nullopt;
    text.remove_prefix(3);
    Arch a;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), a.number);
    std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
    if (error != std::errc() || (!rest.empty() && rest != "a")) return std::nullopt;
    a.specific = rest == "a";
    if (a.number < 80 || !isKnown(a)) return std::nullopt;
    return a;
}

int ptxVersion(const Arch &a) {
    if (a.number > 120 || a.number == 103) return 88;
    if (a.number == 120) return 87;
    if (a.number >= 100) return 86;
    if (a.number >= 90) return a.specific ? 80 : 78;
    return 78;
}

std::optional<Target> makeTarget(const Arch &arch, int optimise, Diagnostics &diags) {
    const llvm::Target *found = findTarget();
    if (!found || !isKnown(arch)) {
        diags.report({}, Diag::UnknownArch, arch.str());
        return std::nullopt;
    }
    Target t;
    t.arch = arch;
    t.optimise = optimise;
    std::string features = "+ptx" + std::to_string(ptxVersion(arch));
    auto level = optimise == 0 ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default;
#if LLVM_VERSION_MAJOR >= 21
    t.machine.reset(found->createTargetMachine(llvm::Triple(kTriple), arch.str(), features, {}, llvm::Reloc::PIC_, std::nullopt, level));
#else
    t.machine.reset(found->createTargetMachine(kTriple, arch.str(), features, {}, llvm::Reloc::PIC_, std::nullopt, level));
#endif
    return t;
}

void prepareModule(llvm::Module &m, const Target &t) {
#if LLVM_VERSION_MAJOR >= 21
    m.setTargetTriple(llvm::Triple(kTriple));
#else
    m.setTargetTriple(kTriple);
#endif
    m.setDataLayout(t.machine->createDataLayout());
}

std::optional<std::string> emitText(llvm::Module &m, const Target &t, Diagnostics &diags) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    llvm::TargetLibraryInfoImpl library{llvm::Triple(kTriple)};
    library.disableAllFunctions(); // there is no library on a GPU
    passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
    if (t.machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
        diags.report({}, Diag::UnknownArch, t.arch.str());
        return std::nullopt;
    }
    passes.run(m);
    return std::string(bytes.begin(), bytes.end());
}

} // namespace tdl::codegen::nvptx
