// errors/*.tdl: each line says what is reported on it, in the order of the report, and nothing else is:
//
//     Y[i] = b     //! error: `Y` holds f32, and a store does not make f32 of bool [TDL0222] //! note:
//     declared here
//
// A line of expectations alone belongs to the line before it; `hint:` is a note without a place. With
// TDL_UPDATE=1 in the environment the expectations are written anew. Every kind of the checker's hundreds
// (0200 to 0599) must occur.
#include "check_file.h"
#include <cstdlib>
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace tdl;

namespace {

constexpr std::string_view kMark = "//! ";

std::string_view word(Severity s) {
    return s == Severity::Error ? "error: " : s == Severity::Warning ? "warning: " : "performance: ";
}

/// The expectations of each line, as one text. What has no line at all belongs to line 1.
std::map<int, std::string> reported(const Diagnostics &diags) {
    std::map<int, std::string> out;
    auto add = [&](int line, std::string_view kind, const std::string &text) {
        std::string &all = out[line > 0 ? line : 1];
        if (!all.empty()) all += ' ';
        ((all += kMark) += kind) += text;
    };
    for (const Diagnostic &d : diags.list()) {
        add(d.loc.line, word(d.severity), fmt::format("{} [TDL{:04}]", d.text, diagInfo(d.kind).number));
        for (const Note &n : d.notes)
            if (n.loc.line > 0)
                add(n.loc.line, "note: ", n.text);
            else
                add(d.loc.line, "hint: ", n.text);
    }
    return out;
}

std::string trimmed(std::string s) {
    s.resize(s.find_last_not_of(' ') + 1);
    return s;
}

} // namespace

TEST_CASE("programs without meaning get the messages beside their lines") {
    const bool update = std::getenv("TDL_UPDATE") != nullptr;
    std::set<int> seen;
    for (const auto &file : test::programs("errors")) {
        INFO(file.filename().string());
        std::string bare;
        std::map<int, std::string> expected;
        std::istringstream lines(test::readFile(file));
        int number = 0;
        for (std::string line; std::getline(lines, line);) {
            size_t at = line.find(kMark);
            std::string code = trimmed(line.substr(0, at));
            bool alone = at != std::string::npos && code.empty();
            if (!alone) {
                ++number;
                bare += code + '\n';
            }
            if (at == std::string::npos) continue;
            std::string &all = expected[number];
            all += (all.empty() ? "" : " ") + trimmed(line.substr(at));
        }
        test::Checked checked(file.filename().string(), bare);
        CHECK(checked.module == nullptr);
        for (const Diagnostic &d : checked.diags.list()) seen.insert(diagInfo(d.kind).number);
        auto actual = reported(checked.diags);
        if (update) {
            std::ofstream out(file, std::ios::binary);
            std::istringstream again(bare);
            number = 0;
            for (std::string line; std::getline(again, line);) {
                out << line;
                std::string all = actual[++number];
                if (!all.empty() && line.size() + all.size() < 110)
                    out << "  " << all;
                else
                    for (size_t at = 0, next; at < all.size(); at = next) {
                        next = std::min(all.find(kMark, at + 1), all.size());
                        out << "\n    " << trimmed(all.substr(at, next - at));
                    }
                out << '\n';
            }
            continue;
        }
        for (auto *side : {&expected, &actual})
            for (auto &entry : *side) {
                INFO("line ", entry.first);
                CHECK(expected[entry.first] == actual[entry.first]);
            }
    }
    for (size_t i = 0; i < static_cast<size_t>(Diag::Count); ++i) {
        const DiagInfo &kind = diagInfo(static_cast<Diag>(i));
        if (kind.number < 200 || kind.number > 599) continue;
        INFO("a program in errors/ should trigger ", kind.number, " ", std::string(kind.name));
        CHECK(seen.contains(kind.number));
    }
}
