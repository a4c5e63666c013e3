// Programs of the corpus with a name, number or sign replaced by another of the same program. Whatever comes
// out is either refused with a message of the parser or the checker, or becomes tile IR that verifies, prints
// and parses: never both, never neither, and never a message about IR, which would be a hole in the checker.
#include "check_file.h"
#include <cctype>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>
#include <set>

using namespace tdl;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> words(const std::string &text) {
    std::vector<std::string> out;
    for (size_t at = 0; at < text.size();) {
        auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
        size_t end = at + 1;
        if (text.compare(at, 2, "//") == 0)
            end = std::min(text.find('\n', at), text.size());
        else if (isWord(text[at]))
            while (end < text.size() && isWord(text[end])) ++end;
        out.push_back(text.substr(at, end - at));
        at = end;
    }
    return out;
}

bool isKeyword(const std::string &w) {
    static const std::set<std::string> all{"kernel", "stage", "for",   "in",  "out",     "inout", "by",
                                           "over",   "tile",  "const", "let", "require", "local", "uniform",
                                           "type",   "as",    "or",    "fn",  "return",  "any",   "order"};
    return all.contains(w);
}

// Mostly one name or number for another, so that most mutants are sentences of the language.
std::string mutant(std::vector<std::string> list, std::mt19937 &random) {
    auto pick = [&](bool sign) {
        for (;;) {
            size_t i = random() % list.size();
            bool word = std::isalnum(static_cast<unsigned char>(list[i][0])) && !isKeyword(list[i]);
            if (sign ? std::ispunct(static_cast<unsigned char>(list[i][0])) && list[i].size() == 1 : word)
                return i;
        }
    };
    for (unsigned n = 1 + random() % 2; n > 0; --n) {
        bool sign = random() % 12 == 0;
        size_t at = pick(sign), from = pick(sign);
        switch (random() % 8) {
        case 0: std::swap(list[at], list[from]); break;
        case 1: list[at] = random() % 2 ? "0" : "1"; break;
        case 2: list[at] += sign ? list[at] : " + 1"; break;
        default: list[at] = list[from]; break;
        }
    }
    std::string out;
    for (const std::string &w : list) out += w;
    return out;
}

} // namespace

TEST_CASE("programs with a slip are refused with a reason, or mean something") {
    const char *more = std::getenv("TDL_MUTANTS");
    const int each = more ? std::atoi(more) : 40; // per program
    std::mt19937 random(1);
    int refused = 0, accepted = 0;
    const fs::path source = TDL_SOURCE_DIR;
    for (const char *folder :
         {"samples", "tests/exec/programs", "tests/syntax/programs", "tests/sema/golden"}) {
        std::vector<fs::path> files;
        for (const auto &entry : fs::recursive_directory_iterator(source / folder))
            if (entry.path().extension() == ".tdl") files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const auto &file : files) {
            auto list = words(test::readFile(file));
            for (int i = 0; i < each; ++i) {
                std::string text = mutant(list, random);
                INFO(text);
                test::Checked checked(file.filename().string(), text);
                ++(checked.module ? accepted : refused);
                REQUIRE((checked.module != nullptr) == !checked.diags.hasErrors());
                for (const Diagnostic &d : checked.diags.list()) {
                    INFO(d.text);
                    REQUIRE(diagInfo(d.kind).number < 600);
                }
                if (!checked.module) continue;
                std::string ir = ir::print(*checked.module);
                Sources sources;
                Diagnostics diags(sources);
                auto again = ir::parse(sources, sources.add("x.tile", ir), diags);
                REQUIRE(again != nullptr);
                REQUIRE(ir::print(*again) == ir);
            }
        }
    }
    MESSAGE(accepted << " accepted, " << refused << " refused");
}
