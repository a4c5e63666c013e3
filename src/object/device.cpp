#include "object/device.h"
#include "codegen/common/expr.h"
#include "codegen/common/llvm.h"
#include "codegen/host/frame.h"
#include <tdl/abi.h>

namespace tdl {
using namespace llvm;
using codegen::Shape;

static_assert(sizeof(tdl_image) == 32);

Constant *addImages(Module &module, const std::vector<codegen::DeviceImage> &images) {
    LLVMContext &c = module.getContext();
    auto i32 = [&](int v) { return ConstantInt::getSigned(Type::getInt32Ty(c), v); };
    auto global = [&](Constant *init, uint64_t align) {
        auto *g = new GlobalVariable(module, init->getType(), true, GlobalValue::PrivateLinkage, init, "device");
        g->setAlignment(Align(align));
        return g;
    };
    std::vector<Constant *> rows;
    for (const codegen::DeviceImage &i : images) {
        Constant *data = ConstantDataArray::getString(c, i.bytes, !i.cubin); // PTX ends with a NUL
        rows.push_back(ConstantStruct::getAnon(c, {i32(i.cubin ? TDL_IMAGE_CUBIN : TDL_IMAGE_PTX), i32(i.arch.number), i32(i.arch.specific), i32(0),
                                                   global(data, 64), ConstantInt::get(Type::getInt64Ty(c), i.bytes.size() + (i.cubin ? 0 : 1))}));
    }
    return global(ConstantArray::get(ArrayType::get(rows.front()->getType(), rows.size()), rows), 8);
}

Function *addDeviceWorkspace(Module &module, const ir::Op &kern, const ir::Expr &bytes, const codegen::Target &target, Diagnostics &diags) {
    IRBuilder<> b(module.getContext());
    auto *f = Function::Create(FunctionType::get(b.getInt64Ty(), {b.getPtrTy()}, false), GlobalValue::InternalLinkage,
                               kern.symbol + "." + kern.name("plan") + ".device_workspace", module);
    codegen::setAttributes(*f, target);
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", f));
    auto field = [&](Value *base, int64_t offset, Type *t) -> Value * {
        return b.CreateLoad(t, b.CreateConstGEP1_64(b.getInt8Ty(), base, static_cast<uint64_t>(offset)));
    };
    auto of = [&](Shape s, Type *t) { return field(f->getArg(0), static_cast<int64_t>(s), t); };
    const auto &sizes = kern.names("sizes");
    codegen::ExprBuilder builder(b, [&](std::string_view s) -> Value * {
        if (s == "ranks") return of(Shape::Ranks, b.getInt64Ty());
        if (s == "rank") return of(Shape::Rank, b.getInt64Ty());
        for (size_t i = 0; i < sizes.size(); ++i)
            if (sizes[i] == s) return field(of(Shape::Sizes, b.getPtrTy()), static_cast<int64_t>(i) * 8, b.getInt64Ty());
        return nullptr;
    });
    builder.watchOverflow();
    Value *v = builder.emit(bytes);
    if (!v) {
        diags.report(kern.loc, Diag::UnknownSymbol, builder.unknown(), kern.symbol);
        v = b.getInt64(0);
    }
    Value *bad = b.CreateOr(builder.overflowed(), b.CreateICmpSLT(v, b.getInt64(0)));
    b.CreateRet(b.CreateSelect(bad, b.getInt64(INT64_MAX), v));
    return f;
}

} // namespace tdl
