// Elementary functions as straight-line LLVM IR, for float and double and vectors of them, so that loops
// around them vectorise and objects call no library:
//
//     exp2(x)  ->  n = round(x); p = polynomial(x - n); p * 2^(n/2) * 2^(n - n/2)
//
// Errors in units of the last place, float and double, with and without fused multiply-add (tests/codegen
// measures them): sqrt 0.5, exp and exp2 1.5, rsqrt 1.5, tanh 2, log2 and erf 3. NaN gives NaN, infinities
// and zeros what they should, subnormal arguments and results are computed as such.
#pragma once

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace tdl::codegen {

llvm::Value *emitExp(llvm::IRBuilderBase &, llvm::Value *);
llvm::Value *emitExp2(llvm::IRBuilderBase &, llvm::Value *);
llvm::Value *emitLog2(llvm::IRBuilderBase &, llvm::Value *);
llvm::Value *emitTanh(llvm::IRBuilderBase &, llvm::Value *);
llvm::Value *emitErf(llvm::IRBuilderBase &, llvm::Value *);
llvm::Value *emitSqrt(llvm::IRBuilderBase &, llvm::Value *);
llvm::Value *emitRsqrt(llvm::IRBuilderBase &, llvm::Value *);

} // namespace tdl::codegen
