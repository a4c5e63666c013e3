// The table of contents of the compiler: parse, check, plan, lower, generate. Between the calls: what holds there.
#include "driver/pipeline.h"
#include "codegen/nvptx/nvptx.h"
#include "driver/files.h"
#include "driver/version.h"
#include "ir/names.h"
#include "ir/text.h"
#include "kernel/lower.h"
#include "kernel/verify.h"
#include "object/header.h"
#include "object/object.h"
#include "plan/derive/derive.h"
#include "plan/verify/verify.h"
#include "sema/check.h"
#include "syntax/parse.h"
#include "syntax/print.h"
#include "tile/verify.h"
#include <algorithm>
#include <chrono>

namespace tdl {
namespace {

constexpr std::string_view kStepNames[] = {"ast", "tile", "plan", "kernel", "header", "llvm", "asm", "ptx", "cubin", "obj"};

codegen::HostOptions hostOptions(const Options &o) {
    codegen::HostOptions h;
    h.triple = o.hostTriple;
    h.optimise = o.optLevel;
    h.debugInfo = o.debugInfo;
    h.cpu = o.cpu == "x86-64"      ? codegen::CpuLevel::V1
            : o.cpu == "x86-64-v2" ? codegen::CpuLevel::V2
            : o.cpu == "x86-64-v4" ? codegen::CpuLevel::V4
            : o.cpu == "native"    ? codegen::CpuLevel::Native
                                   : codegen::CpuLevel::V3;
    return h;
}

codegen::nvptx::DeviceOptions deviceOptions(const Options &o) {
    codegen::nvptx::DeviceOptions d;
    for (const std::string &a : archNames(o)) d.archs.push_back(*codegen::nvptx::parseArch(a));
    d.optimise = o.optLevel;
    d.debugInfo = o.debugInfo;
    d.ptxas = o.ptxas;
    return d;
}

class Pipeline {
public:
    Pipeline(Compilation &c, const Options &o, Step last) : c(c), options(o), last(last) {}

    bool run(const std::string &path, std::string text) {
        auto first = entry(path, text);
        if (!first) return false;
        if (*first > last) {
            c.diags.report({}, Diag::StageBehind, stepName(last), path);
            return false;
        }
        int file = c.sources.add(path == "-" ? "<stdin>" : path, std::move(text), path != "-");
        if (*first == Step::Ast) {
            if (!front(file)) return false;
            if (last == Step::Ast) return true;
        } else if (!enter(*first, file)) {
            return false;
        }
        return back();
    }

private:
    Compilation &c;
    const Options &options;
    Step last;

    // ---- Looking inside ------------------------------------------------------------------------------------------------
    static bool wantsDump(const std::vector<std::string> &list, Step s) {
        return std::find(list.begin(), list.end(), stepName(s)) != list.end();
    }
    static std::string heading(std::string_view what) { return fmt::format("// ---- {} ----\n", what); }
    template <class F> void dumpAfter(Step s, F &&text) {
        if (wantsDump(options.dumpAfter, s)) c.log += heading(fmt::format("after {}", stepName(s))) + text();
    }
    template <class F> void dumpBefore(Step s, F &&text) {
        if (wantsDump(options.dumpBefore, s)) c.log += heading(fmt::format("before {}", stepName(s))) + text();
    }
    template <class F> auto timed(const char *what, F &&f) {
        auto start = std::chrono::steady_clock::now();
        auto result = f();
        std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
        if (options.timePasses) c.log += fmt::format("{:8.2f} ms  {}\n", ms.count(), what);
        return result;
    }

    /// The step that an input stands at, by its extension; an IR module's first line must agree.
    std::optional<Step> entry(const std::string &path, const std::string &text) {
        std::string ext = path == "-" ? ".tdl" : extensionOf(path);
        constexpr std::pair<std::string_view, Step> known[] = {
            {".tdl", Step::Ast}, {".tile", Step::Tile}, {".plan", Step::Plan}, {".kern", Step::Kernel}};
        for (auto &[e, step] : known)
            if (ext == e) return step;
        c.diags.report({}, Diag::UnknownExtension, path);
        return std::nullopt;
    }

    bool front(int file) {
        if (!timed("parse", [&] { return bool(c.syntax = parse(c.sources, file, c.diags)); })) return false;
        // The tree says what was written; nothing in it has a meaning yet.
        dumpAfter(Step::Ast, [&] { return print(*c.syntax); });
        if (last == Step::Ast) return c.text = print(*c.syntax), true;

        CheckOptions check;
        for (const std::string &d : options.defines) {
            size_t eq = d.find('=');
            check.defines.emplace_back(d.substr(0, eq), d.substr(eq + 1));
        }
        dumpBefore(Step::Tile, [&] { return print(*c.syntax); });
        if (!timed("check", [&] { return bool(c.tile = tdl::check(*c.syntax, check, c.diags)); })) return false;
        return settle(Step::Tile, c.tile);
    }

    /// An IR file: from text to a module that its verifier accepts.
    bool enter(Step step, int file) {
        auto &slot = step == Step::Tile ? c.tile : step == Step::Plan ? c.plan : c.kernel;
        slot = ir::parse(c.sources, file, c.diags);
        if (!slot) return false;
        if (slot->stage != stageOf(step)) {
            c.diags.report(Loc{file, 1, 1, 1}, Diag::WrongStageText, c.sources[file].name, ir::stageName(slot->stage), ir::stageName(stageOf(step)));
            return false;
        }
        return settle(step, slot);
    }

    bool back() {
        if (last == Step::Tile) return c.text = ir::print(*c.tile), true;
        if (c.tile) {
            // Every name is resolved, every type known, the rules of the language that can be decided have been.
            dumpBefore(Step::Plan, [&] { return ir::print(*c.tile); });
            if (!timed("derive", [&] { return bool(c.plan = plan::derive(*c.tile, {}, c.diags)); })) return false;
            if (!settle(Step::Plan, c.plan)) return false;
        }
        if (last == Step::Plan) return c.text = ir::print(*c.plan), true;
        if (c.plan) {
            // Who moves what and waits for whom is fixed; from here on nothing is decided about other ranks.
            dumpBefore(Step::Kernel, [&] { return ir::print(*c.plan); });
            if (!timed("lower", [&] { return bool(c.kernel = kernel::lower(*c.plan, {}, c.diags)); })) return false;
            if (!settle(Step::Kernel, c.kernel)) return false;
        }
        // Addresses, bounds, tokens and scopes are explicit: code generation decides about registers only.
        if (last == Step::Kernel) return c.text = ir::print(*c.kernel), true;
        auto header = timed("header", [&] { return object::header(*c.kernel, c.diags); });
        if (!header) return false;
        c.header = std::move(*header);
        if (last == Step::Header) return true;
        return generate();
    }

    bool generate() {
        dumpBefore(Step::Llvm, [&] { return ir::print(*c.kernel); });
        codegen::HostOptions host = hostOptions(options);
        if (wantsDump(options.dumpAfter, Step::Llvm) || wantsDump(options.dumpBefore, Step::Object))
            if (auto text = emitLLVM(*c.kernel, host, c.diags)) c.log += heading("llvm") + *text;
        codegen::nvptx::DeviceOptions forDevice = deviceOptions(options);
        std::optional<codegen::DeviceCode> device;
        if (last == Step::Object && options.target != "host") {
            // One entry per plan and architecture, from the same kernel IR.
            if (!timed("device", [&] { return bool(device = codegen::nvptx::compileDevice(*c.kernel, forDevice, c.diags)); })) return false;
            if (options.timePasses || options.verbose) c.log += device->log;
        }
        host.withoutCode = options.target == "cuda";
        auto made = timed("generate", [&] {
            return last == Step::Llvm  ? emitLLVM(*c.kernel, host, c.diags)
                   : last == Step::Asm ? emitAssembly(*c.kernel, host, c.diags)
                   : last == Step::Ptx ? emitPtxText(*c.kernel, forDevice.archs.back(), forDevice, c.diags)
                   : last == Step::Cubin ? emitCubin(*c.kernel, forDevice.archs.back(), forDevice, c.diags)
                                       : emitObject(*c.kernel, host, c.diags, device ? &*device : nullptr);
        });
        if (!made) return false;
        c.text = std::move(*made);
        return true;
    }

    /// What holds after each step: the module's verifier accepts it; with --via-text, so does that of its text.
    bool settle(Step step, std::unique_ptr<ir::Module> &module) {
        if (!verify(step, *module)) return false;
        ir::settleNames(*module); // later stages name things after values; a module from text has these names, too
        dumpAfter(step, [&] { return ir::print(*module); });
        if (!options.viaText) return true;
        std::string text = ir::print(*module);
        module = ir::parse(c.sources, c.sources.add(fmt::format("<{}>", stepName(step)), text), c.diags);
        if (!module || !verify(step, *module)) return false;
        if (ir::print(*module) == text) return true;
        c.diags.report({}, Diag::NotTheSameText, stepName(step));
        return false;
    }
    bool verify(Step step, const ir::Module &m) {
        return timed("verify", [&] {
            switch (step) {
            case Step::Tile: return tile::verify(m, c.diags);
            case Step::Plan: return plan::verify(m, c.diags);
            default: return kernel::verify(m, c.diags);
            }
        });
    }

    static ir::Stage stageOf(Step s) {
        return s == Step::Tile ? ir::Stage::Tile : s == Step::Plan ? ir::Stage::Plan : ir::Stage::Kernel;
    }
};

} // namespace

std::string_view stepName(Step s) { return kStepNames[static_cast<size_t>(s)]; }

std::optional<Step> findStep(std::string_view kind) {
    for (size_t i = 0; i < std::size(kStepNames); ++i)
        if (kStepNames[i] == kind) return static_cast<Step>(i);
    return std::nullopt;
}

bool compile(Compilation &c, const Options &options, const std::string &path, std::string text, Step last) {
    return Pipeline(c, options, last).run(path, std::move(text)) && !c.diags.hasErrors();
}

std::string versionText() { return fmt::format("{} (LLVM {})", TDL_VERSION, llvmVersion()); }

std::string targetsText() {
    return "host    x86-64 at level x86-64, x86-64-v2, x86-64-v3 or x86-64-v4, or aarch64 (--host-triple)\n"
           "cuda    sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_120 and others of the GPUs since (--arch)\n";
}

} // namespace tdl
