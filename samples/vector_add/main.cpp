// Vector add on every rank by itself, checked:   tdlrun -n 4 ./vector_add N=1000000
#include "vector_add.h"

#include "../common/sample.h"

#ifndef TYPE
#define TYPE f32
#endif
using T = sample::TYPE; // what `type T` is in vector_add.tdl; -D T=f16 there is -DTYPE=f16 here

/// Z = X + Y in plain C++. Every rank has vectors of its own.
static std::vector<float> reference(const sample::Data &data, uint64_t x, uint64_t y, int64_t N) {
    std::vector<float> Z = sample::values<T>(data, x, 0, N), Y = sample::values<T>(data, y, 0, N);
    for (int64_t i = 0; i < N; ++i) Z[i] = sample::rounded<T>(double(Z[i]) + Y[i]);
    return Z;
}

static bool run(tdl_ctx *ctx, const sample::Case &c) {
    const int64_t N = c["N"];
    const sample::Data data = c.data();
    const uint64_t x = sample::of_rank('X', tdl_rank(ctx)), y = sample::of_rank('Y', tdl_rank(ctx));
    sample::Matrix<T> X(1, N), Y(1, N), Z(1, N);
    X.fill(data, x);
    Y.fill(data, y);

    vector_add_args a = {};
    a.N = N;
    a.X = X.data(), a.Y = Y.data(), a.Z = Z.data();
    sample::must(ctx, vector_add_prepare(ctx, &a));
    sample::Stopwatch watch;
    sample::must(ctx, vector_add(ctx, &a, nullptr));
    sample::must(ctx, tdl_synchronize(ctx, nullptr));
    const double seconds = watch.seconds();
    return c.report(ctx, "vector_add", Z, reference(data, x, y, N), seconds);
}

int main(int argc, char **argv) {
    const auto cases = sample::cases(argc, argv, {"N=1000000", "N=4097", "N=1", "N=0"});
    tdl_ctx *ctx = nullptr;
    sample::must(ctx, tdl_init(&ctx, nullptr));
    bool good = true;
    for (const sample::Case &c : cases) good &= run(ctx, c);
    tdl_finalize(ctx);
    return good ? 0 : 1;
}
