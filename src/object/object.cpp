#include "object/object.h"
#include "codegen/common/llvm.h"
#include "codegen/host/debug_info.h"
#include "ir/text.h"
#include "object/descriptor.h"
#include "object/device.h"
#include <algorithm>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

namespace tdl {

namespace {

std::string withoutFolders(const std::string &path) {
    return path.substr(path.rfind('/') + 1);
}

void forgetLocations(ir::Op &op) {
    op.loc = op.text = {};
    for (auto &b : op.blocks)
        for (auto &inside : b->ops) forgetLocations(*inside);
}

/// What all plans of a kernel share, as text: its sizes, arguments and conditions.
std::string interfaceOf(const ir::Op &kern) {
    std::string out = ir::printAttr(kern.names("sizes"));
    for (auto &op : kern.body().ops)
        if (op->kind == ir::OpKind::Tensor || op->kind == ir::OpKind::Param ||
            op->kind == ir::OpKind::Require) {
            for (auto &[name, value] : op->attrs()) out += " " + name + " = " + ir::printAttr(value);
            for (auto &r : op->results) out += " : " + r->type.str();
        }
    return out;
}

/// The kernels of a module with their plans, in order of appearance.
std::optional<std::vector<KernelCode>> collect(const ir::Module &m, Diagnostics &diags) {
    std::vector<KernelCode> kernels;
    bool ok = true;
    for (auto &op : m.top.ops) {
        auto same =
            std::find_if(kernels.begin(), kernels.end(), [&](auto &k) { return k.name == op->symbol; });
        if (same == kernels.end()) {
            kernels.emplace_back();
            same = std::prev(kernels.end());
            same->name = op->symbol;
            for (const ir::SourceRef &s : m.sources)
                if (s.file == op->loc.file) same->source = withoutFolders(s.name);
        }
        if (!same->plans.empty() && interfaceOf(*same->plans[0]) != interfaceOf(*op)) {
            diags.report(op->loc, Diag::PlansDiffer, op->symbol, "sizes, arguments or conditions")
                .note(same->plans[0]->loc, "the first plan is here");
            ok = false;
        }
        for (const ir::Op *other : same->plans)
            if (other->name("plan") == op->name("plan")) {
                diags.report(op->loc, Diag::PlanTwice, op->symbol, op->name("plan"))
                    .note(other->loc, "the first is here");
                ok = false;
            }
        same->plans.push_back(op.get());
    }
    if (!ok) return std::nullopt;
    return kernels;
}

/// One module in LLVM IR, optimised; its context lives as long as it does.
struct Compiled {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module;
    std::optional<codegen::Target> target;
};

/// The entries of a kernel's plans; a plan without one has not been compiled for a device.
bool addDevice(Compiled &c, KernelCode &k, const codegen::DeviceCode &device, llvm::Constant *images,
               Diagnostics &diags) {
    for (const ir::Op *plan : k.plans) {
        auto same = std::find_if(device.plans.begin(), device.plans.end(),
                                 [&](auto &p) { return p.kernel == k.name && p.plan == plan->name("plan"); });
        if (same == device.plans.end()) return false;
        k.entries.push_back(
            {same->entry, addDeviceWorkspace(*c.module, *plan, same->workspace, *c.target, diags)});
    }
    k.images = images;
    k.imageCount = static_cast<int>(device.images.size());
    return true;
}

bool compile(Compiled &c, const ir::Module &kern, const codegen::HostOptions &options, Diagnostics &diags,
             const codegen::DeviceCode *device = nullptr) {
    c.target = codegen::makeTarget(options, diags);
    auto kernels = collect(kern, diags);
    if (!c.target || !kernels) return false;
    c.context.setDiscardValueNames(true);
    std::string file = kern.sources.empty() ? "kernels" : withoutFolders(kern.sources.front().name);
    c.module = std::make_unique<llvm::Module>(file, c.context);
    codegen::prepareModule(*c.module, *c.target);
    codegen::DebugInfo debug(*c.module, kern, *c.target);
    bool ok = true;
    llvm::Constant *images =
        device && !device->images.empty() ? addImages(*c.module, device->images) : nullptr;
    for (KernelCode &k : *kernels) {
        for (const ir::Op *plan : k.plans) {
            auto code = codegen::addPlan(*c.module, *plan, *c.target, debug, diags);
            ok &= code.has_value();
            if (code) k.code.push_back(std::move(*code));
        }
        if (!ok) continue;
        k.shape = codegen::addShape(*c.module, *k.plans.front(), *c.target, diags);
        k.identity = identityOf(k.plans);
        k.cpuLevel = c.target->level;
        if (device && !addDevice(c, k, *device, images, diags)) return false;
        addDescriptor(*c.module, k, *c.target);
    }
    if (!ok || diags.hasErrors()) return false;
    debug.finish();
    std::string why;
    llvm::raw_string_ostream stream(why);
    if (llvm::verifyModule(*c.module, &stream)) {
        diags.report({}, Diag::BrokenModule, why);
        return false;
    }
    codegen::optimise(*c.module, *c.target);
    return true;
}

} // namespace

uint64_t identityOf(const std::vector<const ir::Op *> &plans) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const ir::Op *p : plans) {
        ir::ValueMap map;
        auto copy = ir::clone(*p, map);
        forgetLocations(*copy);
        for (unsigned char ch : ir::print(*copy)) hash = (hash ^ ch) * 0x100000001b3;
    }
    return hash;
}

std::optional<std::string> emitObject(const ir::Module &kern, const codegen::HostOptions &o,
                                      Diagnostics &diags, const codegen::DeviceCode *device) {
    Compiled c;
    if (!compile(c, kern, o, diags, device)) return std::nullopt;
    return codegen::emitFile(*c.module, *c.target, codegen::FileKind::Object, diags);
}

std::optional<std::string> emitAssembly(const ir::Module &kern, const codegen::HostOptions &o,
                                        Diagnostics &diags) {
    Compiled c;
    if (!compile(c, kern, o, diags)) return std::nullopt;
    return codegen::emitFile(*c.module, *c.target, codegen::FileKind::Assembly, diags);
}

std::optional<std::string> emitLLVM(const ir::Module &kern, const codegen::HostOptions &o,
                                    Diagnostics &diags) {
    Compiled c;
    if (!compile(c, kern, o, diags)) return std::nullopt;
    std::string text;
    llvm::raw_string_ostream stream(text);
    c.module->print(stream, nullptr);
    return text;
}

std::string llvmVersion() {
    return LLVM_VERSION_STRING;
}

} // namespace tdl
