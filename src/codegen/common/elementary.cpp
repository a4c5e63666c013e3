#include "codegen/common/elementary.h"
#include "codegen/common/llvm.h"

namespace tdl::codegen {
using namespace llvm;

Value *emitSqrt(IRBuilderBase &b, Value *x) { return b.CreateUnaryIntrinsic(Intrinsic::sqrt, x); }
Value *emitRsqrt(IRBuilderBase &b, Value *x) { return b.CreateFDiv(floatLike(x, 1.0), emitSqrt(b, x)); }
Value *emitExp(IRBuilderBase &b, Value *x) { return x; }
Value *emitExp2(IRBuilderBase &b, Value *x) { return x; }
Value *emitLog2(IRBuilderBase &b, Value *x) { return x; }
Value *emitTanh(IRBuilderBase &b, Value *x) { return x; }
Value *emitErf(IRBuilderBase &b, Value *x) { return x; }

} // namespace tdl::codegen
