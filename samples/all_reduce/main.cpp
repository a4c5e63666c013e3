// All-reduce of a vector, checked:   tdlrun -n 4 ./all_reduce N=1000000
#include "all_reduce.h"

#include "../common/sample.h"

#ifndef TYPE
#define TYPE f32
#endif
using T = sample::TYPE; // what `type T` is in all_reduce.tdl; -D T=f16 there is -DTYPE=f16 here

/// The sum of all ranks' X in plain C++.
static std::vector<float> reference(const sample::Data &data, int ranks, int64_t N) {
    std::vector<double> sum(N);
    for (int r = 0; r < ranks; ++r) {
        std::vector<float> X = sample::values<T>(data, sample::of_rank('X', r), 0, N);
        for (int64_t i = 0; i < N; ++i) sum[i] += X[i];
    }
    std::vector<float> Y;
    for (double s : sum) Y.push_back(sample::rounded<T>(s));
    return Y;
}

static bool run(tdl_ctx *ctx, const sample::Case &c) {
    const int64_t N = c["N"];
    const sample::Data data = c.data(std::pow(tdl_ranks(ctx), -0.5)); // so that Y has unit variance
    sample::Matrix<T> X(1, N), Y(1, N);
    X.fill(data, sample::of_rank('X', tdl_rank(ctx)));

    all_reduce_args a = {};
    a.N = N;
    a.X = X.data(), a.Y = Y.data();
    sample::must(ctx, all_reduce_prepare(ctx, &a));
    sample::Stopwatch watch;
    sample::must(ctx, all_reduce(ctx, &a, nullptr));
    sample::must(ctx, tdl_synchronize(ctx, nullptr));
    const double seconds = watch.seconds();
    return c.report(ctx, "all_reduce", Y, reference(data, tdl_ranks(ctx), N), seconds);
}

int main(int argc, char **argv) {
    const auto cases = sample::cases(argc, argv, {"N=1000000", "N=4097", "N=3", "N=0"});
    tdl_ctx *ctx = nullptr;
    sample::must(ctx, tdl_init(&ctx, nullptr));
    bool good = true;
    for (const sample::Case &c : cases) good &= run(ctx, c);
    tdl_finalize(ctx);
    return good ? 0 : 1;
}
