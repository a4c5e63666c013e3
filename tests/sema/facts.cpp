// What can be shown of expressions over sizes.
#include "sema/facts.h"
#include <doctest/doctest.h>

using namespace tdl;
using ir::Expr;
using ir::ExprKind;
using sema::Facts;

namespace {
const Expr M = Expr::sym("M"), N = Expr::sym("N"), K = Expr::sym("K"), ranks = Expr::sym("ranks");
Expr less(Expr a, Expr b) {
    return Expr::make(ExprKind::Lt, std::move(a), std::move(b));
}
} // namespace

TEST_CASE("extents are compared by value, not by spelling") {
    Facts f;
    CHECK(f.equal(M * 2, M + M));
    CHECK(f.equal((M + 1) * (M - 1), M * M - 1));
    CHECK(f.equal(M * N * K, K * (N * M)));
    CHECK(f.equal(ir::min(M, N), ir::min(N, M)));
    CHECK(f.equal((M * 4) / 2, M + M));
    CHECK(f.equal(ceilDiv(M * 6, 3), 2 * M));
    CHECK(f.equal(ceilDiv(N * 1, ranks), ceilDiv(N, ranks)));
    CHECK_FALSE(f.equal(M, N));
    CHECK_FALSE(f.equal((M / 2) * 2, M));
    CHECK_FALSE(f.equal(M, M + 1));
}

TEST_CASE("what lies inside for all sizes") {
    Facts f;
    CHECK(f.atLeast(M, M - 1));
    CHECK(f.atLeast(M + N, N));
    CHECK(f.atLeast(ranks, 1));
    CHECK(f.atLeast(2 * ranks, ranks + 1));
    CHECK(f.atLeast(M, M / 2));
    CHECK(f.atLeast(M, M - M / 3));
    CHECK(f.atLeast(M, (M / 4) * 4));
    CHECK(f.atLeast(M, ir::min(M, N)));
    CHECK(f.atLeast(ir::max(M, N), M));
    CHECK(f.atLeast(ceilDiv(M, 8) * 8, M));
    CHECK(f.atLeast(ceilDiv(M, ranks) * ranks, M));
    CHECK(f.atLeast(7, M % 8));
    CHECK_FALSE(f.atLeast(M, 1));
    CHECK_FALSE(f.atLeast(M, N));
    CHECK_FALSE(f.atLeast(M - 1, 0));
    CHECK_FALSE(f.atLeast(M, ceilDiv(M, 8) * 8));
    CHECK_FALSE(f.atLeast(M * N, M));
}

TEST_CASE("conditions of a launch are known") {
    Facts f;
    f.assume(Expr::make(ExprKind::And, less(4, M), Expr::make(ExprKind::Eq, N, M + K)));
    CHECK(f.atLeast(M, 5));
    CHECK(f.atLeast(M - 1, 4));
    CHECK(f.atLeast(N, M));
    CHECK(f.equal(N, K + M));
    CHECK_FALSE(f.atLeast(M, 6));
    CHECK_FALSE(f.atLeast(M, N));
}

TEST_CASE("numbers that overflow show nothing") {
    Facts f;
    Expr big(INT64_MAX);
    CHECK_FALSE(f.atLeast(big * M + big * M, M));
    CHECK_FALSE(f.equal(big * M * 2, M * -2));
    Expr grown = M + 1;
    for (int i = 0; i < 9; ++i) grown = grown * (Expr::sym("a" + std::to_string(i)) + N);
    CHECK_FALSE(f.atLeast(grown, 1));
}
