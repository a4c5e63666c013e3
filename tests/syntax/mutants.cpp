// Programs with one or a few words deleted, doubled, exchanged or replaced. Whatever comes out: no crash, a message for
// every failure, no flood of messages for one mistake, and what still parses prints faithfully.
#include "files.h"
#include "syntax/parse.h"
#include "syntax/print.h"
#include <doctest/doctest.h>
#include <random>

using namespace tdl;

namespace {

/// Words, numbers, single signs, and the space before them.
std::vector<std::string> split(const std::string &text) {
    std::vector<std::string> out;
    for (size_t i = 0; i < text.size();) {
        size_t start = i;
        while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i]))) ++i;
        auto isWord = [&](size_t k) { return std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_'; };
        if (i < text.size() && text.compare(i, 2, "//") == 0)
            i = std::min(text.find('\n', i), text.size());
        else if (i < text.size() && isWord(i))
            while (i < text.size() && isWord(i)) ++i;
        else if (i < text.size())
            ++i;
        out.push_back(text.substr(start, i - start));
    }
    return out;
}

std::string mutate(std::vector<std::string> words, const std::vector<std::string> &others, int changes, std::mt19937 &random) {
    auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    for (int c = 0; c < changes && words.size() > 1; ++c) {
        size_t at = below(words.size());
        switch (random() % 5) {
        case 0: words.erase(words.begin() + static_cast<std::ptrdiff_t>(at)); break;
        case 1: words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), words[at]); break;
        case 2: std::swap(words[at], words[below(words.size())]); break;
        case 3: words[at] = others[below(others.size())]; break;
        default: words.resize(at + 1); break;
        }
    }
    std::string out;
    for (const std::string &w : words) out += w;
    return out;
}

struct Result {
    std::optional<ast::Module> module;
    int errors;
    std::string text;
};

Result run(const std::string &text) {
    Sources sources;
    Diagnostics diags(sources);
    auto m = parse(sources, sources.add("mutant.tdl", text), diags);
    return {std::move(m), diags.errorCount(), renderText(diags, false)};
}

} // namespace

TEST_CASE("mutants") {
    std::mt19937 random(1);
    std::vector<std::vector<std::string>> programs;
    std::vector<std::string> words;
    for (const auto &file : test::programs("programs")) {
        programs.push_back(split(test::readFile(file)));
        words.insert(words.end(), programs.back().begin(), programs.back().end());
    }
    int single = 0, messages = 0;
    for (int n = 0; n < 1500; ++n) {
        int changes = n % 3 == 0 ? 4 : 1;
        std::string text = mutate(programs[random() % programs.size()], words, changes, random);
        Result r = run(text);
        INFO(text, "\n", r.text);
        REQUIRE(r.module.has_value() == (r.errors == 0));
        if (changes == 1 && r.errors > 0) {
            CHECK(r.errors <= 6);
            ++single;
            messages += r.errors;
        }
        if (!r.module) continue;
        std::string once = print(*r.module);
        Result again = run(once);
        REQUIRE(again.module.has_value());
        REQUIRE(print(*again.module) == once);
    }
    MESSAGE(single, " mutants with one mistake, ", messages, " messages");
    CHECK(messages < single * 3 / 2);
}
