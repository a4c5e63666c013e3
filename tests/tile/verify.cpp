// programs/*.tile are legal and print as they parse; errors/*.tile get the messages beside their lines, and
// no others.
#include "tile/verify.h"
#include "files.h"
#include <cstdlib>
#include <doctest/doctest.h>

using namespace tdl;

static const std::filesystem::path kHere = TDL_TESTS_DIR;

TEST_CASE("legal modules verify and printing what was printed changes nothing") {
    for (const auto &file : test::tileFiles(kHere / "programs")) {
        INFO(file.filename().string());
        test::Parsed first(test::readFile(file));
        REQUIRE_MESSAGE(first.module, renderText(first.diags, false));
        CHECK(tile::verify(*first.module, first.diags));
        CHECK_MESSAGE(!first.diags.hasErrors(), renderText(first.diags, false));
        std::string text = ir::print(*first.module);
        test::Parsed second(text);
        REQUIRE(second.module);
        CHECK(ir::print(*second.module) == text);
    }
}

TEST_CASE("broken modules get the messages beside their lines") {
    auto files = test::tileFiles(kHere / "errors");
    CHECK(files.size() >= 6);
    std::map<int, int> seen;
    for (const auto &file : files) {
        INFO(file.filename().string());
        std::string text = test::readFile(file);
        test::Parsed p(text);
        REQUIRE_MESSAGE(p.module, renderText(p.diags, false));
        CHECK_FALSE(tile::verify(*p.module, p.diags));
        test::Lines actual = test::reported(p.diags);
        for (const Diagnostic &d : p.diags.list()) ++seen[diagInfo(d.kind).number];
        if (std::getenv("TDL_UPDATE")) {
            test::update(file, text, actual);
            continue;
        }
        test::Lines wanted = test::expected(text);
        for (auto &[line, what] : actual) CHECK_MESSAGE(wanted[line] == what, "line ", line);
        for (auto &[line, what] : wanted) CHECK_MESSAGE(actual[line] == what, "line ", line);
    }
    for (int kind = 720; kind < 740; ++kind)
        if (findDiag(kind)) CHECK_MESSAGE(seen[kind] > 0, "no input for TDL0", kind);
}
