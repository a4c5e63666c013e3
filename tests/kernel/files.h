// Plans beside the tests, and what they lower to.
#pragma once
#include "ir/text.h"
#include "kernel/lower.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tdl::test {

inline std::string readFile(const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

/// The files of a folder of this test with an extension, by name.
inline std::vector<std::filesystem::path> filesOf(const char *folder, const char *extension) {
    std::vector<std::filesystem::path> out;
    for (const auto &entry :
         std::filesystem::directory_iterator(std::filesystem::path(TDL_TESTS_DIR) / folder))
        if (entry.path().extension() == extension) out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

/// A module with the sources that its locations point into.
struct Parsed {
    Sources sources;
    Diagnostics diags{sources};
    std::unique_ptr<ir::Module> module;

    Parsed(std::string name, std::string text) {
        int file = sources.add(std::move(name), std::move(text));
        module = ir::parse(sources, file, diags);
    }
    explicit Parsed(const std::filesystem::path &p) : Parsed(p.filename().string(), readFile(p)) {}
    std::string messages() const { return renderText(diags, false); }
};

} // namespace tdl::test
