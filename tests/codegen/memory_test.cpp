// Memory: strides, clips, guards and values outside, buffers of this rank and of others behind flags, aborts.
#include "compiled.h"
#include <cstring>
#include <doctest/doctest.h>

namespace {
std::string base(const std::string &name, const std::string &type) {
    return "    %b" + name + " = base %T" + name + ", %rank : ptr<" + type + ">\n";
}
} // namespace

TEST_CASE("reads with clip, guard and a value outside; writes with clip and guard") {
    // Y[i, j] = X[i - 1, j + a] or i + j * 100; written for i in [1, M - 1) and if G
    std::string body =
        base("X", "i32") + base("Y", "i32") + base("Z", "i32") +
        "    %M = expr(value = M) : i64\n    %N = expr(value = N) : i64\n    %a = expr(value = a) : i64\n    "
        "%G = expr(value = G) : i64\n"
        "    %i = span %zero, %M(axis = i, cap = M) : range<i>\n    %j = span %zero, %N(axis = j, cap = N) : "
        "range<j>\n"
        "    %ix = index %i : i64[i]\n    %jx = index %j : i64[j]\n    %h = const(value = 100) : i64\n    "
        "%jh = mul %jx, %h : i64[j]\n    %o = add %ix, %jh : i64[i, j]\n    %o32 = cast %o : i32[i, j]\n"
        "    %minus = sub %zero, %N : i64\n    %off = add %minus, %a : i64\n    %p = at %bX, %off : "
        "ptr<i32>\n"
        "    %ihi = add %M, %one : i64\n    %jlo = sub %zero, %a : i64\n    %jhi = sub %N, %a : i64\n    %g "
        "= eq %G, %one : bool\n"
        "    %x = read %p, %N, %one, %one, %ihi, %jlo, %jhi, %o32(clip = [i, j], or) : i32[i, j] @3:3\n"
        "    %mhi = sub %M, %one : i64\n    write %x, %bY, %N, %one, %one, %mhi, %g(clip = [i], guard) @4:4\n"
        "    %c5 = const(value = 5) : i32\n    %z = read %bX, %N, %one, %g, %c5(guard, or) : i32[i, j] "
        "@5:5\n    write %z, %bZ, %N, %one @5:6\n";
    for (auto &made :
         versions(module({kern("halo", "M, N, a, G",
                               tensor("TX", "in", "M, N", "i32") + tensor("TY", "inout", "M, N", "i32") +
                                   tensor("TZ", "out", "M, N", "i32"),
                               program("main", "", "", body))}))) {
        const Compiled &c = *made;
        for (int64_t M : {0, 1, 2, 5})
            for (int64_t N : {0, 1, 37})
                for (int64_t a : {-3, 0, 1, 40})
                    for (int64_t G : {0, 1}) {
                        auto n = static_cast<size_t>(M * N);
                        std::vector<int32_t> X(n), Y(n, -1), Z(n, -1);
                        for (size_t i = 0; i < n; ++i) X[i] = static_cast<int32_t>(i) + 7;
                        fake::Launch l(c.kernel("halo"), 1, {M, N, a, G});
                        l.dense(0, 0, X.data(), {M, N}), l.dense(0, 1, Y.data(), {M, N}),
                            l.dense(0, 2, Z.data(), {M, N});
                        REQUIRE(l.run());
                        for (int64_t i = 0; i < M; ++i)
                            for (int64_t j = 0; j < N; ++j) {
                                bool in = i >= 1 && j + a >= 0 && j + a < N;
                                auto at = [&](int64_t r, int64_t s) {
                                    return static_cast<size_t>(r * N + s);
                                };
                                int64_t want = in ? X[at(i - 1, j + a)] : i + j * 100;
                                if (i < 1 || i >= M - 1 || !G) want = -1;
                                CHECK(Y[at(i, j)] == want);
                                CHECK(Z[at(i, j)] == (G ? X[at(i, j)] : 5));
                            }
                    }
    }
}

TEST_CASE("strided tensors and scalar parameters") {
    std::string body = base("X", "f32") + base("Y", "f64") +
                       "    %M = expr(value = M) : i64\n    %N = expr(value = N) : i64\n    %sx = stride "
                       "%TX(dim = 0) : i64\n    %sy = stride %TY(dim = 0) : i64\n"
                       "    %i = span %zero, %M(axis = i, cap = M) : range<i>\n    %j = span %zero, %N(axis "
                       "= j, cap = N) : range<j>\n"
                       "    %x = read %bX, %sx, %one : f32[i, j] @3:3\n    %u = mul %x, %scale : f32[i, j]\n "
                       "   %w = select %on, %u, %x : f32[i, j]\n    %y = cast %w : f64[i, j]\n"
                       "    write %y, %bY, %one, %sy @4:4\n"; // transposed
    std::string declarations = tensor("TX", "in", "M, N", "f32") +
                               "  %scale = param(name = scale) : f32\n  %on = param(name = on) : bool\n" +
                               tensor("TY", "out", "N, M", "f64");
    for (auto &made : versions(module({kern("turn", "M, N", declarations, program("main", "", "", body))}))) {
        const Compiled &c = *made;
        for (int on : {0, 1}) {
            std::vector<float> X(7 * 50);
            std::vector<double> Y(20 * 11, -1);
            for (size_t i = 0; i < X.size(); ++i) X[i] = static_cast<float>(i);
            float scale = 2.5f;
            uint32_t bits;
            std::memcpy(&bits, &scale, 4);
            fake::Launch l(c.kernel("turn"), 1, {7, 20}, {bits, static_cast<uint64_t>(on)});
            l.tensor(0, 0, X.data(), {50, 1}), l.tensor(0, 1, Y.data(), {11, 1});
            REQUIRE(l.run());
            for (size_t i = 0; i < 7; ++i)
                for (size_t j = 0; j < 20; ++j)
                    CHECK(Y[j * 11 + i] == double(X[i * 50 + j]) * (on ? 2.5 : 1));
            for (size_t j = 0; j < 20; ++j) CHECK(Y[j * 11 + 7] == -1);
        }
    }
}

namespace {
// Every rank pushes its row to all others' buffers, the last task of a push notifies; then rows are gathered.
std::string gather() {
    std::string push =
        "    %R = expr(value = ranks) : i64\n    %p = expr(value = (rank + 1 + q) % ranks) : i64\n"
        "    %t = acquire %done, %p, %one(scope = system) : token @3:1\n"
        "    %N = expr(value = N) : i64\n    %i = span %zero, %N(axis = i, cap = N) : range<i>\n" +
        base("X", "bf16") +
        "    %x = read %bX, %one : bf16[i] @3:2\n    %b = base %stage, %p : ptr<bf16>\n    %o = mul %rank, "
        "%N : i64\n    %to = at %b, %o : ptr<bf16>\n"
        "    write %x, %to, %one, %t @3:3\n    %last = arrive_join %sent, %q0, %one(scope = device) : bool "
        "@3:4\n"
        "    if %last {\n      release %here, %p, %rank(scope = system) @3:5\n    }\n";
    push = "    %q0 = expr(value = q) : i64\n" + push;
    std::string collect = "    %R = expr(value = ranks) : i64\n    %t = acquire %here, %zero, %R(scope = "
                          "system) : token @4:1\n    %N = expr(value = N) : i64\n"
                          "    %r = span %zero, %R(axis = r, cap = ranks) : range<r>\n    %i = span %zero, "
                          "%N(axis = i, cap = N) : range<i>\n"
                          "    %b = base %stage, %rank : ptr<bf16>\n    %x = read %b, %N, %one, %t : bf16[r, "
                          "i] @4:2\n    %y = cast %x : f32[r, i]\n"
                          "    %own = base %mine, %rank : ptr<f32>\n    write %y, %own, %N, %one @4:3\n"
                          "    %z = read %own, %N, %one : f32[r, i] @4:4\n" +
                          base("Y", "f32") +
                          "    write %z, %bY, %N, %one @4:5\n    %last = arrive_join %end, %zero, %one(scope "
                          "= device) : bool @4:6\n"
                          "    if %last {\n      loop %zero, %R, %one {\n        ^(%to: i64)\n        "
                          "release %done, %to, %rank(scope = system)\n        yield\n      }\n    }\n";
    return kern(
        "gather", "N",
        tensor("TX", "in", "N", "bf16") + tensor("TY", "out", "ranks, N", "f32") +
            "  %stage = buffer(name = stage, scope = protocol, dims = [ranks, N], origin = [0, 0]) : "
            "buffer<bf16>\n"
            "  %mine = buffer(name = mine, scope = rank, dims = [ranks, N], origin = [0, 0]) : buffer<f32>\n"
            "  %here = flag(name = here, kind = data, words = ranks) : flag\n  %sent = join(name = sent, "
            "words = ranks) : join\n",
        program("push", "q", "ranks", push) + program("collect", "", "", collect));
}
} // namespace

TEST_CASE("buffers of other ranks, flags and joins") {
    for (auto &made : versions(module({gather()}))) {
        const Compiled &c = *made;
        for (int ranks : {1, 2, 5})
            for (int64_t N : {0, 1, 100})
                for (int workers : {1, 3}) {
                    auto n = static_cast<size_t>(N), R = static_cast<size_t>(ranks);
                    std::vector<std::vector<uint16_t>> X(R, std::vector<uint16_t>(n));
                    std::vector<std::vector<float>> Y(R, std::vector<float>(n * R, -1));
                    fake::Launch l(c.kernel("gather"), ranks, {N});
                    for (size_t r = 0; r < R; ++r) {
                        for (size_t i = 0; i < n; ++i) X[r][i] = static_cast<uint16_t>(0x4000 + r * 128 + i);
                        l.dense(static_cast<int>(r), 0, X[r].data(), {N}),
                            l.dense(static_cast<int>(r), 1, Y[r].data(), {ranks, N});
                    }
                    l.epoch = 7;
                    REQUIRE(l.run(0, workers));
                    CHECK(l.tickets == ranks * (ranks + 1));
                    CHECK(l.waits == ranks * ranks * 2);
                    CHECK(l.notifies == ranks * ranks * 2);
                    for (size_t r = 0; r < R; ++r)
                        for (size_t p = 0; p < R; ++p)
                            for (size_t i = 0; i < n; ++i) {
                                uint32_t bits = static_cast<uint32_t>(X[p][i]) << 16;
                                float want;
                                std::memcpy(&want, &bits, 4);
                                CHECK(Y[r][p * n + i] == want);
                            }
                }
    }
}

TEST_CASE("an aborted wait leaves the program without arriving") {
    for (auto &made : versions(module({gather()}))) {
        const Compiled &c = *made;
        std::vector<uint16_t> X(10);
        std::vector<float> Y(10, -1);
        fake::Launch l(c.kernel("gather"), 1, {10});
        l.dense(0, 0, X.data(), {10}), l.dense(0, 1, Y.data(), {1, 10});
        REQUIRE(l.run(0, 1, 0)); // the first wait is aborted
        CHECK(l.arrivals == 0);
        CHECK(l.notifies == 0);
        CHECK(Y[0] == -1);
    }
}
