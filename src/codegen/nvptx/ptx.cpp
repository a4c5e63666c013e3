#include "codegen/nvptx/ptx.h"
#include "codegen/common/llvm.h"
#include <llvm/IR/InlineAsm.h>
#include <string>

namespace tdl::codegen::nvptx {
using namespace llvm;

namespace {

#define NONE PtxInfo::NONE
#define READ PtxInfo::READ
#define WARP PtxInfo::WARP
#define SYNC PtxInfo::SYNC
constexpr PtxInfo kInfo[] = {
#define PTX(name, text, operands, effects, sm, version) {text, operands, effects, sm, version},
#include "codegen/nvptx/ptx.def"
#undef PTX
};
#undef NONE
#undef READ
#undef WARP
#undef SYNC

Type *typeOf(LLVMContext &c, char constraint) {
    switch (constraint) {
    case 'l': return Type::getInt64Ty(c);
    case 'f': return Type::getFloatTy(c);
    case 'd': return Type::getDoubleTy(c);
    default: return Type::getInt32Ty(c);
    }
}

} // namespace

const PtxInfo &ptxInfo(Ptx p) { return kInfo[static_cast<size_t>(p)]; }

CallInst *emitPtx(IRBuilderBase &b, Ptx p, const std::vector<Value *> &operands) {
    const PtxInfo &info = ptxInfo(p);
    LLVMContext &c = b.getContext();
    std::vector<Type *> results, types;
    for (size_t i = 0; i < info.operands.size(); ++i)
        if (info.operands[i] == '=') results.push_back(typeOf(c, info.operands[i + 1]));
    for (Value *v : operands) types.push_back(v->getType());
    Type *result = results.empty() ? b.getVoidTy() : results.size() == 1 ? results[0] : StructType::get(c, results);
    std::string constraints(info.operands);
    if (info.effects == PtxInfo::SYNC) constraints += constraints.empty() ? "~{memory}" : ",~{memory}";
    auto *type = FunctionType::get(result, types, false);
    auto *text = InlineAsm::get(type, info.text, constraints, info.effects != PtxInfo::NONE);
    CallInst *call = b.CreateCall(type, text, operands);
    call->setDoesNotThrow();
    // Without this, passes put a barrier into both arms of a branch, or copy the loop around it.
    if (info.effects == PtxInfo::SYNC || info.effects == PtxInfo::WARP) call->setConvergent();
    return call;
}

} // namespace tdl::codegen::nvptx
