// What the lowered plans compute, on every small number of ranks and size, from zero on.
#include "files.h"
#include "machine.h"
#include <doctest/doctest.h>

using namespace tdl;
using namespace tdl::test;
using Indices = Machine::Indices;

namespace {

double input(int64_t a, int64_t b = 0, int64_t rank = 0) {
    return static_cast<double>((a * 7 + b * 3 + rank * 5) % 11 - 4);
}

struct Kernel {
    Parsed plan;
    std::unique_ptr<ir::Module> module;
    explicit Kernel(const char *name)
        : plan(std::filesystem::path(TDL_TESTS_DIR) / "lower" / (std::string(name) + ".plan")) {
        REQUIRE_MESSAGE(plan.module, plan.messages());
        module = kernel::lower(*plan.module, {}, plan.diags);
        REQUIRE_MESSAGE(module, plan.messages());
    }
    Machine machine(int64_t ranks, std::map<std::string, int64_t> sizes) const {
        return Machine(*module->top.ops[0], ranks, std::move(sizes));
    }
};

// f(rank, i) for every element that a rank holds.
template <class F> void each(Machine &m, const char *name, int64_t ranks, int64_t n, F &&f) {
    for (int64_t r = 0; r < ranks; ++r)
        for (int64_t i = 0; i < n; ++i)
            if (m.holds(name, r, {i})) f(r, m.at(name, r, {i}), i);
}
template <class F> void each(Machine &m, const char *name, int64_t ranks, int64_t rows, int64_t cols, F &&f) {
    for (int64_t r = 0; r < ranks; ++r)
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < cols; ++j)
                if (m.holds(name, r, {i, j})) f(r, m.at(name, r, {i, j}), i, j);
}
template <class F> void vectors(F &&f) {
    for (int64_t ranks : {1, 2, 3, 5})
        for (int64_t n = 0; n <= 9; ++n) {
            CAPTURE(ranks);
            CAPTURE(n);
            f(ranks, n);
        }
}
template <class F> void matrices(F &&f) {
    for (int64_t ranks : {1, 2, 3})
        for (int64_t m : {0, 1, 2, 3, 5})
            for (int64_t n : {0, 1, 4, 7}) {
                CAPTURE(ranks);
                CAPTURE(m);
                CAPTURE(n);
                f(ranks, m, n);
            }
}

} // namespace

TEST_CASE("elementwise on private tensors") {
    Kernel k("vector_add");
    vectors([&](int64_t ranks, int64_t n) {
        Machine m = k.machine(ranks, {{"N", n}});
        each(m, "X", ranks, n, [](int64_t r, double &x, int64_t i) { x = input(i, 0, r); });
        each(m, "Y", ranks, n, [](int64_t r, double &x, int64_t i) { x = input(i, 1, r); });
        m.run();
        each(m, "Z", ranks, n,
             [](int64_t r, double x, int64_t i) { REQUIRE(x == input(i, 0, r) + input(i, 1, r)); });
    });
}

TEST_CASE("a transfer in chunks to every rank") {
    Kernel k("all_gather");
    vectors([&](int64_t ranks, int64_t n) {
        Machine m = k.machine(ranks, {{"N", n}});
        each(m, "A", ranks, n, [](int64_t, double &x, int64_t i) { x = input(i); });
        m.run();
        each(m, "B", ranks, n, [](int64_t, double x, int64_t i) { REQUIRE(x == input(i)); });
        REQUIRE(m.executed["write"] > 0); // also of nothing
    });
}

TEST_CASE("partial sums meet at the owner of each block") {
    Kernel k("partial_sums");
    vectors([&](int64_t ranks, int64_t n) {
        Machine m = k.machine(ranks, {{"N", n}});
        each(m, "X", ranks, n, [](int64_t r, double &x, int64_t i) { x = input(i, 0, r); });
        m.run();
        each(m, "Y", ranks, n, [&](int64_t, double x, int64_t i) {
            double sum = 0;
            for (int64_t r = 0; r < ranks; ++r) sum += input(i, 0, r);
            REQUIRE(x == sum);
        });
    });
}

TEST_CASE("a product with a gathered operand") {
    Kernel k("ag_gemm");
    for (int64_t K : {0, 1, 70})
        matrices([&](int64_t ranks, int64_t M, int64_t N) {
            Machine m = k.machine(ranks, {{"M", M}, {"N", N}, {"K", K}});
            each(m, "A", ranks, M, K, [](int64_t, double &x, int64_t i, int64_t j) { x = input(i, j); });
            each(m, "B", ranks, N, K, [](int64_t, double &x, int64_t i, int64_t j) { x = input(i, j, 1); });
            m.run();
            each(m, "C", ranks, M, N, [&](int64_t, double x, int64_t i, int64_t j) {
                double sum = 0;
                for (int64_t c = 0; c < K; ++c) sum += input(i, c) * input(j, c, 1);
                REQUIRE(x == sum);
            });
        });
}

TEST_CASE("a local tensor between two tasks") {
    Kernel k("local");
    vectors([&](int64_t ranks, int64_t n) {
        Machine m = k.machine(ranks, {{"N", n}});
        each(m, "X", ranks, n, [](int64_t, double &x, int64_t i) { x = input(i); });
        m.run();
        each(m, "Y", ranks, n, [](int64_t, double x, int64_t i) { REQUIRE(x == 4 * input(i) * input(i)); });
    });
}

TEST_CASE("stores that keep this rank's part") {
    Kernel k("own");
    matrices([&](int64_t ranks, int64_t M, int64_t N) {
        Machine m = k.machine(ranks, {{"M", M}, {"N", N}});
        each(m, "A", ranks, M, N, [](int64_t, double &x, int64_t i, int64_t j) { x = input(i, j); });
        each(m, "V", ranks, M, [](int64_t, double &x, int64_t i) { x = input(i); });
        m.run();
        each(m, "C", ranks, M, N, [](int64_t, double x, int64_t i, int64_t) { REQUIRE(x == input(i)); });
        each(m, "D", ranks, M, N, [](int64_t, double x, int64_t i, int64_t j) { REQUIRE(x == input(i, j)); });
    });
}

TEST_CASE("shifted ranges and values outside") {
    Kernel k("edges");
    matrices([&](int64_t ranks, int64_t M, int64_t N) {
        Machine m = k.machine(ranks, {{"M", M}, {"N", N}});
        each(m, "A", ranks, M, N, [](int64_t, double &x, int64_t i, int64_t j) { x = input(i, j); });
        m.run();
        each(m, "B", ranks, M, N, [&](int64_t, double x, int64_t i, int64_t j) {
            double above = i > 0 ? input(i - 1, j) : 0, second = M > 2 ? input(2, j) : 0;
            REQUIRE(x == above + second + static_cast<double>(i - 1));
        });
    });
}

TEST_CASE("loops over blocks, slices and ranges") {
    Kernel k("loops");
    for (int64_t S : {0, 1, 2, 9}) // a step of 0 counts as 1
        matrices([&](int64_t ranks, int64_t M, int64_t N) {
            Machine m = k.machine(ranks, {{"M", M}, {"N", N}, {"S", S}});
            auto length = [&](int64_t i) { return (i * 3) % (N + 2); };
            each(m, "X", ranks, M, N, [](int64_t, double &x, int64_t i, int64_t j) { x = input(i, j); });
            each(m, "len", ranks, M,
                 [&](int64_t, double &x, int64_t i) { x = static_cast<double>(length(i)); });
            m.run();
            each(m, "Y", ranks, M, [&](int64_t r, double x, int64_t i) {
                int64_t block = std::max<int64_t>(1, (N + ranks - 1) / ranks);
                double sum = 0;
                for (int64_t j = 0; j < N; ++j) {
                    if (j / block == r && j >= 2 && j < M) sum += input(i, j);
                    if (j >= 1 && j < M) sum += input(i, j);
                    if (j >= i + 1 && j < length(i)) sum += input(i, j);
                }
                REQUIRE(x == sum);
            });
        });
}
