// tdlrun: starts a program on several ranks, or compiles and checks a kernel on them. man/tdlrun.1 is its reference.
#include "codegen/nvptx/nvptx.h"
#include "tools/check.h"
#include "tools/gpu.h"
#include "driver/version.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace tdl;

namespace {

struct Command {
    int ranks = 0, timeoutMs = 0, threads = 0;
    std::string device = "host", plan, chaos, shapes, check, trace;
    bool time = false, viaText = false, help = false, version = false;
    uint64_t seed = 1;
    std::string reference, cpu = "x86-64-v3", arch, ptxas;
    int optLevel = 2;
    std::vector<std::string> defines, includes, rest;
};

constexpr const char *kHelp = R"(tdlrun -n RANKS [options] PROGRAM [ARGUMENTS]
tdlrun -n RANKS [options] FILE:KERNEL [NAME=VALUE ...]

The first form starts PROGRAM once per rank on this machine. The second compiles a kernel (.tdl, .tile, .plan or .kern), runs it
on generated data and compares every rank's results with the reference interpreter.

  -n RANKS                 how many ranks
  --timeout=MS             end the run after MS milliseconds, with status 124
  --threads=N              workers per rank (TDL_THREADS)
  --plan=NAME              run this plan (TDL_PLAN)
  --chaos=SEED             small random delays (TDL_CHAOS)
  --device=DEVICE          where to run: host (the default), cuda or cuda:N (TDL_DEVICE)
  --help, --version

Of the second form:
  --check[=exact|real]     compare, on exact data, real data, or both (the default)
  --shapes=LIST            several shapes: M=1:N=2,M=65:N=63
  --seed=S                 of the data
  --time                   measure instead of comparing
  --reference=FILE         the program (.tdl or .tile) of a .plan or .kern file
  -D NAME=VALUE -I DIR -O0..3 --cpu=LEVEL --via-text     as for tdlc
  --arch=LIST --ptxas=FILE                               as for tdlc; default: that of the GPU

Exit status: 0 success, 1 a check or a rank failed, 2 bad usage, 3 the environment failed, 124 time-out.
)";

int usageError(const std::string &what) {
    std::fprintf(stderr, "tdlrun: error: %s\ntdlrun --help tells the usage\n", what.c_str());
    return kExitUsage;
}

/// What CLI11 found, in the words of this program: `-n: 1 required INT missing`, `Could not convert: -n = x`.
std::string inOurWords(const CLI::ParseError &e) {
    std::string_view text = e.what(), convert = "Could not convert: ";
    size_t colon = text.find(": "), equals = text.find(" = ");
    if (text.starts_with(convert) && equals != text.npos) {
        std::string_view name = text.substr(convert.size(), equals - convert.size());
        return fmt::format("`{}{}{}` should be a number", name, name.starts_with("--") ? "=" : " ", text.substr(equals + 3));
    }
    if (dynamic_cast<const CLI::ArgumentMismatch *>(&e) && colon != text.npos) return fmt::format("`{}` needs one value", text.substr(0, colon));
    return std::string(text);
}

/// `prefix`: what follows the first word that is not an option belongs to the program.
std::string parse(const std::vector<std::string> &args, bool prefix, Command &c) {
    CLI::App app;
    app.set_help_flag();
    if (prefix)
        app.prefix_command();
    else
        app.add_option("FILE:KERNEL", c.rest);
    app.add_option("-n", c.ranks);
    app.add_option("--timeout", c.timeoutMs);
    app.add_option("--threads", c.threads);
    app.add_option("--plan", c.plan);
    app.add_option("--chaos", c.chaos);
    app.add_option("--device", c.device);
    app.add_option("--shapes", c.shapes);
    app.add_option("--seed", c.seed);
    app.add_option("--check", c.check);
    app.add_option("--reference", c.reference);
    app.add_option("--cpu", c.cpu);
    app.add_option("--arch", c.arch);
    app.add_option("--ptxas", c.ptxas);
    app.add_option("-O", c.optLevel);
    app.add_option("-D", c.defines)->allow_extra_args(false);
    app.add_option("-I", c.includes)->allow_extra_args(false);
    app.add_flag("--time", c.time);
    app.add_flag("--via-text", c.viaText);
    app.add_flag("--help", c.help);
    app.add_flag("--version", c.version);
    try {
        app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
    } catch (const CLI::ExtrasError &) {
        for (const std::string &a : app.remaining(true))
            if (a.starts_with("-")) return fmt::format("unknown option `{}`", a);
        return "too many arguments";
    } catch (const CLI::ParseError &e) {
        return inOurWords(e);
    }
    if (c.timeoutMs < 0) return fmt::format("`--timeout={}` should not be negative", c.timeoutMs);
    if (c.threads < 0) return fmt::format("`--threads={}` should not be negative", c.threads);
    if (prefix) c.rest = app.remaining();
    return {};
}

/// Is it FILE or FILE:KERNEL with an extension of the compiler's?
bool isKernel(const std::string &s) {
    for (const char *ext : {".tdl", ".tile", ".plan", ".kern"}) {
        size_t at = s.rfind(ext);
        if (at != std::string::npos && (s[at + std::strlen(ext)] == ':' || s.size() == at + std::strlen(ext))) return true;
    }
    return false;
}

std::string parseShape(const std::string &text, char separator, Shape &shape) {
    std::stringstream in(text);
    for (std::string item; std::getline(in, item, separator);) {
        size_t eq = item.find('=');
        if (eq == std::string::npos || eq == 0) return fmt::format("`{}` should be NAME=VALUE", item);
        shape[item.substr(0, eq)] = item.substr(eq + 1);
    }
    return {};
}

int runKernel(const Command &c, const LaunchOptions &launch) {
    CheckRun run;
    run.launch = launch;
    size_t colon = c.rest[0].rfind(':');
    run.file = c.rest[0].substr(0, colon);
    if (colon != std::string::npos) run.kernel = c.rest[0].substr(colon + 1);
    run.reference = c.reference;
    run.compile.defines = c.defines;
    run.compile.includes = c.includes;
    run.compile.viaText = c.viaText;
    run.compile.optLevel = c.optLevel;
    run.compile.cpu = c.cpu;
    run.device = c.device;
    run.compile.ptxas = c.ptxas;
    if (c.device != "host") {
        run.compile.target = "cuda";
        std::string said, arch = c.arch;
        if (arch.empty())
            if (int n = archOfGpu(c.device, said)) arch = fmt::format("sm_{}{}", n, n >= 90 ? "a" : "");
        if (arch.empty()) return std::fprintf(stderr, "tdlrun: error: device `%s`: %s\n", c.device.c_str(), said.c_str()), kExitEnvironment;
        run.compile.arch = arch;
        for (const std::string &a : archNames(run.compile))
            if (!codegen::nvptx::parseArch(a)) return usageError("`--arch=" + arch + "`: there is no architecture `" + a + "`");
    }
    run.seed = c.seed;
    run.time = c.time;
    if (!c.check.empty() && c.check != "both" && c.check != "exact" && c.check != "real")
        return usageError("`--check=" + c.check + "` should be exact, real or both");
    run.check = !c.time;
    run.exact = c.check != "real" && !c.time;
    run.real = c.check != "exact" || c.time;
    Shape common;
    for (size_t i = 1; i < c.rest.size(); ++i)
        if (std::string wrong = parseShape(c.rest[i], '\0', common); !wrong.empty()) return usageError(wrong);
    std::stringstream list(c.shapes);
    for (std::string item; std::getline(list, item, ',');) {
        Shape s = common;
        if (std::string wrong = parseShape(item, ':', s); !wrong.empty()) return usageError(wrong);
        run.shapes.push_back(s);
    }
    if (run.shapes.empty()) run.shapes.push_back(common);
    return runChecked(run);
}

int run(int argc, char **argv) {
    Command c;
    std::vector<std::string> args;
    for (int i = 1; i < argc; ++i) args.push_back(std::string(argv[i]) == "--check" ? "--check=both" : argv[i]);
    std::string wrong = parse(args, true, c);
    bool kernel = wrong.empty() && !c.rest.empty() && isKernel(c.rest[0]);
    if (kernel) { // then options may follow it, too
        c = {};
        wrong = parse(args, false, c);
    }
    if (!wrong.empty()) return usageError(wrong);
    if (c.help) return std::fputs(kHelp, stdout), 0;
    if (c.version) return std::printf("tdlrun %s\n", versionText().c_str()), 0;
    if (c.rest.empty()) return usageError("no program");
    if (c.rest[0].starts_with("-")) return usageError("unknown option `" + c.rest[0] + "`");
    if (c.ranks < 1 || c.ranks > 256) return usageError("-n should say how many ranks, from 1 to 256");
    bool gpu = c.device == "cuda" || (c.device.starts_with("cuda:") && c.device.size() > 5 && c.device.find_first_not_of("0123456789", 5) == std::string::npos);
    if (c.device != "host" && !gpu) return usageError("`--device=" + c.device + "` should be host, cuda or cuda:N");

    LaunchOptions launch;
    launch.ranks = c.ranks;
    launch.timeoutMs = c.timeoutMs;
    if (gpu) launch.environment.emplace_back("TDL_DEVICE", c.device);
    if (c.threads > 0) launch.environment.emplace_back("TDL_THREADS", std::to_string(c.threads));
    if (!c.plan.empty()) launch.environment.emplace_back("TDL_PLAN", c.plan);
    if (!c.chaos.empty()) launch.environment.emplace_back("TDL_CHAOS", c.chaos);
    if (kernel) return runKernel(c, launch);
    if (std::string wrong = cannotRun(c.rest[0]); !wrong.empty()) {
        std::fprintf(stderr, "tdlrun: error: cannot run `%s`: %s\n", c.rest[0].c_str(), wrong.c_str());
        return kExitEnvironment;
    }
    return launchRanks(launch, [&](int) { return execProgram(c.rest); });
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "tdlrun: internal error: %s\n", e.what());
        return kExitInternal;
    }
}
