#include "codegen/host/kernel.h"
#include "codegen/common/element.h"
#include "codegen/common/expr.h"
#include "codegen/common/llvm.h"
#include "codegen/host/frame.h"
#include "codegen/host/plan.h"

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

namespace {

// Elements that have no code yet are refused by name, once per operation.
bool checkTypes(const ir::Block &b, Diagnostics &diags) {
    bool ok = true;
    for (auto &op : b.ops) {
        for (auto &r : op->results)
            if (!isSupported(r->type.elem) && (r->type.isTile() || r->type.isMemory())) {
                diags.report(op->loc, Diag::UnsupportedElem, elemName(r->type.elem));
                ok = false;
            }
        for (auto &inside : op->blocks) ok &= checkTypes(*inside, diags);
    }
    return ok;
}

// Where programs wait, in order of their text.
void collectSites(const ir::Block &b, int program, std::vector<WaitSite> &sites) {
    for (auto &op : b.ops) {
        if (op->kind == OpKind::Acquire || op->kind == OpKind::AcquireJoin)
            sites.push_back({program, op->loc});
        for (auto &inside : op->blocks) collectSites(*inside, program, sites);
    }
}

} // namespace

std::optional<PlanCode> addPlan(Module &module, const ir::Op &kern, const Target &target, DebugInfo &debug,
                                Diagnostics &diags) {
    int errors = diags.errorCount();
    if (!checkTypes(kern.body(), diags)) return std::nullopt;
    PlanContext plan{declarationsOf(kern), module, kern, target, debug, diags, {}, {}};
    for (const ir::Op *p : plan.programs) {
        auto panels = [&](const ir::Op &program, Storage &storage, const LengthOf &lengthOf) {
            choosePanels(program, target, storage, lengthOf);
        };
        auto s = assignStorage(*p, panels, diags);
        if (!s) return std::nullopt;
        plan.storage.push_back(std::move(*s));
    }
    std::vector<Function *> programs;
    PlanCode code;
    if (target.withoutCode) {
        for (size_t i = 0; i < plan.programs.size(); ++i)
            collectSites(plan.programs[i]->body(), static_cast<int>(i), plan.sites);
    } else {
        for (size_t i = 0; i < plan.programs.size(); ++i) programs.push_back(emitProgram(plan, i));
        code.run = emitRun(plan, programs);
    }
    code.layout = emitLayout(plan);
    code.sites = std::move(plan.sites);
    if (diags.errorCount() > errors) return std::nullopt;
    return code;
}

Function *addShape(Module &module, const ir::Op &kern, const Target &target, Diagnostics &diags) {
    LLVMContext &c = module.getContext();
    IRBuilder<> b(c);
    auto *type = FunctionType::get(b.getInt64Ty(), {b.getPtrTy(), b.getPtrTy()}, false);
    auto *f = Function::Create(type, GlobalValue::InternalLinkage, kern.symbol + ".shape", module);
    setAttributes(*f, target);
    b.SetInsertPoint(BasicBlock::Create(c, "entry", f));
    Value *shape = f->getArg(0), *out = f->getArg(1);
    auto load = [&](Value *base, int64_t offset, Type *t) -> Value * {
        return b.CreateLoad(t, b.CreateConstGEP1_64(b.getInt8Ty(), base, static_cast<uint64_t>(offset)));
    };
    auto &sizes = kern.names("sizes");
    ExprBuilder builder(b, [&](std::string_view s) -> Value * {
        if (s == "ranks") return load(shape, static_cast<int>(Shape::Ranks), b.getInt64Ty());
        if (s == "rank") return load(shape, static_cast<int>(Shape::Rank), b.getInt64Ty());
        for (size_t i = 0; i < sizes.size(); ++i)
            if (sizes[i] == s)
                return load(load(shape, static_cast<int>(Shape::Sizes), b.getPtrTy()),
                            static_cast<int64_t>(i) * 8, b.getInt64Ty());
        return nullptr;
    });
    auto emit = [&](const ir::Expr &e, Loc loc) -> Value * {
        Value *v = builder.emit(e);
        if (!v) diags.report(loc, Diag::UnknownSymbol, builder.unknown(), kern.symbol);
        return v ? v : b.getInt64(0);
    };
    uint64_t next = 0;
    Value *failed = b.getInt64(static_cast<uint64_t>(-1));
    std::vector<Value *> conditions;
    for (auto &op : kern.body().ops) {
        if (op->kind == OpKind::Tensor)
            for (const ir::Dim &d : op->dims())
                b.CreateStore(emit(d.extent, op->loc), b.CreateConstGEP1_64(b.getInt64Ty(), out, next++));
        if (op->kind == OpKind::Require)
            conditions.push_back(b.CreateICmpNE(emit(op->expr("cond"), op->loc), b.getInt64(0)));
    }
    for (size_t i = conditions.size(); i-- > 0;)
        failed = b.CreateSelect(conditions[i], failed, b.getInt64(i));
    b.CreateRet(failed);
    return f;
}

} // namespace tdl::codegen
