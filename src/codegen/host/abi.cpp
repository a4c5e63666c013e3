// The one place where the code generator meets the runtime's header: every offset it uses is compared here.
#include "codegen/host/frame.h"
#include "support/elem.h"
#include <cstddef>
#include <tdl/abi.h>

namespace tdl::codegen {
namespace {

#define SAME(struct_, field, name) static_assert(offsetof(struct_, field) == static_cast<size_t>(name))
SAME(tdl_frame, ranks, Frame::Ranks);
SAME(tdl_frame, rank, Frame::Rank);
SAME(tdl_frame, epoch, Frame::Epoch);
SAME(tdl_frame, sizes, Frame::Sizes);
SAME(tdl_frame, scalars, Frame::Scalars);
SAME(tdl_frame, tensors, Frame::Tensors);
SAME(tdl_frame, strides, Frame::Strides);
SAME(tdl_frame, heaps, Frame::Heaps);
SAME(tdl_frame, buffers, Frame::Buffers);
SAME(tdl_frame, local, Frame::Local);
SAME(tdl_frame, workspaces, Frame::Workspaces);
SAME(tdl_shape, ranks, Shape::Ranks);
SAME(tdl_shape, rank, Shape::Rank);
SAME(tdl_shape, sizes, Shape::Sizes);
SAME(tdl_shape, scalars, Shape::Scalars);
#undef SAME
static_assert(kAbiVersion == TDL_ABI_VERSION);

static_assert(static_cast<int>(Elem::Bool) == TDL_BOOL && static_cast<int>(Elem::I8) == TDL_I8);
static_assert(static_cast<int>(Elem::I32) == TDL_I32 && static_cast<int>(Elem::I64) == TDL_I64);
static_assert(static_cast<int>(Elem::F8E4M3) == TDL_F8E4M3 && static_cast<int>(Elem::F8E5M2) == TDL_F8E5M2);
static_assert(static_cast<int>(Elem::F16) == TDL_F16 && static_cast<int>(Elem::BF16) == TDL_BF16);
static_assert(static_cast<int>(Elem::F32) == TDL_F32 && static_cast<int>(Elem::F64) == TDL_F64);

} // namespace
} // namespace tdl::codegen
