/* Made by tdlc from arguments.tdl; do not edit. */
#ifndef TDL_arguments_H
#define TDL_arguments_H

#include <tdl.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Arguments of all kinds.
/// Ends in a backslash
///
/// Arguments of arguments: start from all zeros. Strides are in elements, of all dimensions but the last; zeros mean dense.
typedef struct arguments_args {
    int64_t M, N, K;
    /// in bf16[M @ ranks, K]: this rank's block of M (tdl_shard), stored with capacity max(1, ceil(M, ranks))
    const tdl_bf16 *A;
    int64_t A_stride[1];
    float eps;
    /// inout uniform f16[N * 2]: a copy on every rank, all equal
    tdl_f16 *B;
    tdl_bool flag;
    /// out f64[ceil(M, 2), ranks @ ranks, K]: this rank's block of ranks (tdl_shard), stored with capacity max(1, ceil(ranks, ranks))
    double *C;
    int64_t C_stride[2];
    int8_t i;
    int64_t n;
    /// in i32[M]: this rank's own
    const int32_t *D;
    /// in bool[M]: this rank's own
    const tdl_bool *E;
    tdl_bf16 h;
} arguments_args;

/// Starts the kernel on this rank and returns; tdl_synchronize waits for it. All ranks call it, with equal sizes and scalars.
/// Requires M % 2 == 0.
tdl_status arguments(tdl_ctx *ctx, const arguments_args *args, void *stream);
/// Optional and collective: reserves scratch memory for launches of these sizes; tensors may be NULL.
tdl_status arguments_prepare(tdl_ctx *ctx, const arguments_args *args);

/// Arguments of nothing: start from all zeros. Strides are in elements, of all dimensions but the last; zeros mean dense.
typedef struct nothing_args {
    char unused; // C has no empty structs
} nothing_args;

/// Starts the kernel on this rank and returns; tdl_synchronize waits for it. All ranks call it, with equal sizes and scalars.
tdl_status nothing(tdl_ctx *ctx, const nothing_args *args, void *stream);
/// Optional and collective: reserves scratch memory for launches of these sizes; tensors may be NULL.
tdl_status nothing_prepare(tdl_ctx *ctx, const nothing_args *args);

#ifdef __cplusplus
}
#endif
#endif
