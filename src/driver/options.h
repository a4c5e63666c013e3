// Options of a compilation and how they are read from a command line. The list is options.def.
#pragma once
#include <string>
#include <vector>

namespace tdl {

struct Options {
    std::vector<std::string> inputs;
    bool compileOnly = false, debugInfo = false, viaText = false, timePasses = false, printTargets = false;
    bool verbose = false, version = false, help = false;
    bool depend = false, dependUser = false, dependPhony = false; // -MD -MMD -MP
    std::string output, header, emit, target = "host", arch = "sm_80,sm_90a", ptxas, cpu = "x86-64-v3", hostTriple, plan = "sequential";
    std::string color = "auto", explainCode, stopAfter, dependFile;
    int optLevel = 2, errorLimit = 20;
    std::vector<std::string> defines, includes, warnings, dumpBefore, dumpAfter, dependTargets;
};

/// Reads the arguments behind the program's name, argument files among them. Returns an empty text, or what is wrong with them (one line).
std::string parseOptions(const std::vector<std::string> &args, Options &);

/// The text of --help.
std::string optionsHelp();

/// Of --arch, each once.
std::vector<std::string> archNames(const Options &);

/// What --emit and the stages may be called, for checks and messages.
const std::vector<std::string> &emitKinds();

} // namespace tdl
