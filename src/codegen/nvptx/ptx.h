// Instructions of ptx.def as calls in LLVM IR.
//
//     emitPtx(b, Ptx::LoadRelaxedSys, {p})  -->  call i64 asm sideeffect "ld.relaxed.sys.global.u64 $0, [$1];", "=l,l,~{memory}"(ptr addrspace(1) %p)
//
// LLVM's own atomics lose their order and scope on this target, and the names of its intrinsics change between versions.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace llvm {
class CallInst;
class IRBuilderBase;
class Value;
} // namespace llvm

namespace tdl::codegen::nvptx {

enum class Ptx : uint8_t {
#define PTX(name, text, operands, effects, sm, version) name,
#include "codegen/nvptx/ptx.def"
#undef PTX
    Count
};
struct PtxInfo {
    std::string_view text, operands;
    enum Effects { NONE, READ, WARP, SYNC } effects;
    int sm, version;
};
const PtxInfo &ptxInfo(Ptx);

llvm::CallInst *emitPtx(llvm::IRBuilderBase &, Ptx, const std::vector<llvm::Value *> &operands = {});

} // namespace tdl::codegen::nvptx
