// errors/*.tdl: each line says what is reported on it, in the order of the report, and nothing else is:
//
//     y = ]        //! error: expected an expression, found `]`
//
// With TDL_UPDATE=1 in the environment the expectations are written anew.
#include "files.h"
#include "syntax/parse.h"
#include <cstdlib>
#include <doctest/doctest.h>
#include <map>

using namespace tdl;

namespace {

constexpr std::string_view kMark = "//! ";

std::string_view word(Severity s) {
    return s == Severity::Error ? "error: " : s == Severity::Warning ? "warning: " : "performance: ";
}

/// The expectations of each line, as one text.
std::map<int, std::string> reported(const Diagnostics &diags) {
    std::map<int, std::string> out;
    auto add = [&](int line, std::string_view kind, const std::string &text) {
        std::string &all = out[line];
        if (!all.empty()) all += ' ';
        ((all += kMark) += kind) += text;
    };
    for (const Diagnostic &d : diags.list()) {
        add(d.loc.line, word(d.severity), d.text);
        for (const Note &n : d.notes) add(n.loc.line, "note: ", n.text);
    }
    return out;
}

} // namespace

TEST_CASE("malformed programs get the messages beside their lines") {
    const bool update = std::getenv("TDL_UPDATE") != nullptr;
    auto files = test::programs("errors");
    CHECK(files.size() >= 12);
    for (const auto &file : files) {
        INFO(file.filename().string());
        std::string text = test::readFile(file), bare;
        std::map<int, std::string> expected;
        std::istringstream lines(text);
        std::string line;
        for (int number = 1; std::getline(lines, line); ++number) {
            if (size_t at = line.find(kMark); at != std::string::npos) {
                expected[number] = line.substr(at);
                line.resize(at);
                line.resize(line.find_last_not_of(' ') + 1);
            }
            bare += line + '\n';
        }
        Sources sources;
        Diagnostics diags(sources);
        auto module = parse(sources, sources.add(file.filename().string(), bare), diags);
        CHECK_FALSE(module.has_value());
        auto actual = reported(diags);
        if (update) {
            std::istringstream again(bare);
            std::ofstream out(file, std::ios::binary);
            for (int number = 1; std::getline(again, line); ++number)
                out << line << (actual.contains(number) ? "  " + actual[number] : "") << '\n';
            continue;
        }
        CHECK(expected == actual);
        for (int number = 1; number <= 1000; ++number) // the differences by line
            if (expected.contains(number) || actual.contains(number)) {
                INFO("line ", number);
                CHECK(expected[number] == actual[number]);
            }
    }
}
