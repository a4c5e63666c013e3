// What CLI11 cannot spell (-MD, -Werror, -DN=1) is told apart here and given to it in long form:
//
//     -MMD -MF a.d -O2 -DN=1 a.tdl     --> --MMD  --MF a.d  --O 2  --D N=1      input a.tdl
//
// It then converts the values and sets the members of Options.
#include "driver/options.h"
#include "codegen/nvptx/nvptx.h"
#include "driver/arguments.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tdl {
namespace {

struct Row {
    enum Kind { Section, Flag, Value, List, Later } kind;
    std::string_view spelling, arg, help;
};
constexpr Row kRows[] = {
#define SECTION(text) {Row::Section, text, "", ""},
#define FLAG(member, spelling, help) {Row::Flag, spelling, "", help},
#define VALUE(member, spelling, arg, help) {Row::Value, spelling, arg, help},
#define LIST(member, spelling, arg, help) {Row::List, spelling, arg, help},
#define LATER(spelling, help) {Row::Later, spelling, "", help},
#include "driver/options.def"
#undef SECTION
#undef FLAG
#undef VALUE
#undef LIST
#undef LATER
};

bool oneOf(const std::string &s, std::initializer_list<const char *> list) {
    return std::any_of(list.begin(), list.end(), [&](const char *x) { return s == x; });
}

/// -MD --> --MD, as CLI11 knows it
std::string longName(std::string_view spelling) {
    return "--" + std::string(spelling.substr(spelling.find_first_not_of('-')));
}

/// -O2 and -Werror take their value without a blank only: `-O a.tdl` is not an optimisation level called a.tdl.
bool joinedOnly(const Row &r) { return r.spelling == "-O" || r.spelling == "-W"; }

/// The row that `arg` names; `rest` is what follows its spelling. The longest spelling wins: -MFx is -MF, not -M.
const Row *findRow(std::string_view arg, std::string_view &rest) {
    const Row *best = nullptr;
    for (const Row &r : kRows) {
        if (r.kind == Row::Section || !arg.starts_with(r.spelling) || (best && best->spelling.size() > r.spelling.size())) continue;
        std::string_view behind = arg.substr(r.spelling.size());
        bool isLong = r.spelling.starts_with("--"), valued = r.kind == Row::Value || r.kind == Row::List;
        if (behind.empty() || (isLong ? behind[0] == '=' : valued)) best = &r, rest = behind;
    }
    return best;
}

/// The arguments as CLI11 wants them; inputs apart.
std::string normalise(const std::vector<std::string> &args, std::vector<std::string> &options, std::vector<std::string> &inputs) {
    bool onlyInputs = false;
    for (size_t i = 0; i < args.size(); ++i) {
        const std::string &a = args[i];
        if (onlyInputs || a == "-" || !a.starts_with("-")) {
            inputs.push_back(a);
            continue;
        }
        if (a == "--") {
            onlyInputs = true;
            continue;
        }
        std::string_view rest;
        const Row *r = findRow(a, rest);
        if (!r) return fmt::format("unknown option `{}`", a);
        if (r->kind == Row::Later) return fmt::format("`{}` is not supported yet (it will {})", r->spelling, r->help);
        options.push_back(longName(r->spelling));
        if (r->kind == Row::Flag) {
            if (!rest.empty()) return fmt::format("`{}` takes no value", r->spelling);
            continue;
        }
        std::string value(rest);
        if (r->spelling.starts_with("--") && !value.empty()) value.erase(0, 1); // the =
        bool joined = !rest.empty();
        if (!joined && !joinedOnly(*r) && i + 1 < args.size()) value = args[++i];
        if (value.empty()) return fmt::format("`{}` needs a value: {}", r->spelling, r->arg);
        options.push_back(std::move(value));
    }
    return {};
}

std::string checkArchs(const Options &o) {
    std::vector<std::string> archs = archNames(o);
    for (const std::string &a : archs)
        if (!codegen::nvptx::parseArch(a)) return fmt::format("`--arch={}`: there is no architecture `{}`; sm_80, sm_90a and sm_100a are some", o.arch, a);
    if (archs.empty()) return "`--arch` needs an architecture, sm_80 for example";
    if ((o.emit == "ptx" || o.emit == "cubin") && archs.size() > 1 && o.arch != Options().arch)
        return fmt::format("`--emit={}` writes one thing, but there are {} architectures", o.emit, archs.size());
    return {};
}

std::string checkValues(const Options &o) {
    auto quote = [](const std::vector<std::string> &v) { return fmt::format("{}", fmt::join(v, ", ")); };
    const auto &kinds = emitKinds();
    if (!o.emit.empty() && std::find(kinds.begin(), kinds.end(), o.emit) == kinds.end())
        return fmt::format("there is no `--emit={}`; the kinds are {}", o.emit, quote(kinds));
    if (!oneOf(o.color, {"auto", "always", "never"}))
        return fmt::format("`--color={}` should be auto, always or never", o.color);
    if (!oneOf(o.cpu, {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"}))
        return fmt::format("there is no `--cpu={}`; the levels are x86-64, x86-64-v2, x86-64-v3, x86-64-v4 and native", o.cpu);
    if (!oneOf(o.target, {"host", "cuda", "host,cuda", "cuda,host"}))
        return fmt::format("there is no `--target={}`; the targets are host, cuda and host,cuda", o.target);
    if (std::string wrong = checkArchs(o); !wrong.empty()) return wrong;
    if (o.plan != "sequential") return fmt::format("there is no `--plan={}`; the plans are: sequential", o.plan);
    if (!o.stopAfter.empty() && !oneOf(o.stopAfter, {"ast", "tile", "plan", "kernel", "obj"}))
        return fmt::format("`--stop-after={}` should be ast, tile, plan, kernel or obj", o.stopAfter);
    for (const std::string &s : o.dumpBefore)
        if (!oneOf(s, {"tile", "plan", "kernel", "llvm", "obj"})) return fmt::format("there is no stage `{}` to dump before", s);
    for (const std::string &s : o.dumpAfter)
        if (!oneOf(s, {"ast", "tile", "plan", "kernel", "llvm"})) return fmt::format("there is no stage `{}` to dump after", s);
    for (const std::string &s : o.warnings)
        if (s != "error") return fmt::format("there is no `-W{}`", s);
    for (const std::string &s : o.defines)
        if (s.find('=') == std::string::npos || s.front() == '=') return fmt::format("`-D {}` should be NAME=VALUE", s);
    if (o.errorLimit < 0) return fmt::format("`--error-limit={}` should not be negative", o.errorLimit);
    if (o.optLevel < 0 || o.optLevel > 3) return fmt::format("`-O{}` should be -O0 to -O3", o.optLevel);
    if (o.inputs.size() > 1 && (!o.output.empty() || !o.header.empty() || !o.dependFile.empty()))
        return fmt::format("-o, -H and -MF name one file, but there are {} inputs", o.inputs.size());
    bool rule = o.depend || o.dependUser;
    if (!rule && (!o.dependFile.empty() || !o.dependTargets.empty() || o.dependPhony)) return "-MF, -MT and -MP need -MD or -MMD";
    if (!o.header.empty() && !o.emit.empty()) return fmt::format("-H names the header beside an object, but `--emit={}` writes one thing", o.emit);
    return {};
}

} // namespace

std::vector<std::string> archNames(const Options &o) {
    std::vector<std::string> names;
    for (size_t from = 0; from <= o.arch.size();) {
        size_t to = std::min(o.arch.find(',', from), o.arch.size());
        std::string name = o.arch.substr(from, to - from);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        from = to + 1;
    }
    return names;
}

const std::vector<std::string> &emitKinds() {
    static const std::vector<std::string> kinds{"ast", "tile", "plan", "kernel", "llvm", "asm", "ptx", "cubin", "obj", "header"};
    return kinds;
}

std::string parseOptions(const std::vector<std::string> &args, Options &o) {
    std::vector<std::string> words, options;
    if (std::string wrong = expandArgumentFiles(args, words); !wrong.empty()) return wrong;
    if (std::string wrong = normalise(words, options, o.inputs); !wrong.empty()) return wrong;

    CLI::App app;
    app.set_help_flag();
    std::string wrong;
    struct Adder { // by the type of the member
        CLI::App &app;
        std::string &wrong;
        CLI::Option *operator()(std::string_view spelling, std::string &member) { return app.add_option(longName(spelling), member); }
        CLI::Option *operator()(std::string_view spelling, int &member) {
            return app.add_option_function<std::string>(longName(spelling), [spelling, &member, &w = wrong](const std::string &s) {
                auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), member);
                if (error == std::errc() && end == s.data() + s.size()) return;
                w = fmt::format("`{}{}{}` should be a number", spelling, spelling.starts_with("--") ? "=" : "", s);
            });
        }
    } add{app, wrong};
#define SECTION(text)
#define FLAG(member, spelling, help) app.add_flag(longName(spelling), o.member);
#define VALUE(member, spelling, arg, help) add(spelling, o.member)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
#define LIST(member, spelling, arg, help) app.add_option(longName(spelling), o.member)->allow_extra_args(false);
#define LATER(spelling, help)
#include "driver/options.def"
#undef SECTION
#undef FLAG
#undef VALUE
#undef LIST
#undef LATER
    try {
        app.parse(std::vector<std::string>(options.rbegin(), options.rend()));
    } catch (const CLI::ParseError &e) {
        return e.what();
    }
    return wrong.empty() ? checkValues(o) : wrong;
}

std::string optionsHelp() {
    std::string out = "tdlc [options] FILE...\n\nFILE is a .tdl, .tile, .plan or .kern file, or - for standard input (.tdl). @FILE stands for the words in FILE.\n";
    for (const Row &r : kRows) {
        if (r.kind == Row::Later) continue;
        if (r.kind == Row::Section) {
            out += fmt::format("\n{}:\n", r.spelling);
            continue;
        }
        std::string_view glue = r.spelling.starts_with("--") ? "=" : joinedOnly(r) ? "" : " ";
        std::string left = r.arg.empty() ? std::string(r.spelling) : fmt::format("{}{}{}", r.spelling, glue, r.arg);
        out += fmt::format("  {:<24} {}\n", left, r.help);
    }
    return out + "\nExit status: 0 success, 1 the program is wrong, 2 bad usage, 3 the environment failed, 4 internal error.\n";
}

} // namespace tdl
