#include "kernel/bounds.h"
#include "files.h"
#include <doctest/doctest.h>

using namespace tdl;
using namespace tdl::test;

// An expression from its text, through the parser of the IR.
static ir::Expr expr(const std::string &text) {
    Parsed p("e.kern", "tdl.kern 1\nrequire(cond = " + text + ", text = \"\")\n");
    REQUIRE_MESSAGE(p.module, p.messages());
    return p.module->top.ops[0]->expr("cond");
}

static std::string bound(const std::string &hi, const std::string &lo) {
    auto b = kernel::upperBound(expr(hi), expr(lo), [](std::string_view s) { return s != "t" && s != "p"; });
    return b ? b->str() : "none";
}

TEST_CASE("bounds of the length of a range") {
    CHECK(bound("min(M, (t + 1) * 64)", "t * 64") == "64");
    CHECK(bound("min(M, min((r + 1) * B, r * B + (t + 1) * 64))", "min(M, r * B + t * 64)") == "64");
    CHECK(bound("r * B + min(B, t * 8 + 8)", "r * B + min(B, t * 8)") == "8");
    CHECK(bound("min(M, max(a, b + 3))", "max(a, b)") == "3");
    CHECK(bound("48", "16") == "32");
    CHECK(bound("M", "M") == "0");
    CHECK(bound("min(10, M)", "0") == "10");
    // Known at launch.
    CHECK(bound("K", "0") == "K");
    CHECK(bound("min(M, (p + 1) * B)", "p * B") == "B");
    CHECK(bound("min(M, (p + 1) * max(1, ceil(M, ranks)))", "min(M, p * max(1, ceil(M, ranks)))") ==
          "max(1, ceil(M, ranks))");
    // Of a coordinate nothing is known.
    CHECK(bound("t", "0") == "none");
    CHECK(bound("t * p", "t") == "none");
}

// Whatever is called a bound is one: random expressions at random points.
TEST_CASE("bounds hold") {
    uint64_t state = 1;
    auto random = [&](uint64_t n) {
        return state = state * 6364136223846793005u + 1442695040888963407u, (state >> 33) % n;
    };
    const char *symbols[] = {"M", "B", "t", "p"};
    auto make = [&](auto &&self, int depth) -> ir::Expr {
        if (depth == 0 || random(5) == 0)
            return random(3) ? ir::Expr::sym(symbols[random(4)])
                             : ir::Expr(static_cast<int64_t>(random(9)) - 2);
        ir::Expr a = self(self, depth - 1), b = self(self, depth - 1);
        switch (random(5)) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 3: return ir::min(a, b);
        default: return ir::max(a, b);
        }
    };
    int found = 0;
    for (int i = 0; i < 3000; ++i) {
        ir::Expr hi = make(make, 3), lo = make(make, 3);
        auto b = kernel::upperBound(hi, lo, [](std::string_view s) { return s == "M" || s == "B"; });
        if (!b) continue;
        ++found;
        for (int k = 0; k < 30; ++k) {
            int64_t point[4];
            for (int64_t &x : point) x = static_cast<int64_t>(random(13)) - 3;
            auto env = [&](std::string_view s) -> std::optional<int64_t> {
                for (int n = 0; n < 4; ++n)
                    if (s == symbols[n]) return point[n];
                return std::nullopt;
            };
            CAPTURE(hi.str());
            CAPTURE(lo.str());
            CAPTURE(b->str());
            REQUIRE(*hi.evaluate(env) - *lo.evaluate(env) <= *b->evaluate(env));
        }
    }
    CHECK(found > 300);
}
