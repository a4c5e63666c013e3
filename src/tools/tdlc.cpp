// tdlc: the compiler's command line. man/tdlc.1 is its reference.
#include "driver/files.h"
#include "driver/options.h"
#include "driver/pipeline.h"
#include "driver/version.h"
#include <cstdio>
#include <unistd.h>

using namespace tdl;

namespace {

enum Exit { Success = 0, ProgramWrong = 1, Usage = 2, Environment = 3, Internal = 4 };

int usageError(const std::string &what) {
    std::fprintf(stderr, "tdlc: error: %s\ntdlc --help lists the options\n", what.c_str());
    return Usage;
}

int explain(const std::string &code) {
    int number = 0;
    bool sound = std::sscanf(code.c_str(), "TDL%d", &number) == 1 || std::sscanf(code.c_str(), "%d", &number) == 1;
    const DiagInfo *info = sound ? findDiag(number) : nullptr;
    if (!info) return usageError("there is no diagnostic `" + code + "`");
    std::printf("TDL%04d: %.*s\n\n%.*s\n", info->number, static_cast<int>(info->text.size()), info->text.data(),
                static_cast<int>(info->explanation.size()), info->explanation.data());
    return Success;
}

// Errors of the environment are told apart from errors of the program by their kind.
int failure(const Diagnostics &diags) {
    for (const Diagnostic &d : diags.list())
        if (d.severity == Severity::Error && (d.kind == Diag::CannotRead || d.kind == Diag::CannotWrite)) return Environment;
    return ProgramWrong;
}

bool useColor(const Options &o) { return o.color == "always" || (o.color == "auto" && ::isatty(2)); }

int compileInput(const Options &options, const std::string &path, Step last) {
    Compilation c;
    c.diags.setErrorLimit(options.errorLimit);
    c.diags.setWarningsAreErrors(!options.warnings.empty());
    auto text = readInput(path, c.diags);
    bool ok = text && compile(c, options, path, std::move(*text), last);
    std::fputs(c.log.c_str(), stderr);
    if (ok && options.stopAfter.empty()) {
        std::string stem = path == "-" ? "a" : stemOf(path);
        bool text_ = !options.emit.empty() && last != Step::Object;
        std::string out = !options.output.empty() ? options.output : text_ ? "-" : stem + ".o";
        ok = writeOutput(out, last == Step::Header ? c.header : c.text, last == Step::Header, c.diags);
        if (ok && options.emit.empty()) {
            std::string header = options.header;
            if (header.empty()) {
                size_t slash = out.find_last_of('/');
                header = (slash == std::string::npos ? "" : out.substr(0, slash + 1)) + (out == "-" ? stem : stemOf(out)) + ".h";
            }
            ok = writeOutput(header, c.header, true, c.diags);
        }
    }
    std::fputs(renderText(c.diags, useColor(options)).c_str(), stderr);
    return ok && !c.diags.hasErrors() ? Success : failure(c.diags);
}

int run(int argc, char **argv) {
    Options options;
    std::string wrong = parseOptions({argv + 1, argv + argc}, options);
    if (!wrong.empty()) return usageError(wrong);
    if (options.help) return std::fputs(optionsHelp().c_str(), stdout), Success;
    if (options.version) return std::printf("tdlc %s\n", versionText().c_str()), Success;
    if (options.printTargets) return std::fputs(targetsText().c_str(), stdout), Success;
    if (!options.explainCode.empty()) return explain(options.explainCode);
    if (options.inputs.empty()) return usageError("no input file");
    if (options.inputs.size() > 1 && (!options.output.empty() || !options.header.empty()))
        return usageError("-o and -H name one file, but there are " + std::to_string(options.inputs.size()) + " inputs");
    Step last = Step::Object;
    if (!options.emit.empty()) last = *findStep(options.emit);
    if (!options.stopAfter.empty()) last = *findStep(options.stopAfter);
    int status = Success;
    for (const std::string &path : options.inputs) {
        if (options.verbose) std::fprintf(stderr, "tdlc: %s to %.*s\n", path.c_str(), static_cast<int>(stepName(last).size()), stepName(last).data());
        status = std::max(status, compileInput(options, path, last));
    }
    return status;
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "tdlc: internal error: %s\nPlease report it with the input and the command line.\n", e.what());
        return Internal;
    }
}
