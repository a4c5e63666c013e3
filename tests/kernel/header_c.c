/* The generated header in C11. */
#include "header/arguments.h"

size_t sizesInC(int i) { return i ? sizeof(nothing_args) : sizeof(arguments_args); }

/* As a program uses it. */
tdl_status callInC(tdl_ctx *ctx, const tdl_bf16 *A, double *C);
tdl_status callInC(tdl_ctx *ctx, const tdl_bf16 *A, double *C) {
    arguments_args a = {0};
    a.M = 2, a.K = 3;
    a.A = A;
    a.C = C;
    a.C_stride[1] = 8;
    tdl_status s = arguments_prepare(ctx, &a);
    return s ? s : arguments(ctx, &a, NULL);
}
tdl_status arguments(tdl_ctx *ctx, const arguments_args *args, void *stream) { return ctx && args && stream ? TDL_OK : TDL_BAD_ARGUMENT; }
tdl_status arguments_prepare(tdl_ctx *ctx, const arguments_args *args) { return ctx && args ? TDL_OK : TDL_BAD_ARGUMENT; }
