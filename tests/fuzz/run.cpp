#include "run.h"
#include "driver/pipeline.h"
#include "interp/agree.h"
#include "ir/names.h"
#include "ir/text.h"
#include "kernel/lower.h"
#include "kernel/verify.h"
#include "object/object.h"
#include "plan/derive/derive.h"
#include "plan/verify/verify.h"
#include "tools/arguments.h"
#include "tools/load.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <tdl.h>
#include <time.h>
#include <unistd.h>

namespace tdl::fuzz {
namespace {

constexpr const char *kFile = "random.tdl";

/// One launch: the arguments before it, and what they should be after it.
struct Case {
    std::string title;
    interp::Launch before, after;
};

class Runner {
public:
    Runner(const Program &p, const RunOptions &o) : program(p), options(o) {}

    Outcome run() {
        Compilation c;
        Options o;
        if (!compile(c, o, kFile, program.text, Step::Tile)) return rejected(c);
        auto object = generate(c);
        if (!object) return c.diags.hasErrors() ? rejected(c) : Outcome{};
        if (options.texts && options.plant == Plant::None)
            if (Outcome wrong = texts(c, *object); wrong.failed()) return wrong;
        LoadedObject loaded;
        if (std::string wrong = loaded.load(*object); !wrong.empty()) return {Kind::Object, "load", wrong};
        const ir::Op &kernel = *c.tile->top.ops.at(0);
        const tdl_kernel *descriptor = loaded.kernel(kernel.symbol);
        if (!descriptor) return {Kind::Object, "descriptor", "the object has no such kernel"};
        for (int ranks : program.ranks) {
            std::vector<Case> cases;
            for (const Shape &shape : program.shapes)
                if (Outcome wrong = reference(c, kernel, ranks, shape, cases); wrong.failed()) return wrong;
            if (Outcome wrong = launch(kernel, *descriptor, ranks, cases); wrong.failed()) return wrong;
        }
        return {};
    }

private:
    const Program &program;
    const RunOptions &options;

    plan::Options chunks() const { return {program.chunk, program.chunk, program.chunk}; }
    codegen::HostOptions host() const {
        codegen::HostOptions h;
        h.optimise = program.opt;
        return h;
    }

    /// The steps behind the checker, as the driver's pipeline has them, with chunks of the size that the program asks for. Nothing
    /// without an error: there was no place for the planted bug.
    std::optional<std::string> generate(Compilation &c) {
        c.plan = plan::derive(*c.tile, chunks(), c.diags);
        if (!c.plan || !plan::verify(*c.plan, c.diags)) return std::nullopt;
        ir::settleNames(*c.plan);
        bool planted = plantBug(options.plant, *c.plan);
        c.kernel = kernel::lower(*c.plan, {}, c.diags);
        if (!c.kernel) return std::nullopt;
        if (options.plant == Plant::None && !kernel::verify(*c.kernel, c.diags)) return std::nullopt;
        ir::settleNames(*c.kernel);
        if (options.plant != Plant::None && !planted) return std::nullopt;
        return emitObject(*c.kernel, host(), c.diags);
    }

    static Outcome rejected(const Compilation &c) {
        int number = 0;
        std::string text = firstError(c.diags, number);
        // What sema, deriving and code generation say they cannot do yet.
        bool notBuilt = number == 500 || number == 840 || number == 841 || number == 850 || number == 900;
        return {notBuilt ? Kind::NotBuilt : Kind::Rejected, fmt::format("TDL{:04}", number), text};
    }

    static std::string firstError(const Diagnostics &d, int &number) {
        for (const Diagnostic &e : d.list())
            if (e.severity == Severity::Error && number == 0) number = diagInfo(e.kind).number;
        return renderText(d, false);
    }

    /// Every representation prints as it was parsed, and what is parsed leads to the same result as what was printed.
    Outcome texts(Compilation &c, const std::string &object) {
        Outcome outcome;
        auto again = [&](const ir::Module &m, const char *what) -> std::unique_ptr<ir::Module> {
            std::string text = ir::print(m);
            auto parsed = ir::parse(c.sources, c.sources.add(what, text), c.diags);
            if (!parsed)
                outcome = {Kind::Text, std::string("parse ") + what, renderText(c.diags, false) + text};
            else if (std::string printed = ir::print(*parsed); printed != text)
                outcome = {Kind::Text, std::string("print ") + what, firstDifference(text, printed)};
            return outcome.failed() ? nullptr : std::move(parsed);
        };
        auto same = [&](const std::string &wanted, const std::string &got, const char *what) {
            if (wanted != got) outcome = {Kind::Text, std::string("from ") + what, firstDifference(wanted, got)};
            return wanted == got;
        };
        auto tile = again(*c.tile, "<tile>"), planned = tile ? again(*c.plan, "<plan>") : nullptr, kern = planned ? again(*c.kernel, "<kern>") : nullptr;
        if (!kern) return outcome;
        auto plan = plan::derive(*tile, chunks(), c.diags);
        if (!plan) return {Kind::Text, "derive", renderText(c.diags, false)};
        ir::settleNames(*plan);
        auto lowered = kernel::lower(*planned, {}, c.diags);
        if (!lowered) return {Kind::Text, "lower", renderText(c.diags, false)};
        ir::settleNames(*lowered);
        auto bytes = emitObject(*kern, host(), c.diags);
        if (!bytes) return {Kind::Text, "emit", renderText(c.diags, false)};
        if (same(ir::print(*c.plan), ir::print(*plan), "tile") && same(ir::print(*c.kernel), ir::print(*lowered), "plan") && *bytes != object)
            outcome = {Kind::Text, "from kern", "the kernel IR's text gives another object"};
        return outcome;
    }

    static std::string firstDifference(const std::string &a, const std::string &b) {
        size_t at = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
        auto line = [&](const std::string &s) {
            size_t begin = at == 0 ? 0 : s.rfind('\n', at - 1) + 1;
            return s.substr(begin, s.find('\n', at) - begin);
        };
        return "    " + line(a) + "\n    " + line(b) + "\n";
    }

    Outcome reference(const Compilation &c, const ir::Op &kernel, int ranks, const Shape &shape, std::vector<Case> &cases) {
        auto mode = program.exact ? interp::DataMode::Exact : interp::DataMode::Real;
        Case one;
        interp::Launch &l = one.before;
        l.ranks = ranks;
        interp::DataSource source{mode, program.data, 1};
        for (const std::string &s : kernel.names("sizes")) {
            auto it = shape.find(s);
            l.sizes[s] = it == shape.end() ? 1 : it->second;
            one.title += fmt::format("{}={} ", s, l.sizes[s]);
        }
        one.title += fmt::format("on {} ranks", ranks);
        for (auto &op : kernel.body().ops)
            if (op->kind == ir::OpKind::Param) l.scalars[op->name()] = interp::generateScalar(op->name(), op->result()->type.elem, source);
        Diagnostics diags(c.sources);
        bool ok = interp::prepare(kernel, l, diags);
        if (ok) {
            auto scales = interp::inputScales(kernel, l);
            for (interp::Tensor &t : l.tensors)
                if (auto it = scales.find(t.name); it != scales.end()) {
                    source.scale = program.exact ? 1 : std::min(it->second, 1.0);
                    interp::fill(t, source);
                }
            one.after = one.before;
            ok = interp::runVaried(kernel, one.after, mode, program.data, 2, diags);
        }
        if (ok) return cases.push_back(std::move(one)), Outcome{};
        int number = 0;
        std::string text = firstError(diags, number);
        return {number == 1009 ? Kind::Varies : Kind::Invalid, fmt::format("TDL{:04}", number), one.title + ": the interpreter says:\n" + text};
    }

    /// All cases in one context, without waiting in between.
    Outcome launch(const ir::Op &kernel, const tdl_kernel &descriptor, int ranks, const std::vector<Case> &cases) {
        tdl_group *group = nullptr;
        if (tdl_group_create(ranks, &group)) return {Kind::Status, "group", tdl_last_error(nullptr)};
        std::vector<Outcome> outcomes(static_cast<size_t>(ranks));
        std::vector<std::thread> threads;
        for (int r = 0; r < ranks; ++r)
            threads.emplace_back([&, r] { outcomes[static_cast<size_t>(r)] = rankMain(kernel, descriptor, group, r, cases); });
        for (std::thread &t : threads) t.join();
        tdl_group_destroy(group);
        Outcome all;
        for (const Outcome &o : outcomes)
            if (o.failed()) {
                std::string report = all.report + o.report;
                all = all.failed() ? all : o;
                all.report = report;
            }
        return all;
    }

    Outcome rankMain(const ir::Op &kernel, const tdl_kernel &descriptor, tdl_group *group, int rank, const std::vector<Case> &cases) {
        tdl_options o{};
        o.rank = rank;
        o.group = group;
        o.threads = program.threads;
        o.heap_bytes = 256 << 20;
        o.timeout_ms = 5000;
        o.chaos = program.chaos;
        tdl_ctx *ctx = nullptr;
        auto failed = [&](const char *what, tdl_status s) {
            return Outcome{Kind::Status, tdl_status_string(s), fmt::format("rank {}, {}: {}: {}\n", rank, what, tdl_status_string(s), tdl_last_error(ctx))};
        };
        if (tdl_status s = tdl_init(&ctx, &o)) return failed("tdl_init", s);
        Outcome outcome;
        std::vector<std::unique_ptr<Arguments>> args;
        for (const Case &c : cases) args.push_back(std::make_unique<Arguments>(descriptor, c.before, rank));
        for (size_t i = 0; i < cases.size() && !outcome.failed(); ++i)
            if (tdl_status s = tdl_prepare(ctx, &descriptor, args[i]->data())) outcome = failed("tdl_prepare", s);
        for (size_t i = 0; i < cases.size() && !outcome.failed(); ++i)
            if (tdl_status s = tdl_launch(ctx, &descriptor, args[i]->data(), nullptr)) outcome = failed(cases[i].title.c_str(), s);
        if (!outcome.failed())
            if (tdl_status s = tdl_synchronize(ctx, nullptr)) outcome = failed("tdl_synchronize", s);
        for (size_t i = 0; i < cases.size() && !outcome.failed(); ++i) {
            std::string wrong;
            for (const interp::Tensor &t : cases[i].after.tensors) wrong += args[i]->compare(t, toleranceOf(kernel, t));
            if (!wrong.empty()) outcome = {Kind::Different, "", fmt::format("{}, rank {}:\n{}", cases[i].title, rank, wrong)};
        }
        tdl_finalize(ctx);
        return outcome;
    }

    interp::Tolerance toleranceOf(const ir::Op &kernel, const interp::Tensor &t) const {
        if (program.exact) return {};
        interp::Tolerance tolerance = interp::toleranceFor(kernel, t, interp::DataMode::Real);
        tolerance.element *= 8; // sums that cancel, of several stages
        tolerance.frobenius *= 8;
        return tolerance;
    }
};

/// All that comes through the pipe until its other end closes or time is up.
bool readAll(int fd, int seconds, std::string &text) {
    timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (char buffer[4096];;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        int left = static_cast<int>((start.tv_sec + seconds - now.tv_sec) * 1000);
        pollfd p{fd, POLLIN, 0};
        if (left <= 0 || ::poll(&p, 1, left) <= 0) return false;
        ssize_t n = ::read(fd, buffer, sizeof buffer);
        if (n <= 0) return true;
        text.append(buffer, static_cast<size_t>(n));
    }
}

} // namespace

const char *kindName(Kind k) {
    constexpr const char *names[] = {"fine", "not built", "rejected", "invalid", "varies", "text", "object", "status", "different", "crash", "hang"};
    return names[static_cast<int>(k)];
}

std::mutex &forking() {
    static std::mutex m;
    return m;
}

Outcome runHere(const Program &p, const RunOptions &o) { return Runner(p, o).run(); }

Outcome runProgram(const Program &p, const RunOptions &o) {
    int ends[2];
    if (::pipe(ends)) return {Kind::Object, "pipe", std::strerror(errno)};
    std::fflush(nullptr);
    pid_t pid = [] {
        std::lock_guard lock(forking());
        return ::fork();
    }();
    if (pid < 0) return {Kind::Object, "fork", std::strerror(errno)};
    if (pid == 0) {
        ::close(ends[0]);
        auto most = static_cast<rlim_t>(o.seconds);
        rlimit limit{most, most + 1};
        ::setrlimit(RLIMIT_CPU, &limit);
        Outcome r = runHere(p, o);
        std::string text = fmt::format("{}\n{}\n{}", static_cast<int>(r.kind), r.key, r.report);
        for (size_t at = 0; at < text.size();) {
            ssize_t n = ::write(ends[1], text.data() + at, text.size() - at);
            if (n <= 0) break;
            at += static_cast<size_t>(n);
        }
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string text;
    bool ended = readAll(ends[0], 10 * o.seconds, text);
    ::close(ends[0]);
    if (!ended) ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (!ended) return {Kind::Hang, "", fmt::format("did not end within {} s", 10 * o.seconds)};
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) return {Kind::Hang, "", fmt::format("took more than {} s of processor time", o.seconds)};
    if (WIFSIGNALED(status)) return {Kind::Crash, strsignal(WTERMSIG(status)), fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))};
    size_t first = text.find('\n'), second = text.find('\n', first + 1);
    if (first == std::string::npos || second == std::string::npos) return {Kind::Crash, "no report", "the process ended without a report"};
    return {static_cast<Kind>(std::stoi(text)), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

} // namespace tdl::fuzz
