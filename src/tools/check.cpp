// The parent compiles, loads the object and runs the interpreter; the ranks are forked after that and so find the code and
// the reference in their memory. Each runs all shapes in one context and compares its own part.
#include "tools/check.h"
#include "driver/files.h"
#include "driver/pipeline.h"
#include "interp/agree.h"
#include "tools/arguments.h"
#include "tools/load.h"
#include <charconv>
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace tdl {
namespace {

/// One shape with one kind of data: the arguments before the launch, and what they should be after it.
struct Case {
    std::string title;
    interp::DataMode mode;
    interp::Launch before, after;
};

/// Compiles a file up to `last`; 0, or the exit status that its errors mean.
int compileTo(Compilation &c, const Options &o, const std::string &file, Step last) {
    auto text = readInput(file, c.diags);
    bool ok = text && compile(c, o, file, std::move(*text), last);
    std::fputs(c.log.c_str(), stderr);
    std::fputs(renderText(c.diags, ::isatty(2)).c_str(), stderr);
    return ok ? 0 : text ? kExitFailed : kExitEnvironment;
}

std::string counted(size_t n, const char *what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

/// The kernel called `name`, or the only one; nullptr with a message.
const ir::Op *findKernel(const ir::Module &m, std::string &name) {
    const ir::Op *found = nullptr;
    std::string all;
    for (auto &op : m.top.ops) {
        all += (all.empty() ? "" : ", ") + op->symbol;
        if (op->symbol == name || (name.empty() && m.top.ops.size() == 1)) found = op.get();
    }
    if (!found && name.empty())
        std::fprintf(stderr, "tdlrun: error: which kernel? Write FILE:KERNEL; the kernels are: %s\n", all.c_str());
    else if (!found)
        std::fprintf(stderr, "tdlrun: error: there is no kernel `%s`; the kernels are: %s\n", name.c_str(), all.c_str());
    else
        name = found->symbol;
    return found;
}

bool parseInt(const std::string &s, int64_t &v) {
    auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
    return error == std::errc() && end == s.data() + s.size();
}

class Checker {
public:
    Checker(const CheckRun &r) : run(r) {}

    int operator()() {
        std::string kernelName = run.kernel;
        Compilation object;
        if (int status = compileTo(object, run.compile, run.file, Step::Object)) return status;
        Compilation referenceCompilation;
        const ir::Module *tile = object.tile.get();
        if (!run.reference.empty()) {
            if (int status = compileTo(referenceCompilation, run.compile, run.reference, Step::Tile)) return status;
            tile = referenceCompilation.tile.get();
        }
        if (!tile) return usage("a .plan or .kern file needs --reference=FILE.tdl: the interpreter runs the program itself");
        kernel = findKernel(*tile, kernelName);
        if (!kernel) return kExitUsage;
        LoadedObject loaded;
        std::string wrong = loaded.load(object.text);
        if (!wrong.empty()) return std::fprintf(stderr, "tdlrun: error: cannot load the object: %s\n", wrong.c_str()), kExitEnvironment;
        descriptor = loaded.kernel(kernelName);
        if (!descriptor) return usage("the object has no kernel `" + kernelName + "`");
        for (const Shape &shape : run.shapes)
            for (interp::DataMode mode : {interp::DataMode::Exact, interp::DataMode::Real})
                if (mode == interp::DataMode::Exact ? run.exact : run.real)
                    if (int status = addCase(shape, mode)) return status;
        int status = launchRanks(run.launch, [&](int rank) { return rankMain(rank); });
        if (status == 0)
            std::printf("%s: %s on %s: %s\n", kernelName.c_str(), counted(cases.size(), "case").c_str(),
                        counted(static_cast<size_t>(run.launch.ranks), "rank").c_str(),
                        run.check ? "all as the reference" : "done");
        return status;
    }

private:
    const CheckRun &run;
    const ir::Op *kernel = nullptr;
    const tdl_kernel *descriptor = nullptr;
    std::vector<Case> cases;

    static int usage(const std::string &what) {
        std::fprintf(stderr, "tdlrun: error: %s\n", what.c_str());
        return kExitUsage;
    }

    int addCase(const Shape &shape, interp::DataMode mode) {
        Case c;
        c.mode = mode;
        interp::Launch &l = c.before;
        l.ranks = run.launch.ranks;
        interp::DataSource source{mode, run.seed, 1};
        const auto &sizes = kernel->names("sizes");
        for (const std::string &s : sizes) {
            auto it = shape.find(s);
            if (it == shape.end()) return usage(fmt::format("size `{}` of `{}` has no value: add {}=...", s, kernel->symbol, s));
            if (!parseInt(it->second, l.sizes[s])) return usage(fmt::format("`{}={}`: a size is an integer", s, it->second));
            c.title += fmt::format("{}{}={}", c.title.empty() ? "" : " ", s, it->second);
        }
        for (auto &op : kernel->body().ops)
            if (op->kind == ir::OpKind::Param) {
                auto it = shape.find(op->name());
                Elem elem = op->result()->type.elem;
                if (it == shape.end())
                    l.scalars[op->name()] = interp::generateScalar(op->name(), elem, source);
                else if (isFloat(elem))
                    l.scalars[op->name()] = std::strtod(it->second.c_str(), nullptr);
                else if (int64_t v = 0; parseInt(it->second, v))
                    l.scalars[op->name()] = v;
                else
                    return usage(fmt::format("`{}={}`: it is of type {}", op->name(), it->second, elemName(elem)));
            }
        for (auto &[name, value] : shape)
            if (!l.sizes.contains(name) && !l.scalars.contains(name)) return usage(fmt::format("`{}` has no size or scalar parameter `{}`", kernel->symbol, name));
        c.title += mode == interp::DataMode::Exact ? " exact" : " real";

        Sources none;
        Diagnostics diags(none);
        bool ok = false;
        try {
            ok = interp::prepare(*kernel, l, diags);
        } catch (const std::exception &) { // bad_alloc, length_error: the interpreter holds all of every tensor
            return usage(fmt::format("{}: the tensors are too large to be generated and compared here", c.title));
        }
        if (ok) {
            auto scales = interp::inputScales(*kernel, l);
            for (interp::Tensor &t : l.tensors)
                if (auto it = scales.find(t.name); it != scales.end()) {
                    source.scale = it->second;
                    interp::fill(t, source);
                }
            c.after = c.before;
            // Also with other cuts and orders: a program whose result depends on them is wrong, not the compiler.
            ok = !run.check || interp::runVaried(*kernel, c.after, mode, run.seed, 1, diags);
        }
        if (!ok) {
            std::fprintf(stderr, "%s %s: the reference interpreter says:\n%s", kernel->symbol.c_str(), c.title.c_str(), renderText(diags, false).c_str());
            return kExitFailed;
        }
        cases.push_back(std::move(c));
        return 0;
    }

    int rankMain(int rank) {
        tdl_ctx *ctx = nullptr;
        if (run.device != "host")
            if (std::string wrong = gpu.open(run.device, rank); !wrong.empty()) return noGpu(rank, wrong);
        if (tdl_status s = tdl_init(&ctx, nullptr)) return failed(rank, "tdl_init", s, nullptr);
        int status = 0;
        for (const Case &c : cases) // scratch for the largest shape, once: launches reserve nothing
            if (tdl_status s = tdl_prepare(ctx, descriptor, Arguments(*descriptor, c.before, rank).data())) return failed(rank, c.title.c_str(), s, ctx);
        for (const Case &c : cases) {
            status = std::max(status, oneCase(ctx, rank, c));
            if (aborted) break;
        }
        if (tdl_status s = tdl_finalize(ctx); s && status == 0) status = failed(rank, "tdl_finalize", s, nullptr);
        return status;
    }

    bool aborted = false;
    Gpu gpu;
    int oneCase(tdl_ctx *ctx, int rank, const Case &c) {
        Arguments args(*descriptor, c.before, rank, run.device == "host" ? nullptr : &gpu);
        if (!args.error().empty()) return noGpu(rank, args.error());
        tdl_status s = tdl_launch(ctx, descriptor, args.data(), nullptr);
        if (!s) s = tdl_synchronize(ctx, nullptr);
        if (s) {
            aborted = true;
            return failed(rank, c.title.c_str(), s, ctx);
        }
        if (run.time) measure(ctx, rank, c, args);
        if (!run.check || run.time) return 0;
        std::string wrong = args.fetch();
        if (!wrong.empty()) return noGpu(rank, wrong);
        for (const interp::Tensor &t : c.after.tensors) wrong += args.compare(t, interp::toleranceFor(*kernel, t, c.mode));
        if (wrong.empty()) return 0;
        std::fprintf(stderr, "%s %s, rank %d of %d:\n%s", kernel->symbol.c_str(), c.title.c_str(), rank, run.launch.ranks, wrong.c_str());
        return kExitFailed;
    }

    void measure(tdl_ctx *ctx, int rank, const Case &c, Arguments &args) {
        std::vector<double> ms;
        for (double spent = 0; ms.size() < 5 || (spent < 500 && ms.size() < 100); spent += ms.back()) {
            auto start = std::chrono::steady_clock::now();
            if (tdl_launch(ctx, descriptor, args.data(), nullptr) || tdl_synchronize(ctx, nullptr)) return;
            ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
        }
        std::sort(ms.begin(), ms.end());
        if (rank == 0)
            std::printf("%s %s: median %.3f ms, least %.3f, most %.3f of %zu launches (rank 0)\n", kernel->symbol.c_str(), c.title.c_str(), ms[ms.size() / 2], ms[0], ms.back(), ms.size());
    }

    int noGpu(int rank, const std::string &wrong) {
        std::fprintf(stderr, "rank %d: device `%s`: %s\n", rank, run.device.c_str(), wrong.c_str());
        return kExitEnvironment;
    }
    static int failed(int rank, const char *what, tdl_status s, const tdl_ctx *ctx) {
        std::fprintf(stderr, "rank %d, %s: %s: %s\n", rank, what, tdl_status_string(s), tdl_last_error(ctx));
        return kExitFailed;
    }
};

} // namespace

int runChecked(const CheckRun &r) { return Checker(r)(); }

} // namespace tdl
