// Products: types, orders of axes in memory, tails, batches, sums over several axes, vectors, and what is
// fused.
#include "compiled.h"
#include "support/convert.h"
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <random>

using namespace tdl;

namespace {

/// Small integers: exact in every type, order and grouping.
std::vector<char> data(Elem e, size_t n, unsigned seed) {
    std::vector<char> out(n * static_cast<size_t>(elemBytes(e)));
    std::mt19937 random(seed);
    for (size_t i = 0; i < n; ++i) {
        int v = static_cast<int>(random() % 7) - 3;
        char *at = out.data() + i * static_cast<size_t>(elemBytes(e));
        if (isFloat(e))
            writeFloat(e, at, v);
        else
            writeInt(e, at, v);
    }
    return out;
}
double value(Elem e, const std::vector<char> &d, int64_t i) {
    const char *at = d.data() + i * elemBytes(e);
    return isFloat(e) ? readFloat(e, at) : static_cast<double>(readInt(e, at));
}

struct Case {
    std::string type;
    bool aTurned, bTurned, cTurned; // A[k, i], B[k, j], C[j, i]
    bool carried = true;            // acc += dot in a loop over k, else one dot over all of it
    std::string name() const {
        return "p_" + type + (aTurned ? "_t" : "_n") + (bTurned ? "t" : "n") + (cTurned ? "t" : "n") +
               (carried ? "_l" : "_w");
    }
};

// C[i, j] = sum over k of A * B, cut by 20, 40, 24.
std::string kernelOf(const Case &c) {
    Elem e = *parseElem(c.type);
    std::string acc(elemName(accumulatorOf(e))), zero = isFloat(e) ? "0.0" : "0";
    std::string t = c.type;
    auto access = [&](const std::string &m, const std::string &first, const std::string &second, bool turned,
                      const std::string &lo1, const std::string &lo2) {
        // address of [lo1, lo2] and strides of the axes first, second
        std::string s = turned ? "    %" + m + "o1 = mul " + lo2 + ", %s" + m + " : i64\n    %" + m +
                                     "o = add %" + m + "o1, " + lo1 + " : i64\n"
                               : "    %" + m + "o1 = mul " + lo1 + ", %s" + m + " : i64\n    %" + m +
                                     "o = add %" + m + "o1, " + lo2 + " : i64\n";
        (void)first, (void)second;
        return s + "    %" + m + "p = at %b" + m + ", %" + m + "o : ptr<" + (m == "C" ? acc : t) + ">\n";
    };
    auto strides = [](const std::string &m, bool turned) {
        return turned ? "%one, %s" + m : "%s" + m + ", %one";
    };
    std::string body;
    for (std::string m : {"A", "B", "C"})
        body += "    %b" + m + " = base %T" + m + ", %rank : ptr<" + (m == "C" ? acc : t) + ">\n    %s" + m +
                " = stride %T" + m + "(dim = 0) : i64\n";
    body += "    %i0 = expr(value = ti * 20) : i64\n    %i1 = expr(value = min(M, ti * 20 + 20)) : i64\n    "
            "%i = span %i0, %i1(axis = i, cap = 20) : range<i>\n"
            "    %j0 = expr(value = tj * 40) : i64\n    %j1 = expr(value = min(N, tj * 40 + 40)) : i64\n    "
            "%j = span %j0, %j1(axis = j, cap = 40) : range<j>\n"
            "    %K = expr(value = K) : i64\n";
    std::string cap = c.carried ? "24" : "K", lo = c.carried ? "%k0" : "%zero", hi = c.carried ? "%k2" : "%K";
    std::string inner = "    %k = span " + lo + ", " + hi + "(axis = k, cap = " + cap + ") : range<k>\n" +
                        access("A", "i", "k", c.aTurned, "%i0", lo) + "    %a = read %Ap, " +
                        strides("A", c.aTurned) + " : " + t + "[i, k] @3:3\n" +
                        access("B", "j", "k", c.bTurned, "%j0", lo) + "    %b = read %Bp, " +
                        strides("B", c.bTurned) + " : " + t +
                        "[j, k] @3:4\n    %d = dot %a, %b(over = [k]) : " + acc + "[i, j] @3:5\n";
    if (c.carried)
        body += "    %f0 = const(value = " + zero + ") : " + acc +
                "\n    %init = broadcast %f0, %i, %j : " + acc + "[i, j]\n" +
                "    %step = const(value = 24) : i64\n    %sum = loop %zero, %K, %step, %init : " + acc +
                "[i, j] {\n      ^(%k0: i64, %acc: " + acc +
                "[i, j])\n    %k1 = add %k0, %step : i64\n    %k2 = min %k1, %K : i64\n" + inner +
                "    %s = add %acc, %d : " + acc + "[i, j]\n    yield %s\n    }\n";
    else
        body += inner + "    %sum = add %d, %d : " + acc + "[i, j]\n";
    body += access("C", "i", "j", c.cTurned, "%i0", "%j0") + "    write %sum, %Cp, " +
            strides("C", c.cTurned) + " @4:4\n";
    auto dims = [](bool turned, const char *a, const char *b) {
        return turned ? std::string(b) + ", " + a : std::string(a) + ", " + b;
    };
    return kern(c.name(), "M, N, K",
                tensor("TA", "in", dims(c.aTurned, "M", "K"), t) +
                    tensor("TB", "in", dims(c.bTurned, "N", "K"), t) +
                    tensor("TC", "out", dims(c.cTurned, "M", "N"), acc),
                program("mm", "ti, tj", "max(1, ceil(M, 20)), max(1, ceil(N, 40))", body));
}

void check(const Compiled &compiled, const Case &c, int64_t M, int64_t N, int64_t K) {
    Elem e = *parseElem(c.type), acc = accumulatorOf(e);
    CAPTURE(c.name());
    CAPTURE(M);
    CAPTURE(N);
    CAPTURE(K);
    auto size = [](int64_t a, int64_t b) { return static_cast<size_t>(a * b); };
    auto A = data(e, size(M, K), 1), B = data(e, size(N, K), 2), C = data(acc, size(M, N), 3);
    fake::Launch l(compiled.kernel(c.name()), 1, {M, N, K});
    auto dense = [&](int i, std::vector<char> &d, bool turned, int64_t a, int64_t b) {
        l.dense(0, i, d.data(), turned ? std::vector<int64_t>{b, a} : std::vector<int64_t>{a, b});
    };
    dense(0, A, c.aTurned, M, K), dense(1, B, c.bTurned, N, K), dense(2, C, c.cTurned, M, N);
    REQUIRE(l.run());
    auto at = [](bool turned, int64_t a, int64_t b, int64_t A1, int64_t B1) {
        return turned ? b * A1 + a : a * B1 + b;
    };
    int wrong = 0;
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            double s = 0;
            for (int64_t k = 0; k < K; ++k)
                s += value(e, A, at(c.aTurned, i, k, M, K)) * value(e, B, at(c.bTurned, j, k, N, K));
            if (!c.carried) s *= 2;
            wrong += value(acc, C, at(c.cTurned, i, j, M, N)) != s;
        }
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("products of all types, orders and tails") {
    std::vector<Case> cases;
    for (const char *t : {"f32", "bf16", "f16", "f64", "i8", "i32", "i64"})
        cases.push_back({t, false, false, false});
    for (int bits = 1; bits < 8; ++bits)
        cases.push_back({"f32", (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    cases.push_back({"bf16", false, false, false, false});
    cases.push_back({"f64", true, true, false, false});
    std::vector<std::string> kerns;
    for (const Case &c : cases) kerns.push_back(kernelOf(c));
    for (auto &options : machineOptions()) {
        CAPTURE(describe(options));
        Compiled compiled(module(kerns), options);
        for (const Case &c : cases)
            for (auto [m, n, k] : {std::array<int64_t, 3>{0, 5, 5},
                                   {5, 5, 0},
                                   {1, 1, 1},
                                   {19, 39, 23},
                                   {20, 40, 24},
                                   {21, 41, 25},
                                   {47, 90, 100},
                                   {3, 50, 600}})
                check(compiled, c, m, n, k);
    }
}

TEST_CASE("a batch, two summed axes, extra rows and columns") {
    // R[b, h, j, g] = sum over c, k of A[b, h, c, k] * B[b, c, k, j, g]; also a product with a vector and one
    // to a scalar
    std::string body = "    %bA = base %TA, %rank : ptr<f32>\n    %bB = base %TB, %rank : ptr<f32>\n    %bR "
                       "= base %TR, %rank : ptr<f32>\n"
                       "    %bV = base %TV, %rank : ptr<f32>\n    %bS = base %TS, %rank : ptr<f32>\n"
                       "    %n3 = const(value = 3) : i64\n    %n5 = const(value = 5) : i64\n    %n4 = "
                       "const(value = 4) : i64\n    %n7 = const(value = 7) : i64\n"
                       "    %n2 = const(value = 2) : i64\n    %n6 = const(value = 6) : i64\n"
                       "    %b = span %zero, %n3(axis = b, cap = 3) : range<b>\n    %h = span %zero, "
                       "%n5(axis = h, cap = 5) : range<h>\n"
                       "    %c = span %zero, %n4(axis = c, cap = 4) : range<c>\n    %k = span %zero, "
                       "%n7(axis = k, cap = 7) : range<k>\n"
                       "    %j = span %zero, %n2(axis = j, cap = 2) : range<j>\n    %g = span %zero, "
                       "%n6(axis = g, cap = 6) : range<g>\n"
                       "    %a0 = const(value = 140) : i64\n    %a1 = const(value = 28) : i64\n"
                       "    %a = read %bA, %a0, %a1, %n7, %one : f32[b, h, c, k] @3:3\n"
                       "    %b0 = const(value = 336) : i64\n    %b1 = const(value = 84) : i64\n    %b2 = "
                       "const(value = 12) : i64\n"
                       "    %x = read %bB, %b0, %b1, %b2, %n6, %one : f32[b, c, k, j, g] @3:4\n"
                       "    %d = dot %a, %x(over = [c, k]) : f32[b, h, j, g] @3:5\n"
                       "    %r0 = const(value = 60) : i64\n    %r1 = const(value = 12) : i64\n"
                       "    write %d, %bR, %r0, %r1, %n6, %one @4:4\n"
                       "    %v = reduce %x(kind = sum, over = [b, j, g]) : f32[c, k] @5:5\n"
                       "    %w = dot %a, %v(over = [c, k]) : f32[b, h] @5:6\n"
                       "    write %w, %bV, %n5, %one @5:7\n"
                       "    %s = dot %a, %a(over = [b, h, c, k]) : f32 @6:6\n"
                       "    write %s, %bS @6:7\n";
    for (auto &made : versions(module(
             {kern("batch", "",
                   tensor("TA", "in", "3, 5, 4, 7", "f32") + tensor("TB", "in", "3, 4, 7, 2, 6", "f32") +
                       tensor("TR", "out", "3, 5, 2, 6", "f32") + tensor("TV", "out", "3, 5", "f32") +
                       tensor("TS", "out", "1", "f32"),
                   program("main", "", "", body))}))) {
        const Compiled &c = *made;
        std::vector<float> A(3 * 5 * 4 * 7), B(3 * 4 * 7 * 2 * 6), R(3 * 5 * 2 * 6), V(15), S(1);
        for (size_t i = 0; i < A.size(); ++i) A[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
        for (size_t i = 0; i < B.size(); ++i) B[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6);
        fake::Launch l(c.kernel("batch"), 1, {});
        l.dense(0, 0, A.data(), {3, 5, 4, 7});
        l.dense(0, 1, B.data(), {3, 4, 7, 2, 6});
        l.dense(0, 2, R.data(), {3, 5, 2, 6});
        l.dense(0, 3, V.data(), {3, 5});
        l.dense(0, 4, S.data(), {1});
        REQUIRE(l.run());
        float total = 0;
        for (float x : A) total += x * x;
        CHECK(S[0] == total);
        for (size_t b = 0; b < 3; ++b)
            for (size_t h = 0; h < 5; ++h) {
                float v = 0;
                for (size_t q = 0; q < 12; ++q) {
                    float s = 0;
                    for (size_t p = 0; p < 28; ++p) s += A[(b * 5 + h) * 28 + p] * B[(b * 28 + p) * 12 + q];
                    CHECK(R[(b * 5 + h) * 12 + q] == s);
                }
                for (size_t p = 0; p < 28; ++p)
                    for (size_t b2 = 0; b2 < 3; ++b2)
                        for (size_t q = 0; q < 12; ++q)
                            v += A[(b * 5 + h) * 28 + p] * B[(b2 * 28 + p) * 12 + q];
                CHECK(V[b * 5 + h] == v);
            }
    }
}
