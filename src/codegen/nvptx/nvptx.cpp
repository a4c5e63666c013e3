#include "codegen/nvptx/build.h"
#include "codegen/common/element.h"
#include "codegen/common/llvm.h"
#include "codegen/nvptx/plan.h"
#include "codegen/nvptx/ptxas.h"
#include <algorithm>
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
    auto made = buildModule(kern, *target, options, diags);
    if (!made) return std::nullopt;
    optimise(*made->module, *target);
    auto text = emitText(*made->module, *target, diags);
    if (!text) return std::nullopt;
    return Built{std::move(*text), std::move(made->plans)};
}

} // namespace

DeviceModule::DeviceModule() = default;
DeviceModule::~DeviceModule() = default;
DeviceModule::DeviceModule(DeviceModule &&) noexcept = default;

std::optional<DeviceModule> buildModule(const ir::Module &kern, const Target &target, const DeviceOptions &options, Diagnostics &diags) {
    DeviceModule out;
    out.context = std::make_unique<llvm::LLVMContext>();
    out.context->setDiscardValueNames(true);
    out.module = std::make_unique<llvm::Module>("kernels", *out.context);
    prepareModule(*out.module, target);
    int errors = diags.errorCount();
    for (auto &k : kern.top.ops)
        if (auto plan = addPlan(*out.module, *k, diags)) out.plans.push_back(std::move(*plan));
    if (diags.errorCount() > errors) return std::nullopt;
    std::string why;
    llvm::raw_string_ostream stream(why);
    if (llvm::verifyModule(*out.module, &stream)) {
        diags.report({}, Diag::BrokenModule, why);
        return std::nullopt;
    }
    return out;
}

std::optional<std::string> emitPtxText(const ir::Module &kern, const Arch &arch, const DeviceOptions &options, Diagnostics &diags) {
    auto built = build(kern, arch, options, diags);
    if (!built) return std::nullopt;
    return std::move(built->ptx);
}

std::optional<std::string> emitCubin(const ir::Module &kern, const Arch &arch, const DeviceOptions &options, Diagnostics &diags) {
    std::string program = findPtxas(options.ptxas), log;
    if (program.empty()) {
        diags.report({}, Diag::NoPtxas, options.ptxas.empty() ? "it was not found" : "`" + options.ptxas + "` is no program");
        return std::nullopt;
    }
    auto built = build(kern, arch, options, diags);
    if (!built) return std::nullopt;
    std::vector<PtxasJob> jobs{{arch, &built->ptx, {}}};
    if (!runPtxas(program, jobs, options, kern, log, diags)) return std::nullopt;
    return std::move(jobs[0].cubin);
}

// Code for sm_90a runs on sm_90 only, so that later GPUs get the PTX of the oldest architecture, without the a.
std::optional<DeviceCode> compileDevice(const ir::Module &kern, const DeviceOptions &options, Diagnostics &diags) {
    std::vector<Arch> archs = options.archs;
    Arch portable{archs.front().number, false};
    for (const Arch &a : archs) portable.number = std::min(portable.number, a.number);
    std::string program = findPtxas(options.ptxas);
    if (program.empty() && !options.ptxas.empty()) {
        diags.report({}, Diag::NoPtxas, "`" + options.ptxas + "` is no program");
        return std::nullopt;
    }
    bool known = std::find(archs.begin(), archs.end(), portable) != archs.end();
    if (!known) archs.push_back(portable);
    DeviceCode code;
    std::vector<Built> built;
    for (const Arch &a : archs) {
        auto one = build(kern, a, options, diags);
        if (!one) return std::nullopt;
        built.push_back(std::move(*one));
    }
    code.plans = built.front().plans;
    if (program.empty()) {
        diags.report({}, Diag::PtxOnly);
        for (size_t i = 0; i < archs.size(); ++i) code.images.push_back({false, archs[i], std::move(built[i].ptx)});
        return code;
    }
    std::vector<PtxasJob> jobs;
    for (size_t i = 0; i < options.archs.size(); ++i) jobs.push_back({archs[i], &built[i].ptx, {}});
    if (!runPtxas(program, jobs, options, kern, code.log, diags)) return std::nullopt;
    for (PtxasJob &j : jobs) code.images.push_back({true, j.arch, std::move(j.cubin)});
    for (size_t i = 0; i < archs.size(); ++i)
        if (archs[i] == portable) code.images.push_back({false, portable, std::move(built[i].ptx)});
    return code;
}

} // namespace tdl::codegen::nvptx
