/* fake.h: kernels written by hand as tdlc would write them, for tests of the runtime alone.
 *
 *   fake_ag     C[M, N] on every rank = all rows of A[M @ ranks, N]; plans `rows` (a chunk is a row) and
 * `halves` fake_mirror the same with slots in reverse order and values negated: a kernel that uses the same
 * scratch otherwise fake_axpy   Y[N] = alpha * X[N] + Y[N]: no other rank involved, a scalar, a `require`
 *   fake_stuck  waits for a flag nobody stores
 *   fake_wild   touches flags outside of its arrays
 *   fake_many   every kind of argument, for the checks
 */
#ifndef FAKE_H
#define FAKE_H

#include "tdl/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fake_ag_args {
    int64_t M, N;
    const float *A;
    int64_t A_stride[1];
    float *C;
    int64_t C_stride[1];
} fake_ag_args;
extern const tdl_kernel fake_ag_kernel, fake_mirror_kernel;

typedef struct fake_axpy_args {
    int64_t N;
    float alpha;
    const float *X;
    float *Y;
} fake_axpy_args;
extern const tdl_kernel fake_axpy_kernel;

typedef struct fake_stuck_args {
    int64_t N;
} fake_stuck_args;
extern const tdl_kernel fake_stuck_kernel, fake_wild_kernel;

typedef struct fake_many_args {
    int64_t M, N;
    tdl_bf16 *P; /* in bf16[M @ ranks, N - 4, 3] */
    int64_t P_stride[2];
    const double *Q; /* in f64[M, N] */
    int64_t Q_stride[1];
    double *R; /* out f64[M, N] */
    int64_t R_stride[1];
    int32_t beta;
} fake_many_args;
extern const tdl_kernel fake_many_kernel;

/* Called before each row of fake_ag and fake_mirror is pushed, if set: to be slow, to die. */
extern void (*fake_hook)(int64_t rank, uint64_t epoch, int64_t chunk);

#ifdef __cplusplus
}
#endif
#endif
