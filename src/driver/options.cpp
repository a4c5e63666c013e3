// CLI11 does the parsing; what it cannot spell (-MD, -Werror attached values) is mapped before it sees the arguments.
#include "driver/options.h"
#include <CLI/CLI.hpp>
#include <algorithm>
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

// GCC's spellings of multi-letter options with one dash.
std::string normalise(const std::string &a) {
    for (const char *s : {"-MD", "-MMD", "-MF", "-MT", "-MP"})
        if (a == s) return "-" + a;
    return a;
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
    if (o.target != "host") return fmt::format("`--target={}` is not supported yet; the targets are: host", o.target);
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
    if (o.optLevel < 0 || o.optLevel > 3) return fmt::format("`-O{}` should be -O0 to -O3", o.optLevel);
    return {};
}

} // namespace

const std::vector<std::string> &emitKinds() {
    static const std::vector<std::string> kinds{"ast", "tile", "plan", "kernel", "llvm", "asm", "obj", "header"};
    return kinds;
}

std::string parseOptions(const std::vector<std::string> &args, Options &o) {
    for (const Row &r : kRows)
        if (r.kind == Row::Later)
            for (const std::string &a : args) {
                std::string name = normalise(a);
                if (name == r.spelling || name.starts_with(std::string(r.spelling) + "="))
                    return fmt::format("`{}` is not supported yet (it will {})", a, r.help);
            }

    CLI::App app;
    app.set_help_flag();
#define SECTION(text)
#define FLAG(member, spelling, help) app.add_flag(spelling, o.member);
#define VALUE(member, spelling, arg, help) app.add_option(spelling, o.member);
#define LIST(member, spelling, arg, help) app.add_option(spelling, o.member)->allow_extra_args(false);
#define LATER(spelling, help)
#include "driver/options.def"
#undef SECTION
#undef FLAG
#undef VALUE
#undef LIST
#undef LATER
    app.add_option("FILE", o.inputs);
    std::vector<std::string> reversed;
    for (auto it = args.rbegin(); it != args.rend(); ++it) reversed.push_back(normalise(*it));
    try {
        app.parse(reversed);
    } catch (const CLI::ExtrasError &) {
        for (const std::string &a : args)
            if (a.size() > 1 && a[0] == '-') {
                bool known = false;
                for (const Row &r : kRows)
                    known |= r.kind != Row::Section && (a == r.spelling || a.starts_with(std::string(r.spelling) + "=") ||
                                                        (r.spelling.size() == 2 && a.starts_with(r.spelling)));
                if (!known) return fmt::format("unknown option `{}`", a);
            }
        return "too many arguments";
    } catch (const CLI::ParseError &e) {
        std::string text = e.what();
        if (!text.empty() && text.back() == '.') text.pop_back();
        return text;
    }
    return checkValues(o);
}

std::string optionsHelp() {
    std::string out = "tdlc [options] FILE...\n\nFILE is a .tdl, .tile, .plan or .kern file, or - for standard input (.tdl).\n";
    for (const Row &r : kRows) {
        if (r.kind == Row::Later) continue;
        if (r.kind == Row::Section) {
            out += fmt::format("\n{}:\n", r.spelling);
            continue;
        }
        std::string_view glue = r.spelling.starts_with("--") ? "=" : r.spelling == "-O" || r.spelling == "-W" ? "" : " ";
        std::string left = r.arg.empty() ? std::string(r.spelling) : fmt::format("{}{}{}", r.spelling, glue, r.arg);
        out += fmt::format("  {:<24} {}\n", left, r.help);
    }
    return out + "\nExit status: 0 success, 1 the program is wrong, 2 bad usage, 3 the environment failed, 4 internal error.\n";
}

} // namespace tdl
