// GEMM + all-reduce, checked:   tdlrun -n 4 ./gemm_ar M=64:N=4096:K=11008
#include "gemm_ar.h"

#include "../common/sample.h"

#ifndef TYPE
#define TYPE bf16
#endif
using T = sample::TYPE; // what `type T` is in gemm_ar.tdl; -D T=f16 there is -DTYPE=f16 here

/// C = A B^T in plain C++: the ranks' parts of the inner dimension are summed one by one and rounded to
/// T, which is what travels, then added.
static std::vector<float> reference(const sample::Data &data, sample::Dim m, int64_t N, sample::Dim k, int ranks) {
    std::vector<float> A = sample::values<T>(data, 'A', 0, m.extent * k.extent);
    std::vector<float> B = sample::values<T>(data, 'B', 0, N * k.extent);
    std::vector<float> C;
    for (int64_t i = m.begin; i < m.begin + m.count; ++i)
        for (int64_t j = 0; j < N; ++j) {
            double sum = 0;
            for (int r = 0; r < ranks; ++r) {
                double part = 0;
                for (int64_t x = r * k.capacity; x < std::min((r + 1) * k.capacity, k.extent); ++x)
                    part += double(A[i * k.extent + x]) * B[j * k.extent + x];
                sum += sample::rounded<T>(part);
            }
            C.push_back(sample::rounded<T>(sum));
        }
    return C;
}

static bool run(tdl_ctx *ctx, const sample::Case &c) {
    const int64_t M = c["M"], N = c["N"], K = c["K"];
    const sample::Data data = c.data(std::pow(double(std::max<int64_t>(K, 1)), -0.25)); // so that C has unit variance
    const sample::Dim k = sample::shard(ctx, K);
    sample::Matrix<T> A(M, k), B(N, k), C(M, N);
    A.fill(data, 'A');
    B.fill(data, 'B');

    gemm_ar_args a = {};
    a.M = M, a.N = N, a.K = K;
    a.A = A.data(), a.B = B.data(), a.C = C.data();
    sample::must(ctx, gemm_ar_prepare(ctx, &a));
    sample::Stopwatch watch;
    sample::must(ctx, gemm_ar(ctx, &a, nullptr));
    sample::must(ctx, tdl_synchronize(ctx, nullptr));
    const double seconds = watch.seconds();
    return c.report(ctx, "gemm_ar", C, reference(data, M, N, k, tdl_ranks(ctx)), seconds);
}

int main(int argc, char **argv) {
    const auto cases = sample::cases(argc, argv, {"M=256:N=130:K=512", "M=65:N=33:K=17", "M=3:N=5:K=2", "M=4:N=3:K=0"});
    tdl_ctx *ctx = nullptr;
    sample::must(ctx, tdl_init(&ctx, nullptr));
    bool good = true;
    for (const sample::Case &c : cases) good &= run(ctx, c);
    tdl_finalize(ctx);
    return good ? 0 : 1;
}
