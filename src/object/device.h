// Device code in an object: the images, shared by all kernels of the module, and per plan its entry. Internal to object/.
#pragma once
#include "codegen/common/device_code.h"
#include "codegen/host/target.h"
#include "diagnostics/diagnostics.h"
#include "ir/op.h"

namespace llvm {
class Constant;
class Function;
class Module;
} // namespace llvm

namespace tdl {

/// The address of a table of tdl_image.
llvm::Constant *addImages(llvm::Module &, const std::vector<codegen::DeviceImage> &);

/// int64_t device_workspace(const tdl_shape *): see abi.h. Too much becomes INT64_MAX, which the runtime refuses.
llvm::Function *addDeviceWorkspace(llvm::Module &, const ir::Op &kern, const ir::Expr &bytes, const codegen::Target &, Diagnostics &);

} // namespace tdl
