// Reading the texts beside these sources, and deriving plans from them.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/text.h"
#include "plan/derive/derive.h"
#include "plan/verify/verify.h"
#include <memory>
#include <string>
#include <vector>

namespace tdl::test {

/// The nine samples, a file each in tile/; and files of several kernels more.
extern const std::vector<std::string> kSamples, kMore;
std::vector<std::string> allFiles();

std::string read(const std::string &path); // relative to this folder
/// An IR text as a module; a test failure if it is wrong.
std::unique_ptr<ir::Module> parse(const std::string &text);
/// The plans of tile/NAME.tile as text.
std::string planOf(const std::string &name);

struct Verdict {
    bool ok;
    std::vector<Diag> kinds;
    std::string text;
    bool has(Diag) const;
};
Verdict verify(const ir::Module &);
Verdict verify(const std::string &planText);

/// `text` with its one occurrence of `from` replaced.
std::string with(std::string text, const std::string &from, const std::string &to);

} // namespace tdl::test
