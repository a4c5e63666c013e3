// All-gather of a row-distributed matrix, checked:   tdlrun -n 4 ./all_gather M=1000:N=300
#include "all_gather.h"

#include "../common/sample.h"

#ifndef TYPE
#define TYPE bf16
#endif
using T = sample::TYPE; // what `type T` is in all_gather.tdl; -D T=f16 there is -DTYPE=f16 here

/// B is A, all of it, on every rank.
static std::vector<float> reference(const sample::Data &data, int64_t M, int64_t N) {
    return sample::values<T>(data, 'A', 0, M * N);
}

static bool run(tdl_ctx *ctx, const sample::Case &c) {
    const int64_t M = c["M"], N = c["N"];
    const sample::Data data = c.data();
    sample::Matrix<T> A(sample::shard(ctx, M), N), B(M, N);
    A.fill(data, 'A');

    all_gather_args a = {};
    a.M = M, a.N = N;
    a.A = A.data(), a.B = B.data();
    sample::must(ctx, all_gather_prepare(ctx, &a));
    sample::Stopwatch watch;
    sample::must(ctx, all_gather(ctx, &a, nullptr));
    sample::must(ctx, tdl_synchronize(ctx, nullptr));
    const double seconds = watch.seconds();
    return c.report(ctx, "all_gather", B, reference(data, M, N), seconds);
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
