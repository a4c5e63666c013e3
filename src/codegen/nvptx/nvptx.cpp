#include "codegen/nvptx/nvptx.h"
#include "codegen/common/element.h"
#include "codegen/common/llvm.h"
#include "codegen/nvptx/plan.h"
#include "codegen/nvptx/target.h"
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

namespace tdl::codegen::nvptx {
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

std::optional<DevicePlan> addPlan(llvm::Module &module, const ir::Op &kern, Diagnostics &diags) {
    if (!checkTypes(kern.body(), diags)) return std::nullopt;
    PlanContext plan(module, kern, diags);
    if (plan.heaps >= plan.words) {
        diags.report(kern.loc, Diag::TooManyWords, kern.symbol, plan.heaps);
        return std::nullopt;
    }
    for (const ir::Op *p : plan.decls.programs) {
        auto placed = place(*p, diags);
        if (!placed) return std::nullopt;
        plan.placements.push_back(std::move(*placed));
    }
    emitEntry(plan);
    return DevicePlan{kern.symbol, kern.name("plan"), plan.entryName(), plan.workspace()};
}

struct Built {
    std::string ptx;
    std::vector<DevicePlan> plans;
};
std::optional<Built> build(const ir::Module &kern, const Arch &arch, const DeviceOptions &options, Diagnostics &diags) {
    auto target = makeTarget(arch, options.optimise, diags);
    if (!target) return std::nullopt;
    llvm::LLVMContext context;
    context.setDiscardValueNames(true);
    llvm::Module module("kernels", context);
    prepareModule(module, *target);
    Built out;
    int errors = diags.errorCount();
    for (auto &k : kern.top.ops)
        if (auto plan = addPlan(module, *k, diags)) out.plans.push_back(std::move(*plan));
    if (diags.errorCount() > errors) return std::nullopt;
    std::string why;
    llvm::raw_string_ostream stream(why);
    if (llvm::verifyModule(module, &stream)) {
        diags.report({}, Diag::BrokenModule, why);
        return std::nullopt;
    }
    optimise(module, *target);
    auto text = emitText(module, *target, diags);
    if (!text) return std::nullopt;
    out.ptx = std::move(*text);
    return out;
}

} // namespace

std::optional<std::string> emitPtxText(const ir::Module &kern, const Arch &arch, const DeviceOptions &options, Diagnostics &diags) {
    auto built = build(kern, arch, options, diags);
    if (!built) return std::nullopt;
    return std::move(built->ptx);
}

} // namespace tdl::codegen::nvptx
