// GEMM on every rank by itself, checked:   tdlrun -n 4 ./gemm M=256:N=256:K=256
#include "gemm.h"

#include "../common/sample.h"

#ifndef TYPE
#define TYPE bf16
#endif
using T = sample::TYPE; // what `type T` is in gemm.tdl; -D T=f16 there is -DTYPE=f16 here

/// C = A B^T in plain C++. Every rank has matrices of its own.
static std::vector<float> reference(const sample::Data &data, uint64_t a, uint64_t b, int64_t M, int64_t N, int64_t K) {
    std::vector<float> A = sample::values<T>(data, a, 0, M * K), B = sample::values<T>(data, b, 0, N * K);
    std::vector<float> C;
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            double sum = 0;
            for (int64_t k = 0; k < K; ++k) sum += double(A[i * K + k]) * B[j * K + k];
            C.push_back(sample::rounded<T>(sum));
        }
    return C;
}

static bool run(tdl_ctx *ctx, const sample::Case &c) {
    const int64_t M = c["M"], N = c["N"], K = c["K"];
    const sample::Data data = c.data(std::pow(double(std::max<int64_t>(K, 1)), -0.25)); // so that C has unit variance
    const uint64_t na = sample::of_rank('A', tdl_rank(ctx)), nb = sample::of_rank('B', tdl_rank(ctx));
    sample::Matrix<T> A(M, K), B(N, K), C(M, N);
    A.fill(data, na);
    B.fill(data, nb);

    gemm_args a = {};
    a.M = M, a.N = N, a.K = K;
    a.A = A.data(), a.B = B.data(), a.C = C.data();
    sample::must(ctx, gemm_prepare(ctx, &a));
    sample::Stopwatch watch;
    sample::must(ctx, gemm(ctx, &a, nullptr));
    sample::must(ctx, tdl_synchronize(ctx, nullptr));
    const double seconds = watch.seconds();
    return c.report(ctx, "gemm", C, reference(data, na, nb, M, N, K), seconds);
}

int main(int argc, char **argv) {
    const auto cases = sample::cases(argc, argv, {"M=256:N=256:K=256", "M=129:N=257:K=65", "M=1:N=1:K=1", "M=5:N=7:K=0"});
    tdl_ctx *ctx = nullptr;
    sample::must(ctx, tdl_init(&ctx, nullptr));
    bool good = true;
    for (const sample::Case &c : cases) good &= run(ctx, c);
    tdl_finalize(ctx);
    return good ? 0 : 1;
}
