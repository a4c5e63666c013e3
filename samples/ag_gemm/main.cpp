// All-gather + GEMM on every rank, checked:   tdlrun -n 4 ./ag_gemm M=64:N=11008:K=4096
#include "ag_gemm.h"

#include "../common/sample.h"

#ifndef TYPE
#define TYPE bf16
#endif
using T = sample::TYPE; // what `type T` is in ag_gemm.tdl; -D T=f16 there is -DTYPE=f16 here

/// My columns of C = A B^T in plain C++.
static std::vector<float> reference(const sample::Data &data, int64_t M, int64_t K, sample::Dim n) {
    std::vector<float> A = sample::values<T>(data, 'A', 0, M * K);
    std::vector<float> B = sample::values<T>(data, 'B', n.begin * K, n.count * K);
    std::vector<float> C;
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < n.count; ++j) {
            double sum = 0;
            for (int64_t k = 0; k < K; ++k) sum += double(A[i * K + k]) * B[j * K + k];
            C.push_back(sample::rounded<T>(sum));
        }
    return C;
}

static bool run(tdl_ctx *ctx, const sample::Case &c) {
    const int64_t M = c["M"], N = c["N"], K = c["K"];
    const sample::Data data = c.data(std::pow(double(std::max<int64_t>(K, 1)), -0.25)); // so that C has unit variance
    const sample::Dim m = sample::shard(ctx, M), n = sample::shard(ctx, N);
    sample::Matrix<T> A(m, K), B(n, K), C(M, n); // ordinary memory; nothing is registered with anybody
    A.fill(data, 'A');
    B.fill(data, 'B');

    ag_gemm_args a = {};
    a.M = M, a.N = N, a.K = K;
    a.A = A.data(), a.B = B.data(), a.C = C.data(); // strides stay 0: dense
    sample::must(ctx, ag_gemm_prepare(ctx, &a));
    sample::Stopwatch watch;
    sample::must(ctx, ag_gemm(ctx, &a, nullptr));
    sample::must(ctx, tdl_synchronize(ctx, nullptr));
    const double seconds = watch.seconds();
    return c.report(ctx, "ag_gemm", C, reference(data, M, K, n), seconds);
}

int main(int argc, char **argv) {
    const auto cases = sample::cases(argc, argv, {"M=64:N=512:K=256", "M=65:N=33:K=17", "M=3:N=130:K=129", "M=0:N=5:K=7"});
    tdl_ctx *ctx = nullptr;
    sample::must(ctx, tdl_init(&ctx, nullptr)); // rank and number of ranks come from the launcher
    bool good = true;
    for (const sample::Case &c : cases) good &= run(ctx, c);
    tdl_finalize(ctx);
    return good ? 0 : 1;
}
