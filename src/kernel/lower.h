// Plan IR to kernel IR: one program per task, with addresses, bounds, tokens and scopes spelled out (README.md).
//
//     %i = range(axis = i, lo = ti * TM, ..)        -->  %0 = expr(value = ti * 128) : i64
//     %0 = load %X[%i] : f32[i]                          %i = span %0, ..(axis = i, cap = 128) : range<i>
//                                                        %2 = at %X_base, %0 : ptr<f32>
//                                                        %3 = read %2, %1 : f32[i]
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <memory>

namespace tdl::kernel {

/// How to lower; nothing yet (targets with memory spaces and warp roles will choose here).
struct Options {};

/// Lowers every plan of `plans`, a plan module that its verifier has accepted. Null after an error, which is reported.
std::unique_ptr<ir::Module> lower(const ir::Module &plans, const Options &, Diagnostics &);

} // namespace tdl::kernel
