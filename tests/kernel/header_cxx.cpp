// The generated header in C++17, twice.
#include "header/arguments.h"
#include "header/arguments.h"

tdl_status callInCxx(tdl_ctx *ctx) {
    arguments_args a = {};
    a.A_stride[0] = 4;
    nothing_args none = {};
    tdl_status s = nothing(ctx, &none, nullptr);
    return s ? s : arguments(ctx, &a, nullptr);
}
