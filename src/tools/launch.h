// Starting ranks on this machine: one process each, with TDL_RANK, TDL_RANKS and TDL_SOCKET in its environment.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tdl {

struct LaunchOptions {
    int ranks = 1;
    int timeoutMs = 0;                                           // of the whole run; 0: none
    std::vector<std::pair<std::string, std::string>> environment; // more variables for the ranks
};

constexpr int kExitFailed = 1, kExitUsage = 2, kExitEnvironment = 3, kExitInternal = 4, kExitTimeout = 124;

/// Runs `rankMain(rank)` in a child process per rank (its result is the exit status) and waits for all. After a rank failed,
/// the others have a few seconds to report before they are ended. Returns the exit status of tdlrun: 0 if all ranks
/// returned 0, 124 past the time limit, 128 + n if a signal n ended this process, 3 if no process could be made, else 1.
/// Whatever happens to this process, its ranks do not outlive it.
int launchRanks(const LaunchOptions &, const std::function<int(int rank)> &rankMain);

/// Why `program` cannot be run, before ranks are started; empty if it can. Looked for as execvp() does.
std::string cannotRun(const std::string &program);

/// For rankMain: replaces the process by a program; returns 3 with a message if it cannot be run.
int execProgram(const std::vector<std::string> &command);

} // namespace tdl
