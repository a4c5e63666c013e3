// Every program of the language page and of the collection of programs is read, and printing is faithful:
// print(parse(print(m))) is print(m), and the tree behind it is the same.
#include "files.h"
#include "syntax/parse.h"
#include "syntax/print.h"
#include <doctest/doctest.h>

using namespace tdl;

namespace {

std::optional<ast::Module> parseText(const std::string &text, std::string &errors) {
    Sources sources;
    Diagnostics diags(sources);
    std::optional<ast::Module> m = parse(sources, sources.add("test.tdl", text), diags);
    errors = renderText(diags, false);
    return m;
}

} // namespace

TEST_CASE("the programs parse, and print-parse-print is the identity") {
    auto files = test::programs("programs");
    CHECK(files.size() >= 39);
    for (const auto &file : files) {
        INFO(file.filename().string());
        std::string errors;
        auto module = parseText(test::readFile(file), errors);
        CHECK(errors == "");
        REQUIRE(module.has_value());
        CHECK_FALSE(module->items.empty());
        std::string once = print(*module);
        auto again = parseText(once, errors);
        CHECK(errors == "");
        REQUIRE(again.has_value());
        CHECK(print(*again) == once);
    }
}
