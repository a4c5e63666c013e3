// Conversions between element types. The 16-bit floats are converted by integer arithmetic where the target
// has no instruction; LLVM would otherwise call __truncsfbf2 and its like, and objects may call the runtime
// only.
#include "codegen/common/element.h"
#include "codegen/common/llvm.h"

namespace tdl::codegen {
using namespace llvm;

Value *ElementBuilder::toF32(Value *v, Elem e) {
    if (e == Elem::BF16)
        return b.CreateBitCast(b.CreateShl(b.CreateZExt(v, intType(v, 32)), 16),
                               shapedLike(b.getFloatTy(), v->getType()));
    if (e == Elem::F16) return f16ToF32(v);
    return v;
}

Value *ElementBuilder::fromF32(Value *v, Elem e) {
    if (e == Elem::BF16) return bf16FromF32(v);
    if (e == Elem::F16) return f16FromF32(v);
    return v;
}

Value *ElementBuilder::bf16FromF32(Value *v) {
    Value *u = b.CreateBitCast(v, intType(v, 32));
    Value *odd = b.CreateAnd(b.CreateLShr(u, 16), 1);
    Value *rounded = b.CreateLShr(b.CreateAdd(u, b.CreateAdd(odd, intLike(u, 32, 0x7fff))), 16);
    Value *quiet = b.CreateOr(b.CreateLShr(u, 16), 0x40); // keeps sign and payload, never becomes infinity
    return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(v, v), quiet, rounded), intType(v, 16));
}

// Without instructions: the exponent is moved by a multiplication, which also normalises subnormals.
Value *ElementBuilder::f16ToF32(Value *v) {
    Type *f32 = shapedLike(b.getFloatTy(), v->getType());
    if (half) return b.CreateFPExt(b.CreateBitCast(v, shapedLike(b.getHalfTy(), v->getType())), f32);
    Value *u = b.CreateZExt(v, intType(v, 32));
    Value *sign = b.CreateShl(b.CreateAnd(u, 0x8000), 16), *magnitude = b.CreateAnd(u, 0x7fff);
    Value *scaled =
        b.CreateFMul(b.CreateBitCast(b.CreateShl(magnitude, 13), f32), ConstantFP::get(f32, 0x1p112));
    Value *special = b.CreateOr(b.CreateShl(magnitude, 13), 0x7f800000); // infinity and NaN
    Value *isSpecial = b.CreateICmpUGE(magnitude, intLike(u, 32, 0x7c00));
    Value *bits = b.CreateSelect(isSpecial, special, b.CreateBitCast(scaled, intType(v, 32)));
    return b.CreateBitCast(b.CreateOr(bits, sign), f32);
}

// Three cases by magnitude: subnormal results are rounded by the addition of 0.5 (whose ulp is theirs),
// normal ones as bf16 above, what is too large becomes infinity.
Value *ElementBuilder::f16FromF32(Value *v) {
    if (half) {
        Value *h = b.CreateFPTrunc(v, shapedLike(b.getHalfTy(), v->getType()));
        return b.CreateBitCast(h, intType(v, 16));
    }
    Value *u = b.CreateBitCast(v, intType(v, 32));
    Value *magnitude = b.CreateAnd(u, 0x7fffffff);
    Value *sign = b.CreateAnd(b.CreateLShr(u, 16), 0x8000);
    Value *shifted = b.CreateFAdd(b.CreateBitCast(magnitude, v->getType()), floatLike(v, 0.5));
    Value *subnormal = b.CreateSub(b.CreateBitCast(shifted, u->getType()), intLike(u, 32, 0x3f000000));
    Value *odd = b.CreateAnd(b.CreateLShr(magnitude, 13), 1);
    Value *biased = b.CreateAdd(
        magnitude, intLike(u, 32, 0xc8000fffu)); // exponent 127 becomes 15, and 0xfff for rounding
    Value *normal = b.CreateLShr(b.CreateAdd(biased, odd), 13);
    Value *small = b.CreateICmpULT(magnitude, intLike(u, 32, 0x38800000)); // 2^-14
    Value *large = b.CreateICmpUGE(magnitude, intLike(u, 32, 0x477ff000)); // 65520
    Value *isNaN = b.CreateICmpUGT(magnitude, intLike(u, 32, 0x7f800000));
    Value *payload = b.CreateOr(b.CreateAnd(b.CreateLShr(magnitude, 13), 0x3ff), 0x7e00);
    Value *overflow = b.CreateSelect(isNaN, payload, intLike(u, 32, 0x7c00));
    Value *r = b.CreateSelect(large, overflow, b.CreateSelect(small, subnormal, normal));
    return b.CreateTrunc(b.CreateOr(r, sign), intType(v, 16));
}

// Rounds so that a further rounding to 16 bits gives what one rounding would: an inexact result is odd.
Value *ElementBuilder::f32FromF64ToOdd(Value *v) {
    Value *near = b.CreateFPTrunc(v, shapedLike(b.getFloatTy(), v->getType()));
    Value *rest = b.CreateFSub(v, b.CreateFPExt(near, v->getType()));
    Value *bits = b.CreateBitCast(near, intType(v, 32));
    Value *inexact = b.CreateFCmpONE(rest, floatLike(v, 0.0)); // false for NaN
    Value *even = b.CreateICmpEQ(b.CreateAnd(bits, 1), intLike(v, 32, 0));
    Value *restSign = b.CreateICmpSLT(b.CreateBitCast(rest, intType(v, 64)), intLike(v, 64, 0));
    Value *outward = b.CreateICmpEQ(restSign, b.CreateICmpSLT(bits, intLike(v, 32, 0)));
    Value *moved = b.CreateAdd(bits, b.CreateSelect(outward, intLike(v, 32, 1), intLike(v, 32, 0xffffffffu)));
    return b.CreateBitCast(b.CreateSelect(b.CreateAnd(inexact, even), moved, bits), near->getType());
}

// An i64 cut to 53 bits, the last of them set if that was inexact: rounding it further is as rounding once.
Value *ElementBuilder::intToOdd(Value *v) {
    Value *low = b.CreateAnd(v, 0x7ff);
    return b.CreateAnd(b.CreateOr(v, b.CreateAdd(low, intLike(v, 64, 0x7ff))),
                       intLike(v, 64, ~uint64_t{0x7ff}));
}
Value *ElementBuilder::isBeyondF64(Value *v) {
    return b.CreateICmpUGT(b.CreateAdd(v, intLike(v, 64, uint64_t{1} << 53)),
                           intLike(v, 64, uint64_t{1} << 54));
}

Value *ElementBuilder::convert(Value *v, Elem from, Elem to) {
    if (from == to) return v;
    LLVMContext &c = b.getContext();
    Type *target = shapedLike(registerType(c, to), v->getType());
    bool narrow = to == Elem::F16 || to == Elem::BF16;
    if (!isFloat(from)) {
        if (to == Elem::Bool) return b.CreateICmpNE(v, Constant::getNullValue(v->getType()));
        if (isFloat(to)) {
            // i32 and i64 go to the narrow floats through f64, so that they are rounded once
            bool wide = narrow && (from == Elem::I32 || from == Elem::I64);
            if (wide && from == Elem::I64) v = b.CreateSelect(isBeyondF64(v), intToOdd(v), v);
            Type *t = wide ? b.getDoubleTy() : narrow ? b.getFloatTy() : registerType(c, to);
            t = shapedLike(t, v->getType());
            Value *f = from == Elem::Bool ? b.CreateUIToFP(v, t) : b.CreateSIToFP(v, t);
            return wide ? convert(f, Elem::F64, to) : narrow ? fromF32(f, to) : f;
        }
        if (from == Elem::Bool) return b.CreateZExt(v, target);
        return b.CreateSExtOrTrunc(v, target);
    }
    if (from == Elem::F16 || from == Elem::BF16) return convert(toF32(v, from), Elem::F32, to);
    if (to == Elem::Bool) return b.CreateFCmpUNE(v, Constant::getNullValue(v->getType()));
    if (isInt(to)) return b.CreateIntrinsic(Intrinsic::fptosi_sat, {target, v->getType()}, {v});
    if (narrow) return fromF32(from == Elem::F64 ? f32FromF64ToOdd(v) : v, to);
    return to == Elem::F64 ? b.CreateFPExt(v, target) : b.CreateFPTrunc(v, target);
}

} // namespace tdl::codegen
