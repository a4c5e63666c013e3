// What this build is: its version and what it can compile for.
#pragma once
#include <string>

namespace tdl {
std::string versionText(); // "0.1.0 (LLVM 22.1.8)"
std::string targetsText(); // of --print-targets
} // namespace tdl
