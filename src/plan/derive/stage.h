// The tasks of one stage, in order: per phase what it needs from other ranks is pushed, then the phase is computed, then
// its partial results and its stores to other ranks leave.
//
//     gemm_rs:   task @gemm      partial tiles -> acc_out
//                task @push_acc  rows of acc_out that rank d owns -> acc_parts of d
//                task @gemm_1    C = sum over sources of acc_parts, own rows only
#pragma once
#include "plan/derive/writer.h"

namespace tdl::plan {

/// False if the stage needs what is not built yet; that is reported.
bool deriveStage(Writer &, const ir::Op &stage, Diagnostics &);

} // namespace tdl::plan
