// The .tile files beside the tests, and what is expected of them: in a comment on the line that is reported.
//
//     store %0, %X[%i]        //! error: stores to `X`, which is `in` [TDL0730]
#pragma once
#include "ir/text.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tdl::test {

inline std::string readFile(const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

/// The .tile files of a folder, by name.
inline std::vector<std::filesystem::path> tileFiles(const std::filesystem::path &folder) {
    std::vector<std::filesystem::path> out;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".tile") out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

/// A parsed text with its diagnostics.
struct Parsed {
    Sources sources;
    Diagnostics diags{sources};
    std::unique_ptr<ir::Module> module;
    explicit Parsed(std::string text, std::string name = "test.tile") {
        diags.setErrorLimit(0);
        module = ir::parse(sources, sources.add(std::move(name), std::move(text)), diags);
    }
    Parsed(const Parsed &) = delete;
    const ir::Op *kernel(const std::string &name) const {
        for (auto &op : module->top.ops)
            if (op->symbol == name) return op.get();
        return nullptr;
    }
};

using Lines = std::map<int, std::string>;

/// What the comments of a text expect, by line.
inline Lines expected(const std::string &text) {
    Lines out;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        if (size_t at = line.find("//! "); at != std::string::npos) out[number] = line.substr(at);
    return out;
}

/// What was reported, in the same form.
inline Lines reported(const Diagnostics &diags) {
    Lines out;
    auto add = [&](int line, const std::string &text) {
        out[line] += (out[line].empty() ? "//! " : " //! ") + text;
    };
    for (const Diagnostic &d : diags.list()) {
        add(d.loc.line, fmt::format("error: {} [TDL{:04}]", d.text, diagInfo(d.kind).number));
        for (const Note &n : d.notes) add(n.loc.line, "note: " + n.text);
    }
    return out;
}

/// Writes expectations anew (TDL_UPDATE=1 in the environment).
inline void update(const std::filesystem::path &path, const std::string &text, const Lines &actual) {
    std::ofstream out(path, std::ios::binary);
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        line = line.substr(0, line.find("//! "));
        line.resize(line.find_last_not_of(' ') + 1);
        out << line << (actual.contains(number) ? "  " + actual.at(number) : "") << '\n';
    }
}

} // namespace tdl::test
