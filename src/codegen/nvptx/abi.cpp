// The one place where code generation for GPUs meets the runtime's header.
#include "codegen/nvptx/plan.h"
#include "codegen/nvptx/words.h"
#include <cstddef>
#include <tdl/abi_device.h>

namespace tdl::codegen::nvptx {
namespace {

static_assert(kRanks == TDL_DEVICE_RANKS && kRank == TDL_DEVICE_RANK && kControl == TDL_DEVICE_CONTROL);
static_assert(kWorkspace == TDL_DEVICE_WORKSPACE && kWorkspaceBytes == TDL_DEVICE_WORKSPACE_BYTES);
static_assert(kTimeout == TDL_DEVICE_TIMEOUT_NS && kTag == TDL_DEVICE_TAG && kHeader == TDL_DEVICE_HEADER);
static_assert(kMaxWords == TDL_DEVICE_MAX_WORDS);
static_assert(kMaxRanks == sizeof(tdl_device_heap::done) / 8);

#define SAME(struct_, field, at) static_assert(offsetof(struct_, field) == (at))
SAME(tdl_device_control, epoch, kControlEpoch);
SAME(tdl_device_control, ticket, kControlTicket);
SAME(tdl_device_control, finished, kControlFinished);
SAME(tdl_device_control, abort, kControlAbort);
SAME(tdl_device_control, report, kControlReport);
SAME(tdl_device_heap, done, kHeapDone);
SAME(tdl_device_heap, abort, kHeapAbort);
SAME(tdl_device_report, site, 0);
SAME(tdl_device_report, ticket, 8);
SAME(tdl_device_report, kind, 16);
SAME(tdl_device_report, object, 24);
SAME(tdl_device_report, index, 32);
SAME(tdl_device_report, expected, 40);
SAME(tdl_device_report, actual, 48);
SAME(tdl_device_report, epoch, 56);
SAME(tdl_device_report, tag, 64);
#undef SAME

} // namespace
} // namespace tdl::codegen::nvptx
