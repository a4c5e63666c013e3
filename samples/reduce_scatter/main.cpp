// Reduce-scatter of a matrix by rows, checked:   tdlrun -n 4 ./reduce_scatter M=1000:N=300
#include "reduce_scatter.h"

#include "../common/sample.h"

#ifndef TYPE
#define TYPE bf16
#endif
using T = sample::TYPE; // what `type T` is in reduce_scatter.tdl; -D T=f16 there is -DTYPE=f16 here

/// My rows of the sum of all ranks' X in plain C++.
static std::vector<float> reference(const sample::Data &data, int ranks, sample::Dim m, int64_t N) {
    std::vector<double> sum(m.count * N);
    for (int r = 0; r < ranks; ++r) {
        std::vector<float> X = sample::values<T>(data, sample::of_rank('X', r), m.begin * N, m.count * N);
        for (size_t x = 0; x < sum.size(); ++x) sum[x] += X[x];
    }
    std::vector<float> Y;
    for (double s : sum) Y.push_back(sample::rounded<T>(s));
    return Y;
}

static bool run(tdl_ctx *ctx, const sample::Case &c) {
    const int64_t M = c["M"], N = c["N"];
    const sample::Data data = c.data(std::pow(tdl_ranks(ctx), -0.5)); // so that Y has unit variance
    const sample::Dim m = sample::shard(ctx, M);
    sample::Matrix<T> X(M, N), Y(m, N);
    X.fill(data, sample::of_rank('X', tdl_rank(ctx)));

    reduce_scatter_args a = {};
    a.M = M, a.N = N;
    a.X = X.data(), a.Y = Y.data();
    sample::must(ctx, reduce_scatter_prepare(ctx, &a));
    sample::Stopwatch watch;
    sample::must(ctx, reduce_scatter(ctx, &a, nullptr));
    sample::must(ctx, tdl_synchronize(ctx, nullptr));
    const double seconds = watch.seconds();
    return c.report(ctx, "reduce_scatter", Y, reference(data, tdl_ranks(ctx), m, N), seconds);
}

int main(int argc, char **argv) {
    const auto cases = sample::cases(argc, argv, {"M=1000:N=300", "M=65:N=257", "M=3:N=1", "M=0:N=4"});
    tdl_ctx *ctx = nullptr;
    sample::must(ctx, tdl_init(&ctx, nullptr));
    bool good = true;
    for (const sample::Case &c : cases) good &= run(ctx, c);
    tdl_finalize(ctx);
    return good ? 0 : 1;
}
