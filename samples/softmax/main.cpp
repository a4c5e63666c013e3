// Softmax of rows on every rank by itself, checked:   tdlrun -n 4 ./softmax M=64:N=1000
#include "softmax.h"

#include "../common/sample.h"

#ifndef TYPE
#define TYPE bf16
#endif
using T = sample::TYPE; // what `type T` is in softmax.tdl; -D T=f16 there is -DTYPE=f16 here

/// Y[i, j] = exp(X[i, j]) / sum of exp(X[i, j]) over j, in plain C++. Every rank has an X of its own.
static std::vector<float> reference(const sample::Data &data, uint64_t x, int64_t M, int64_t N) {
    std::vector<float> X = sample::values<T>(data, x, 0, M * N), Y;
    for (int64_t i = 0; i < M; ++i) {
        double total = 0;
        for (int64_t j = 0; j < N; ++j) total += std::exp(double(X[i * N + j]));
        for (int64_t j = 0; j < N; ++j) Y.push_back(sample::rounded<T>(std::exp(double(X[i * N + j])) / total));
    }
    return Y;
}

static bool run(tdl_ctx *ctx, const sample::Case &c) {
    const int64_t M = c["M"], N = c["N"];
    const sample::Data data = c.data();
    const uint64_t x = sample::of_rank('X', tdl_rank(ctx));
    sample::Matrix<T> X(M, N), Y(M, N);
    X.fill(data, x);

    softmax_args a = {};
    a.M = M, a.N = N;
    a.X = X.data(), a.Y = Y.data();
    sample::must(ctx, softmax_prepare(ctx, &a));
    sample::Stopwatch watch;
    sample::must(ctx, softmax(ctx, &a, nullptr));
    sample::must(ctx, tdl_synchronize(ctx, nullptr));
    const double seconds = watch.seconds();
    return c.report(ctx, "softmax", Y, reference(data, x, M, N), seconds, false);
}

int main(int argc, char **argv) {
    const auto cases = sample::cases(argc, argv, {"M=64:N=1000", "M=17:N=257", "M=3:N=1", "M=4:N=0"});
    tdl_ctx *ctx = nullptr;
    sample::must(ctx, tdl_init(&ctx, nullptr));
    bool good = true;
    for (const sample::Case &c : cases) good &= run(ctx, c);
    tdl_finalize(ctx);
    return good ? 0 : 1;
}
