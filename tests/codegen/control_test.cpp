// Loops and what they carry, conditions, and the order of memory accesses that virtual tiles must keep.
#include "compiled.h"
#include <cmath>
#include <doctest/doctest.h>

namespace {

std::string base(const std::string &name, const std::string &type) {
    return "    %b" + name + " = base %T" + name + ", %rank : ptr<" + type + ">\n";
}

} // namespace

TEST_CASE("carried scalars, addresses and tiles; a swap; no turn at all") {
    // a, b = b, a and s = s + index, n times; then R = a * 10 + b, S = s
    std::string body = base("X", "f32") + base("Y", "f32") + base("R", "f32") + base("S", "i64") +
                       "    %L = expr(value = L) : i64\n    %n = expr(value = n) : i64\n    %i = span %zero, "
                       "%L(axis = i, cap = L) : range<i>\n"
                       "    %x = read %bX, %one : f32[i] @3:3\n    %y = read %bY, %one : f32[i] @3:4\n"
                       "    %a, %b, %s, %p = loop %zero, %n, %one, %x, %y, %zero, %bX : f32[i], f32[i], i64, "
                       "ptr<f32> @4:1 {\n"
                       "      ^(%t: i64, %a1: f32[i], %b1: f32[i], %s1: i64, %p1: ptr<f32>)\n"
                       "      %s2 = add %s1, %t : i64\n      %p2 = at %p1, %zero : ptr<f32>\n      yield "
                       "%b1, %a1, %s2, %p2\n    }\n"
                       "    %ten = const(value = 10.0) : f32\n    %m = mul %a, %ten : f32[i]\n    %z = read "
                       "%p, %one : f32[i] @5:1\n"
                       "    %q = add %m, %b : f32[i]\n    %r = add %q, %z : f32[i]\n    write %r, %bR, %one "
                       "@5:2\n    write %s, %bS @5:3\n";
    for (auto &made :
         versions(module({kern("swap", "L, n",
                               tensor("TX", "in", "L", "f32") + tensor("TY", "in", "L", "f32") +
                                   tensor("TR", "out", "L", "f32") + tensor("TS", "out", "1", "i64"),
                               program("main", "", "", body))}))) {
        const Compiled &c = *made;
        for (int64_t n : {0, 1, 2, 7})
            for (int64_t L : {0, 1, 33}) {
                std::vector<float> X(static_cast<size_t>(L)), Y(X), R(X);
                for (size_t i = 0; i < X.size(); ++i)
                    X[i] = static_cast<float>(i), Y[i] = 100 + static_cast<float>(i);
                int64_t S = -1;
                fake::Launch l(c.kernel("swap"), 1, {L, n});
                l.dense(0, 0, X.data(), {L}), l.dense(0, 1, Y.data(), {L}), l.dense(0, 2, R.data(), {L}),
                    l.dense(0, 3, &S, {1});
                REQUIRE(l.run());
                CHECK(S == n * (n - 1) / 2);
                for (size_t i = 0; i < X.size(); ++i)
                    CHECK(R[i] == (n % 2 ? Y[i] * 10 + X[i] : X[i] * 10 + Y[i]) + X[i]);
            }
    }
}

TEST_CASE(
    "online softmax: carried tiles that need each other's old values, products fused into one of them") {
    // for j by 16: s = Q K^T; n = max(m, max s); p = exp(s - n); c = exp(m - n); m, l, o = n, l c + sum p, o
    // c + p V
    std::string body =
        base("Q", "f32") + base("K", "f32") + base("V", "f32") + base("O", "f32") +
        "    %M = expr(value = M) : i64\n    %S = expr(value = S) : i64\n    %D = expr(value = D) : i64\n    "
        "%step = const(value = 16) : i64\n"
        "    %i = span %zero, %M(axis = i, cap = M) : range<i>\n    %d = span %zero, %D(axis = d, cap = D) : "
        "range<d>\n"
        "    %q = read %bQ, %D, %one : f32[i, d] @3:3\n    %inf = const(value = -inf) : f32\n    %f0 = "
        "const(value = 0.0) : f32\n"
        "    %m0 = broadcast %inf, %i : f32[i]\n    %l0 = broadcast %f0, %i : f32[i]\n    %o0 = broadcast "
        "%f0, %i, %d : f32[i, d]\n"
        "    %m, %l, %o = loop %zero, %S, %step, %m0, %l0, %o0 : f32[i], f32[i], f32[i, d] @4:1 {\n"
        "      ^(%j0: i64, %m1: f32[i], %l1: f32[i], %o1: f32[i, d])\n"
        "      %j1 = add %j0, %step : i64\n      %j2 = min %j1, %S : i64\n      %j = span %j0, %j2(axis = j, "
        "cap = 16) : range<j>\n"
        "      %jo = mul %j0, %D : i64\n      %pk = at %bK, %jo : ptr<f32>\n      %pv = at %bV, %jo : "
        "ptr<f32>\n"
        "      %k = read %pk, %D, %one : f32[j, d] @4:2\n      %v = read %pv, %D, %one : f32[j, d] @4:3\n"
        "      %s = dot %q, %k(over = [d]) : f32[i, j]\n      %x = reduce %s(kind = max, over = [j]) : "
        "f32[i]\n      %n = max %m1, %x : f32[i]\n"
        "      %e = sub %s, %n : f32[i, j]\n      %p = exp %e : f32[i, j]\n      %g = sub %m1, %n : f32[i]\n "
        "     %c = exp %g : f32[i]\n"
        "      %lc = mul %l1, %c : f32[i]\n      %ps = reduce %p(kind = sum, over = [j]) : f32[i]\n      %ln "
        "= add %lc, %ps : f32[i]\n"
        "      %oc = mul %o1, %c : f32[i, d]\n      %pv1 = dot %p, %v(over = [j]) : f32[i, d]\n      %on = "
        "add %oc, %pv1 : f32[i, d]\n"
        "      yield %n, %ln, %on\n    }\n"
        "    %r = div %o, %l : f32[i, d]\n    write %r, %bO, %D, %one @5:1\n";
    for (auto &made :
         versions(module({kern("attend", "M, S, D",
                               tensor("TQ", "in", "M, D", "f32") + tensor("TK", "in", "S, D", "f32") +
                                   tensor("TV", "in", "S, D", "f32") + tensor("TO", "out", "M, D", "f32"),
                               program("main", "", "", body))}))) {
        const Compiled &c = *made;
        for (auto [M, S, D] : {std::array<int64_t, 3>{1, 1, 1}, {5, 15, 8}, {13, 50, 24}, {20, 64, 33}}) {
            std::vector<float> Q(static_cast<size_t>(M * D)), K(static_cast<size_t>(S * D)), V(K), O(Q);
            for (size_t i = 0; i < Q.size(); ++i) Q[i] = std::sin(static_cast<float>(i) * 1.3f);
            for (size_t i = 0; i < K.size(); ++i)
                K[i] = std::cos(static_cast<float>(i) * 0.7f), V[i] = std::sin(static_cast<float>(i) * 0.3f);
            fake::Launch l(c.kernel("attend"), 1, {M, S, D});
            l.dense(0, 0, Q.data(), {M, D}), l.dense(0, 1, K.data(), {S, D}), l.dense(0, 2, V.data(), {S, D}),
                l.dense(0, 3, O.data(), {M, D});
            REQUIRE(l.run());
            for (int64_t i = 0; i < M; ++i) {
                std::vector<double> p(static_cast<size_t>(S));
                double top = -1e30, sum = 0;
                for (int64_t j = 0; j < S; ++j) {
                    for (int64_t d = 0; d < D; ++d)
                        p[static_cast<size_t>(j)] += double(Q[static_cast<size_t>(i * D + d)]) *
                                                     double(K[static_cast<size_t>(j * D + d)]);
                    top = std::max(top, p[static_cast<size_t>(j)]);
                }
                for (double &x : p) sum += x = std::exp(x - top);
                for (int64_t d = 0; d < D; ++d) {
                    double want = 0;
                    for (int64_t j = 0; j < S; ++j)
                        want += p[static_cast<size_t>(j)] / sum * double(V[static_cast<size_t>(j * D + d)]);
                    CHECK(O[static_cast<size_t>(i * D + d)] == doctest::Approx(want).epsilon(1e-5));
                }
            }
        }
    }
}

TEST_CASE("nested loops accumulate in one slot; a loop in a condition") {
    std::string body =
        base("X", "f32") + base("R", "f32") +
        "    %L = expr(value = L) : i64\n    %i = span %zero, %L(axis = i, cap = L) : range<i>\n    %f0 = "
        "const(value = 0.0) : f32\n    %a0 = broadcast %f0, %i : f32[i]\n"
        "    %n3 = const(value = 3) : i64\n    %n4 = const(value = 4) : i64\n"
        "    %a = loop %zero, %n3, %one, %a0 : f32[i] @4:1 {\n      ^(%u: i64, %a1: f32[i])\n"
        "      %b = loop %zero, %n4, %one, %a1 : f32[i] @4:2 {\n        ^(%w: i64, %b1: f32[i])\n"
        "        %x = read %bX, %one : f32[i] @4:3\n        %b2 = add %b1, %x : f32[i]\n        yield %b2\n  "
        "    }\n      yield %b\n    }\n"
        "    write %a, %bR, %one @5:1\n    %big = gt %L, %n3 : bool\n    if %big @6:1 {\n"
        "      %p = at %bR, %one : ptr<f32>\n      %q = read %p : f32 @6:2\n      %t = loop %zero, %n4, "
        "%one, %q : f32 @6:3 {\n        ^(%v: i64, %q1: f32)\n        %q2 = add %q1, %q : f32\n        yield "
        "%q2\n      }\n      write %t, %bR @6:4\n    }\n";
    for (auto &made : versions(
             module({kern("nest", "L", tensor("TX", "in", "L", "f32") + tensor("TR", "inout", "L", "f32"),
                          program("main", "", "", body))}))) {
        const Compiled &c = *made;
        for (int64_t L : {1, 3, 4, 40}) {
            std::vector<float> X(static_cast<size_t>(L)), R(X);
            for (size_t i = 0; i < X.size(); ++i) X[i] = static_cast<float>(i) + 1;
            fake::Launch l(c.kernel("nest"), 1, {L});
            l.dense(0, 0, X.data(), {L}), l.dense(0, 1, R.data(), {L});
            REQUIRE(l.run());
            CHECK(l.layout.back() <= (L * 4 + 63) / 64 * 64); // one slot for both loops
            for (size_t i = 0; i < X.size(); ++i)
                CHECK(R[i] == (i == 0 && L > 3 ? 12 * X[1] * 5 : 12 * X[i]));
        }
    }
}

TEST_CASE("a loop that runs twice starts from the same value") {
    std::string body =
        base("X", "f32") + base("R", "f32") +
        "    %L = expr(value = L) : i64\n    %i = span %zero, %L(axis = i, cap = L) : range<i>\n"
        "    %n3 = const(value = 3) : i64\n    %n2 = const(value = 2) : i64\n    %f1 = const(value = 1.0) : "
        "f32\n"
        "    %c = span %zero, %n2(axis = c, cap = 2) : range<c>\n    %x = read %bX, %n2, %one : f32[i, c] "
        "@3:1\n"
        "    %s = reduce %x(kind = sum, over = [c]) : f32[i] @3:2\n"
        "    loop %zero, %n2, %one @4:1 {\n      ^(%u: i64)\n"
        "      %a = loop %zero, %n3, %one, %s : f32[i] @4:2 {\n        ^(%w: i64, %b: f32[i])\n"
        "        %b2 = add %b, %f1 : f32[i]\n        yield %b2\n      }\n"
        "      %o = mul %u, %L : i64\n      %p = at %bR, %o : ptr<f32>\n      write %a, %p, %one @5:1\n      "
        "yield\n    }\n";
    for (auto &made : versions(module(
             {kern("twice", "L", tensor("TX", "in", "L, 2", "f32") + tensor("TR", "out", "2, L", "f32"),
                   program("main", "", "", body))})))
        for (int64_t L : {1, 9}) {
            std::vector<float> X(static_cast<size_t>(2 * L), 4), R(X.size());
            fake::Launch l(made->kernel("twice"), 1, {L});
            l.dense(0, 0, X.data(), {L, 2}), l.dense(0, 1, R.data(), {2, L});
            REQUIRE(l.run());
            for (float r : R) CHECK(r == 11);
        }
}

TEST_CASE("a read keeps its value across a write that changes what it read") {
    // old = X; X = Y; Z = old (a copy is needed);  W[i] = W[i] + 1 (in place);  V[i] = V[i + 1] (shifted, in
    // place)
    std::string body;
    for (const char *n : {"X", "Y", "Z", "W", "V"}) body += base(n, "f32");
    body += "    %L = expr(value = L) : i64\n    %i = span %zero, %L(axis = i, cap = L) : range<i>\n"
            "    %x = read %bX, %one : f32[i] @3:1\n    %y = read %bY, %one : f32[i] @3:2\n    write %y, "
            "%bX, %one @3:3\n    write %x, %bZ, %one @3:4\n"
            "    %f1 = const(value = 1.0) : f32\n    %w = read %bW, %one : f32[i] @4:1\n    %w1 = add %w, "
            "%f1 : f32[i]\n    write %w1, %bW, %one @4:2\n"
            "    %minus = const(value = -1) : i64\n    %pv = at %bV, %one : ptr<f32>\n    %v = read %bV, "
            "%one : f32[i] @5:1\n    write %v, %pv, %one @5:2\n";
    std::string declarations;
    for (const char *n : {"X", "Y", "Z", "W"})
        declarations += tensor(std::string("T") + n, "inout", "L", "f32");
    for (auto &made :
         versions(module({kern("order", "L", declarations + tensor("TV", "inout", "L + 1", "f32"),
                               program("main", "", "", body))}))) {
        const Compiled &c = *made;
        for (int64_t L : {0, 1, 5, 100}) {
            auto n = static_cast<size_t>(L);
            std::vector<float> X(n), Y(n), Z(n), W(n), V(n + 1);
            for (size_t i = 0; i < n; ++i) X[i] = static_cast<float>(i), Y[i] = 1000 + X[i], W[i] = X[i];
            for (size_t i = 0; i <= n; ++i) V[i] = static_cast<float>(i);
            fake::Launch l(c.kernel("order"), 1, {L});
            int k = 0;
            for (auto *t : {&X, &Y, &Z, &W}) l.dense(0, k++, t->data(), {L});
            l.dense(0, k, V.data(), {L + 1});
            REQUIRE(l.run());
            for (size_t i = 0; i < n; ++i) {
                CHECK(X[i] == 1000 + static_cast<float>(i));
                CHECK(Z[i] == static_cast<float>(i));
                CHECK(W[i] == static_cast<float>(i) + 1);
                CHECK(V[i + 1] == static_cast<float>(i));
            }
        }
    }
}
