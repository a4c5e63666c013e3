// Modules and kernels: declares names, lowers kernel by kernel, asks the questions of analysis.h.
#include "sema/check.h"
#include "sema/analysis.h"
#include "sema/lower.h"
#include "tile/verify.h"

namespace tdl {

using namespace sema;

namespace {

void beginKernel(Context &ctx, const ast::Kernel &k, ir::Module &module) {
    auto op = std::make_unique<ir::Op>(ir::OpKind::Kernel, k.name.loc);
    op->symbol = k.name.text;
    op->set("sizes", std::vector<std::string>{});
    op->set("tiles", std::vector<ir::Bind>{});
    if (!k.doc.empty()) op->set("doc", k.doc);
    op->addBlock();
    ctx.kernel = module.top.append(std::move(op));
    ctx.tensors.clear();
    ctx.axes.clear();
    ctx.axisNames.clear();
    ctx.facts = Facts();
    ctx.whole = true;
    ctx.scopes.unused.clear();
}

void items(Context &ctx, const ast::Kernel &k) {
    std::map<std::string, Loc> labels;
    auto label = [&](const ast::Name &name) {
        auto [it, fresh] = labels.emplace(name.text, name.loc);
        if (!fresh)
            ctx.report(name.loc, Diag::DeclaredTwice, name.text).note(it->second, "first declared here");
    };
    struct Visitor {
        Context &ctx;
        Loc loc;
        decltype(label) &named;
        void operator()(const ast::Define &d) { define(ctx, d); }
        void operator()(const ast::Require &r) { require(ctx, r); }
        void operator()(const ast::Local &l) { declareLocal(ctx, l); }
        void operator()(const ast::Stage &s) {
            named(s.name);
            stage(ctx, s);
        }
        void operator()(const ast::StageCall &s) {
            named(s.name);
            ctx.report(s.kernel.loc, Diag::NotBuilt, "a kernel as a stage");
        }
        void operator()(const ast::Repeat &) { ctx.report(loc, Diag::NotBuilt, "`repeat`"); }
    };
    for (const ast::KernelItem &item : k.items) std::visit(Visitor{ctx, item.loc, label}, item.node);
}

void kernel(Context &ctx, const ast::Kernel &k, ir::Module &module) {
    if (!k.mesh.empty()) {
        ctx.report(k.mesh[0].loc, Diag::NotBuilt, "`on mesh(...)`");
        return;
    }
    int errors = ctx.diags.errorCount();
    beginKernel(ctx, k, module);
    {
        Scoped scope(ctx.scopes);
        declareSizes(ctx, k);
        for (const ast::Param &p : k.params) declareParam(ctx, p);
        items(ctx, k);
    }
    if (ctx.diags.errorCount() > errors || !ctx.whole) return;
    checkTeams(ctx, *ctx.kernel);
    checkWriters(ctx, *ctx.kernel);
    checkCoverage(ctx, *ctx.kernel);
    if (ctx.diags.errorCount() > errors) return;
    for (const ast::Name &n : ctx.scopes.unused) ctx.report(n.loc, Diag::UnusedName, n.text);
}

// Names of the module first: kernels may stand before what they use.
void declareModule(Context &ctx, const ast::Module &m) {
    auto named = [&](const ast::Name &name) {
        auto [it, fresh] = ctx.functions.emplace(name.text, name.loc);
        if (!fresh)
            ctx.report(name.loc, Diag::DeclaredTwice, name.text).note(it->second, "first declared here");
    };
    struct Visitor {
        Context &ctx;
        decltype(named) &function;
        void operator()(const ast::Import &i) { ctx.report(i.pathLoc, Diag::NotBuilt, "`import`"); }
        void operator()(const ast::TypeAlias &a) { declareAlias(ctx, a); }
        void operator()(const ast::Define &d) { define(ctx, d); }
        void operator()(const ast::Fn &f) {
            ctx.report(f.name.loc, Diag::NotBuilt, "`fn`");
            function(f.name);
        }
        void operator()(const ast::Kernel &k) { function(k.name); }
        void operator()(const ast::Schedule &s) { ctx.report(s.kernel.loc, Diag::NotBuilt, "`schedule`"); }
    };
    for (const ast::Item &item : m.items) std::visit(Visitor{ctx, named}, item.node);
}

} // namespace

std::unique_ptr<ir::Module> check(const ast::Module &m, const CheckOptions &options, Diagnostics &diags) {
    int errors = diags.errorCount();
    auto module = std::make_unique<ir::Module>();
    module->sources.push_back({diags.sources()[m.file].name, m.file});
    Context ctx(diags, options.defines);
    declareModule(ctx, m);
    bool any = false;
    for (const ast::Item &item : m.items)
        if (const auto *k = ast::get<ast::Kernel>(item)) {
            any = true;
            kernel(ctx, *k, *module);
        }
    if (!any) diags.report({m.file, 0, 0, 1}, Diag::NoKernel);
    for (auto &[name, value] : options.defines)
        if (!ctx.usedDefines.contains(name)) diags.report({}, Diag::NoDefine, name);
    if (diags.errorCount() > errors || !tile::verify(*module, diags)) return nullptr;
    return module;
}

} // namespace tdl
