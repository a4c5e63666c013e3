// The last line of a compiler that fails by its own fault.
#pragma once

namespace tdl {

inline constexpr int kExitInternalError = 4;
inline constexpr char kPleaseReport[] = "This is a bug of tdlc: please report it with the input and the command line.\n";

/// From here on signals such as SIGSEGV (also of a full stack), abort() and fatal errors of LLVM print a line that says
/// how to report them and end the process with status 4. Under sanitizers, which tell more, signals stay theirs.
void installCrashHandlers();

} // namespace tdl
