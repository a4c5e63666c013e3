// Code for one element, or a vector of elements, of a tile: memory form, conversions, elementwise operations.
//
// In registers an element is: bool i1, integers as they are, f16 and bf16 their 16 bits, f32 float, f64
// double; in memory bool is a byte. All functions take vectors of these, too. Nothing here calls a library:
//
//     convert(v, F32, BF16)    ->   %1 = bitcast v to i32; add 0x7fff + bit 16; lshr 16; trunc; select on NaN
//
// Meaning (tdl.5): integers wrap, x / 0 = x % 0 = 0; min and max give NaN if either is; comparisons are false
// on NaN but for `ne`; floats become integers by truncation, saturating, NaN as 0; floats are rounded to
// nearest, ties to even.
#pragma once
#include "ir/op.h"

namespace llvm {
class IRBuilderBase;
class LLVMContext;
class Type;
class Value;
} // namespace llvm

namespace tdl::codegen {

/// Does code generation know elements of this type? (fp8 is not done yet)
bool isSupported(Elem);
llvm::Type *registerType(llvm::LLVMContext &, Elem);
llvm::Type *memoryType(llvm::LLVMContext &, Elem);

class ElementBuilder {
public:
    /// `halfInstructions`: the target converts between f16 and f32 by instruction.
    ElementBuilder(llvm::IRBuilderBase &builder, bool halfInstructions)
        : b(builder), half(halfInstructions) {}

    /// Between register and memory form (differs for bool only).
    llvm::Value *fromMemory(llvm::Value *, Elem);
    llvm::Value *toMemory(llvm::Value *, Elem);

    llvm::Value *convert(llvm::Value *, Elem from, Elem to);
    /// Add .. Tanh on operands of type `e`; f16 and bf16 are computed in f32.
    llvm::Value *apply(ir::OpKind, Elem e, llvm::Value *x, llvm::Value *y = nullptr);
    llvm::Value *constant(Elem, double);
    llvm::Value *constant(Elem, int64_t);
    /// The value that a reduction (`sum`, `max`, ...) has over nothing.
    llvm::Value *identity(bool isMax, bool isMin, Elem);

private:
    llvm::IRBuilderBase &b;
    bool half;

    llvm::Value *integer(ir::OpKind, llvm::Value *x, llvm::Value *y);
    llvm::Value *floating(ir::OpKind, llvm::Value *x, llvm::Value *y);
    llvm::Value *divide(llvm::Value *x, llvm::Value *y, bool remainder);
    llvm::Value *toF32(llvm::Value *, Elem);
    llvm::Value *fromF32(llvm::Value *, Elem);
    llvm::Value *bf16FromF32(llvm::Value *);
    llvm::Value *f16FromF32(llvm::Value *);
    llvm::Value *f16ToF32(llvm::Value *);
    llvm::Value *f32FromF64ToOdd(llvm::Value *);
    llvm::Value *intToOdd(llvm::Value *);
    llvm::Value *isBeyondF64(llvm::Value *);
};

} // namespace tdl::codegen
