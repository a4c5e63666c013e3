// The C header of a module's kernels, for C11 and C++17: a struct of arguments and two functions per kernel.
//
//     kern @f(..) { %A = tensor(name = A, mode = in, dims = [M @ ranks, K]) : tensor<bf16> .. }
// -->
//     typedef struct f_args { int64_t M, K; const tdl_bf16 *A; int64_t A_stride[1]; } f_args;
//     tdl_status f(tdl_ctx *ctx, const f_args *args, void *stream);
//     tdl_status f_prepare(tdl_ctx *ctx, const f_args *args);
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <optional>
#include <string>

namespace tdl::object {

/// The text, the same for the same kernels: no folders, no dates. Nothing, and reports, if a name cannot stand in C.
std::optional<std::string> header(const ir::Module &kern, Diagnostics &);

} // namespace tdl::object
