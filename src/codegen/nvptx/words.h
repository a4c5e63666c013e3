// Positions of runtime/include/tdl/abi_device.h, as generated code uses them; abi.cpp compares them with the header.
#pragma once
#include <cstdint>

namespace tdl::codegen::nvptx {

// words of the parameter block
constexpr int64_t kRanks = 0, kRank = 1, kControl = 2, kWorkspace = 3, kWorkspaceBytes = 4, kTimeout = 5, kTag = 6, kHeader = 8, kMaxWords = 500;
// bytes in the control block and at the start of a heap
constexpr int64_t kControlEpoch = 0, kControlTicket = 8, kControlFinished = 16, kControlAbort = 24, kControlReport = 32;
constexpr int64_t kHeapDone = 0, kHeapAbort = 2048;

} // namespace tdl::codegen::nvptx
