// tdlc: the compiler's command line. man/tdlc.1 is its reference.
#include "driver/crash.h"
#include "driver/dependencies.h"
#include "driver/files.h"
#include "driver/options.h"
#include "driver/output.h"
#include "driver/pipeline.h"
#include "driver/version.h"
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

using namespace tdl;

namespace {

enum Exit { Success = 0, ProgramWrong = 1, Usage = 2, Environment = 3, Internal = kExitInternalError };

int usageError(const std::string &what) {
    std::fprintf(stderr, "tdlc: error: %s\ntdlc --help lists the options\n", what.c_str());
    return Usage;
}

int say(const std::string &text) {
    if (writeAll(1, text)) return Success;
    std::perror("tdlc: error: cannot write to standard output");
    return Environment;
}

int explain(const std::string &code) {
    std::string digits = code.starts_with("TDL") ? code.substr(3) : code;
    bool sound = !digits.empty() && digits.size() < 6 && digits.find_first_not_of("0123456789") == std::string::npos;
    const DiagInfo *info = sound ? findDiag(std::stoi(digits)) : nullptr;
    if (!info) return usageError("there is no diagnostic `" + code + "`");
    return say(fmt::format("TDL{:04}: {}\n\n{}\n", info->number, info->text, info->explanation));
}

// Errors of the environment, and of the compiler, are told apart from errors of the program by their kind.
int failure(const Diagnostics &diags) {
    int status = ProgramWrong;
    for (const Diagnostic &d : diags.list()) {
        if (d.severity != Severity::Error) continue;
        if (d.text.starts_with("internal error")) return std::fputs(kPleaseReport, stderr), Internal;
        if (d.kind == Diag::CannotRead || d.kind == Diag::CannotWrite) status = Environment;
    }
    return status;
}

bool useColor(const Options &o) { return o.color == "always" || (o.color == "auto" && ::isatty(2)); }

/// Where the outputs of one input go; empty: not wanted. `main` is the object or what --emit asks for.
struct Names {
    std::string main, header, rule, target; // target: of the make rule
};

//     a.tdl                  --> a.o  a.h  a.d        (the rule only with -MD)
//     -o out/x.o a.tdl       --> out/x.o  out/x.h  out/x.d
//     -o - a.tdl             --> standard output, no header, a.d
//     --emit=tile a.tdl      --> standard output, a.d
Names namesOf(const Options &o, const std::string &input, Step last) {
    Names n;
    std::string stem = input == "-" ? "a" : stemOf(input);
    bool text = !o.emit.empty() && last != Step::Object;
    n.main = !o.output.empty() ? o.output : text ? "-" : stem + ".o";
    bool inPlace = writesInPlace(n.main);
    if (!inPlace) stem = n.main.substr(0, n.main.find_last_of('/') + 1) + stemOf(n.main);
    if (o.emit.empty()) n.header = !o.header.empty() ? o.header : inPlace ? "" : stem + ".h";
    if (o.depend || o.dependUser) n.rule = !o.dependFile.empty() ? o.dependFile : stem + ".d";
    n.target = quoteForMake(inPlace ? stem + ".o" : n.main);
    return n;
}

/// No two outputs have one name, and none is an input: gcc lets the last one win, and the source is gone.
std::string clash(const Options &options, const std::vector<Names> &all) {
    std::vector<std::string> seen;
    for (const Names &n : all)
        for (const std::string *name : {&n.main, &n.header, &n.rule}) {
            struct stat out, in;
            if (name->empty() || writesInPlace(*name)) continue;
            if (std::find(seen.begin(), seen.end(), *name) != seen.end()) return fmt::format("two outputs would be called `{}`", *name);
            seen.push_back(*name);
            if (::stat(name->c_str(), &out) != 0) continue;
            for (const std::string &path : options.inputs)
                if (path != "-" && ::stat(path.c_str(), &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
                    return fmt::format("the output `{}` is an input", *name);
        }
    return {};
}

bool writeOutputs(Compilation &c, const Options &options, const Names &names, Step last) {
    Outputs out(c.diags);
    if (!names.rule.empty()) {
        std::vector<std::string> files;
        for (int i = 0; i < c.sources.size(); ++i)
            if (c.sources[i].fromDisk) files.push_back(c.sources[i].name);
        auto targets = options.dependTargets.empty() ? std::vector{names.target} : options.dependTargets;
        if (!out.add(names.rule, makeRule(targets, files, options.dependPhony))) return false;
    }
    if (!names.header.empty() && !out.add(names.header, c.header, KeepIfSame::Yes)) return false;
    bool header = last == Step::Header;
    // The object is last: when it is new, all of its companions are.
    return out.add(names.main, header ? c.header : c.text, header ? KeepIfSame::Yes : KeepIfSame::No) && out.commit();
}

int compileInput(const Options &options, const std::string &path, const Names &names, Step last) {
    Compilation c;
    c.diags.setErrorLimit(options.errorLimit);
    c.diags.setWarningsAreErrors(!options.warnings.empty());
    auto text = readInput(path, c.diags);
    bool ok = text && compile(c, options, path, std::move(*text), last);
    std::fputs(c.log.c_str(), stderr);
    if (ok && options.stopAfter.empty()) ok = writeOutputs(c, options, names, last);
    std::fputs(renderText(c.diags, useColor(options)).c_str(), stderr);
    return ok && !c.diags.hasErrors() ? Success : failure(c.diags);
}

int run(int argc, char **argv) {
    Options options;
    std::string wrong = parseOptions({argv + 1, argv + argc}, options);
    if (!wrong.empty()) return usageError(wrong);
    if (options.help) return say(optionsHelp());
    if (options.version) return say("tdlc " + versionText() + "\n");
    if (options.printTargets) return say(targetsText());
    if (!options.explainCode.empty()) return explain(options.explainCode);
    if (options.inputs.empty()) return usageError("no input file");
    Step last = Step::Object;
    if (!options.emit.empty()) last = *findStep(options.emit);
    if (!options.stopAfter.empty()) last = *findStep(options.stopAfter);
    std::vector<Names> names;
    for (const std::string &path : options.inputs) names.push_back(namesOf(options, path, last));
    if (options.stopAfter.empty()) wrong = clash(options, names);
    if (!wrong.empty()) return usageError(wrong);
    int status = Success;
    for (size_t i = 0; i < names.size(); ++i) {
        if (options.verbose) std::fputs(fmt::format("tdlc: {} to {}\n", options.inputs[i], stepName(last)).c_str(), stderr);
        status = std::max(status, compileInput(options, options.inputs[i], names[i], last));
    }
    return status;
}

// A descriptor that the caller closed must not become that of a file we open, or messages would end up in it.
void openStandardStreams() {
    for (int fd : {0, 1, 2})
        if (::fcntl(fd, F_GETFD) == -1 && ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0) return;
}

} // namespace

int main(int argc, char **argv) {
    openStandardStreams();
    std::signal(SIGXFSZ, SIG_IGN); // a file over the size limit is an error of write()
    installCrashHandlers();
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc &) {
        std::fputs("tdlc: error: out of memory\n", stderr);
        return Environment;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "tdlc: internal error: %s\n%s", e.what(), kPleaseReport);
        return Internal;
    }
}
