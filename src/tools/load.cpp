#include "tools/load.h"
#include <llvm/Config/llvm-config.h>
#if LLVM_VERSION_MAJOR >= 20
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#endif
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/TargetSelect.h>

namespace tdl {

struct LoadedObject::State {
    std::unique_ptr<llvm::orc::LLJIT> jit;
};

LoadedObject::LoadedObject() : state(std::make_unique<State>()) {}
LoadedObject::~LoadedObject() = default;

namespace {

/// What generated objects call (tdl/abi.h).
llvm::Error defineRuntime(llvm::orc::LLJIT &jit) {
    llvm::orc::SymbolMap symbols;
    auto add = [&](const char *name, auto *function) {
        symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                              llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    };
    add("tdl_launch", &tdl_launch);
    add("tdl_prepare", &tdl_prepare);
    add("tdl_next_ticket", &tdl_next_ticket);
    add("tdl_wait_flag", &tdl_wait_flag);
    add("tdl_wait_join", &tdl_wait_join);
    add("tdl_arrive", &tdl_arrive);
    add("tdl_notify", &tdl_notify);
    return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

} // namespace

std::string LoadedObject::load(const std::string &bytes) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) return llvm::toString(jit.takeError());
    state->jit = std::move(*jit);
    if (auto error = defineRuntime(*state->jit)) return llvm::toString(std::move(error));
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes, "kernels.o");
    if (auto error = state->jit->addObjectFile(std::move(buffer))) return llvm::toString(std::move(error));
    return {};
}

const tdl_kernel *LoadedObject::kernel(const std::string &name) {
    auto symbol = state->jit->lookup(name + "_descriptor");
    if (!symbol) {
        llvm::consumeError(symbol.takeError());
        return nullptr;
    }
    return symbol->toPtr<const tdl_kernel *>();
}

} // namespace tdl
