// Inputs made to hurt: too large, too deep, too long, not text. Each ends with a message or a tree, soon.
#include "syntax/parse.h"
#include "syntax/print.h"
#include <doctest/doctest.h>

using namespace tdl;

namespace {

struct Outcome {
    bool parsed = false;
    int errors = 0;
    std::string first; // the first message
    int line = 0, col = 0;
};

Outcome parsed(std::string text) {
    Sources sources;
    Diagnostics diags(sources);
    int file = sources.add("test.tdl", std::move(text));
    Outcome out;
    out.parsed = parse(sources, file, diags).has_value();
    out.errors = diags.errorCount();
    if (diags.list().empty()) return out;
    const Diagnostic &d = diags.list().front();
    out.first = d.text;
    out.line = d.loc.line;
    out.col = d.loc.col;
    return out;
}

std::string times(size_t n, std::string_view part) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += part;
    return out;
}

std::string kernelWith(std::string_view value) {
    std::string out = "kernel k<N>(Y: out f32[N]) {\nstage s for i in N by 4 {\nY[i] = ";
    return (out += value) += "\n}\n}\n";
}

constexpr const char *kTooDeep = "brackets are nested more than 256 deep";

} // namespace

TEST_CASE("size") {
    Outcome o = parsed(std::string(5u << 20, ' '));
    CHECK_FALSE(o.parsed);
    CHECK(o.first == "`test.tdl` has 5242880 bytes, more than the limit of 4194304");
    CHECK(parsed(std::string(4u << 20, ' ')).parsed);
    CHECK(parsed(times(1'100'000, "+ ")).first == "more than 1000000 words and signs in one file");
}

TEST_CASE("text that is no UTF-8") {
    for (const char *bad : {"\xff", "\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                            "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x92"}) {
        Outcome o = parsed(std::string("// first\n// ") + bad + "\n");
        CHECK_FALSE(o.parsed);
        CHECK(o.first == "invalid UTF-8 at byte 12");
        CHECK(o.line == 2);
        CHECK(o.col == 4);
    }
    CHECK(parsed("// \xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbb \xed\x9f\xbf \xf4\x8f\xbf\xbf\n").parsed);
    Outcome nul = parsed(std::string("kernel\0 k", 9));
    CHECK_FALSE(nul.parsed);
    CHECK(nul.first == "NUL byte at byte 6");
    CHECK(parsed("\xef\xbb\xbf" + kernelWith("1")).parsed); // a byte order mark
    Outcome later = parsed(kernelWith("/* \xc3\xa9\xc3\xa9 */ 1"));
    CHECK(later.errors > 0);
    Outcome column = parsed("import \"\xc3\xa9\xc3\xa9\" ]");
    CHECK(column.col == 15); // columns count bytes
}

TEST_CASE("nesting") {
    CHECK(parsed(kernelWith(times(254, "(") + "1" + times(254, ")"))).parsed);
    for (size_t n : {255u, 300u, 200'000u}) {
        Outcome o = parsed(kernelWith(times(n, "(") + "1" + times(n, ")")));
        CHECK_FALSE(o.parsed);
        CHECK(o.errors == 1);
        CHECK(o.first == kTooDeep);
        CHECK(o.line == 3);
    }
    // As much as fits between two brackets.
    Outcome full = parsed(kernelWith(times(254, "a || b && c < d + e * --------f(") + "1" + times(254, ")")));
    CHECK(full.first == "the expression is nested more than 1024 deep");
    CHECK(parsed(kernelWith(times(127, "a || b && c < d + e * -f<g, h>(") + "1" + times(127, ")"))).parsed);
    CHECK(parsed(kernelWith(times(100'000, "[(") + "1")).first == kTooDeep);
    CHECK(parsed("kernel k() { stage s { " + times(300, "for i in N { ") + times(302, "}")).first ==
          kTooDeep);
    CHECK(parsed("kernel k() { stage s { " + times(254, "for i in N { ") + times(256, "}")).parsed);
    CHECK(parsed(times(100'000, "{")).first == kTooDeep);
}

TEST_CASE("chains") {
    Outcome sum = parsed(kernelWith(times(199'999, "1 + ") + "1"));
    CHECK(sum.parsed);
    CHECK(parsed(kernelWith(times(10'000, "a * b - c / d && ") + "1")).parsed);
    CHECK(parsed(kernelWith("x - -------1")).parsed);
    CHECK(parsed(kernelWith(times(100'000, "-") + "1")).first == "more than 8 signs in a row");
    CHECK(parsed(kernelWith(times(100'000, "!- ") + "1")).first == "more than 8 signs in a row");
    for (const char *suffix : {" as f32", " or 1", "[1]", ".x", "[1 : 2]"}) {
        CHECK(parsed(kernelWith("x" + times(1'000, suffix))).parsed);
        Outcome o = parsed(kernelWith("x" + times(5'000, suffix)));
        CHECK_FALSE(o.parsed);
        CHECK(o.errors == 1);
        CHECK(o.first == "the expression is nested more than 1024 deep");
    }
    CHECK(parsed(kernelWith("f(" + times(20'000, "a < b, ") + "c)")).parsed); // none is a call `a<b, ...>(`
}

TEST_CASE("many errors end at the limit, soon") {
    Outcome o = parsed("kernel k<N>(Y: out f32[N]) {\nstage s {\n" + times(20'000, "x = )\n") + "}}");
    CHECK_FALSE(o.parsed);
    CHECK(o.first == "expected an expression, found `)`");
    CHECK(parsed(times(20'000, "kernel ")).errors > 0);
    CHECK(parsed(times(20'000, "kernel k<N>(")).errors > 0);
    CHECK(parsed(times(20'000, "} ")).errors == 1);
}

TEST_CASE("all line ends, and texts with nothing in them") {
    std::string unix = "/// Doc.\nkernel k<N>(Y: out f32[N]) {\n    stage s for i in N {\n        Y[i] = 1 "
                       "// one\n    }\n}\n",
                dos;
    for (char c : unix) (dos += c == '\n' ? "\r" : "") += c;
    auto printed = [](std::string text) {
        Sources sources;
        Diagnostics diags(sources);
        auto m = parse(sources, sources.add("test.tdl", std::move(text)), diags);
        return m ? print(*m) : renderText(diags, false);
    };
    CHECK(printed(unix) == printed(dos));
    CHECK(printed(dos).starts_with("/// Doc.\nkernel"));
    CHECK(parsed(times(3, "\r\n") + "kernel ]").line == 4);
    for (const char *empty :
         {"", "\n", "  \t\r\n\f", "// only a comment", "/// only a doc comment\n", ";;;", "\xef\xbb\xbf"}) {
        Outcome o = parsed(empty);
        CHECK(o.parsed);
        CHECK(o.errors == 0);
    }
}
