// Every rank scales its rows and gets all of them.
#include "scale.h"
#include "shift.h"
#include <cstdio>
#include <vector>

int main() {
    tdl_ctx *ctx = nullptr;
    if (tdl_init(&ctx, nullptr)) return std::fprintf(stderr, "%s\n", tdl_last_error(nullptr)), 1;
    const int64_t M = 37, N = 65;
    int64_t begin, count, capacity;
    tdl_shard(ctx, M, &begin, &count, &capacity);
    std::vector<float> A(capacity * N), B(M * N), C(M * N);
    for (int64_t i = 0; i < count * N; ++i) A[i] = float(begin * N + i);

    scale_args a = {};
    a.M = M, a.N = N, a.A = A.data(), a.B = B.data();
    shift_args b = {};
    b.N = M * N, b.X = B.data(), b.Y = C.data();
    if (scale(ctx, &a, nullptr) || tdl_synchronize(ctx, nullptr) || shift(ctx, &b, nullptr) || tdl_synchronize(ctx, nullptr))
        return std::fprintf(stderr, "%s\n", tdl_last_error(ctx)), 1;
    for (int64_t i = 0; i < M * N; ++i)
        if (C[i] != 2.0f * float(i) + 1.0f) return std::fprintf(stderr, "rank %d: C[%ld] is %f\n", tdl_rank(ctx), long(i), C[i]), 1;
    if (tdl_rank(ctx) == 0) std::puts("sum as expected");
    tdl_finalize(ctx);
}
