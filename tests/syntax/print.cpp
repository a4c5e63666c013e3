// The printed form: one style, parentheses where the tree needs them and nowhere else.
#include "syntax/print.h"
#include "syntax/parse.h"
#include <doctest/doctest.h>

using namespace tdl;

namespace {

/// The value of the only assignment, printed.
std::string expr(const std::string &text) {
    Sources sources;
    Diagnostics diags(sources);
    auto m = parse(sources, sources.add("test.tdl", "fn f() { x = " + text + " }"), diags);
    if (!m) return renderText(diags, false);
    const auto *fn = ast::get<ast::Fn>(m->items.at(0));
    return print(*ast::get<ast::Assign>(fn->body.at(0))->value);
}

std::string module(const std::string &text) {
    Sources sources;
    Diagnostics diags(sources);
    auto m = parse(sources, sources.add("test.tdl", text), diags);
    return m ? print(*m) : renderText(diags, false);
}

} // namespace

TEST_CASE("expressions print with the parentheses that they need") {
    for (const char *text : {"a + b + c",
                             "a + (b + c)",
                             "(a + b) + c",
                             "a - (b - c)",
                             "a * (b + c) * d",
                             "(a / b) * c",
                             "a / b * c % d",
                             "-a",
                             "--a",
                             "-(a + b)",
                             "-a * b",
                             "a - -b",
                             "!a && !(b || c)",
                             "a && b || c && d",
                             "a && (b || c)",
                             "a < b && c >= d",
                             "(a < b) == (c != d)",
                             "(a == b) == c",
                             "a as f32",
                             "-a as f32",
                             "(-a) as f32",
                             "(a + b) as bf16",
                             "a * b as f32 * c",
                             "a as f32 as bf16",
                             "A[i - 1, j] or 0",
                             "A[i] or -inf",
                             "A[i] or --1",
                             "(A[i] or 0) as f32",
                             "A[i] or (b as f32)",
                             "A[i] or (a + b)",
                             "(A[i] or B[i]) or C[i]",
                             "A[i] or (B[i] or C[i])",
                             "f()",
                             "f(x)",
                             "f<G, j, D>(m, l)",
                             "sum(v over a, b)",
                             "dot(a[i, k], b[j, k] over k)",
                             "sum(acc as bf16 over ranks)",
                             "i.begin",
                             "S[a : b]",
                             "(S @ ranks)[a : min(b, c)]",
                             "(T * KT)[0 : cnt[e]]",
                             "E @ ranks",
                             "T * KT @ ranks",
                             "index(E @ x)",
                             "-(E @ ranks)",
                             "a[i][j].end",
                             "f(x)[i]",
                             "(a + b)[i]",
                             "(1).begin",
                             "where(i >= j, s, -inf)",
                             "f((a < b), c > (d))",
                             "true",
                             "nan",
                             "0.5",
                             "1e-5",
                             "g(a < b, (c))",
                             "-A[i] or 0",
                             "(-A[i]) or 0"}) {
        std::string once = expr(text);
        CHECK(expr(once) == once);
        if (std::string_view(text).starts_with("f((a") || std::string_view(text).starts_with("g(") ||
            std::string_view(text) == "(A[i] or B[i]) or C[i]")
            continue; // said with other parentheses than written
        CHECK(once == text);
    }
    CHECK(expr("((a))") == "a");
    CHECK(expr("(a * b) + (c)") == "a * b + c");
    CHECK(expr("1_000") == "1000");
    CHECK(expr("A[i] or 0 as f32") == "(A[i] or 0) as f32");
    CHECK(expr("f(a < b, c > (d))") == "f(a<b, c>(d))"); // a call of a, as the grammar says
    CHECK(expr("f((a < b), c > (d))") == "f(a < b, c > d)");
    CHECK(expr("f((a < b), c > (d == e)[i] + 1)") == "f(a < b, (c) > (d == e)[i] + 1)");
}

TEST_CASE("modules print in one style") {
    CHECK(module("import \"std.tdl\" type T = bf16 type U = f32; const A = 1,B=2\n"
                 "///  Doubles.\n///\n/// Twice.   \nfn f<i>(x:f32[i],y,z:f32){a,b=g(x);return a*2,b}") ==
          "import \"std.tdl\"\n\ntype T = bf16\ntype U = f32\n\nconst A = 1, B = 2\n\n"
          "///  Doubles.\n///\n/// Twice.\nfn f<i>(x: f32[i], y, z: f32) {\n    a, b = g(x)\n    return a * "
          "2, b\n}\n");
    CHECK(
        module(
            "kernel k<N>on mesh(x,y)(A:in uniform bf16[N@x,e in E@y,c[e]],s:f32,B:inout f32[ranks@ranks]){\n"
            "tile T=4 let n=ceil(N,T) const c=1;require N%2==0 local P,Q:uniform f32[N]\n"
            "stage a{x:f32=0 for i in N by T in any order,j in S[0:3]{x+=1 x max=2 x min=3}}\n"
            "stage b:other<M,N>(A,1)repeat n{stage c for i in N{scatter A[i]=1 unique}}}\n"
            "schedule k for sm_90a,h200{tile T=8;kernel:persistent stage a:order ring;pipeline 4 "
            "fetch A:warps 1 load+2 math,chunk 16 MiB local P:bulk}") ==
        "kernel k<N> on mesh(x, y)(A: in uniform bf16[N @ x, e in E @ y, c[e]], s: f32, B: inout f32[ranks @ "
        "ranks]) {\n"
        "    tile T = 4\n    let n = ceil(N, T)\n    const c = 1\n    require N % 2 == 0\n    local P, Q: "
        "uniform f32[N]\n"
        "    stage a {\n        x: f32 = 0\n        for i in N by T in any order, j in S[0 : 3] {\n"
        "            x += 1\n            x max= 2\n            x min= 3\n        }\n    }\n"
        "    stage b: other<M, N>(A, 1)\n    repeat n {\n        stage c for i in N {\n"
        "            scatter A[i] = 1 unique\n        }\n    }\n}\n\n"
        "schedule k for sm_90a, h200 {\n    tile T = 8\n    kernel: persistent\n    stage a: order ring, "
        "pipeline 4\n"
        "    fetch A: warps 1 load + 2 math, chunk 16 MiB\n    local P: bulk\n}\n");
}
