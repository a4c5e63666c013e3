// Elementary functions as straight-line LLVM IR, for float and double and vectors of them, so that loops around them
// vectorise and objects call no library. Errors are in units of the last place (tests/codegen measures them):
//
//     exp2(x)  ->  n = round(x); p = polynomial(x - n); p * 2^(n/2) * 2^(n - n/2)
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
