#include "codegen/common/element.h"
#include "codegen/common/elementary.h"
#include "codegen/common/llvm.h"
#include <limits>

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

bool isSupported(Elem e) {
    return e != Elem::F8E4M3 && e != Elem::F8E5M2;
}

llvm::Type *registerType(LLVMContext &c, Elem e) {
    switch (e) {
    case Elem::Bool: return Type::getInt1Ty(c);
    case Elem::I8:
    case Elem::F8E4M3:
    case Elem::F8E5M2: return Type::getInt8Ty(c);
    case Elem::I32: return Type::getInt32Ty(c);
    case Elem::I64: return Type::getInt64Ty(c);
    case Elem::F16:
    case Elem::BF16: return Type::getInt16Ty(c);
    case Elem::F32: return Type::getFloatTy(c);
    case Elem::F64: return Type::getDoubleTy(c);
    }
    return nullptr;
}

llvm::Type *memoryType(LLVMContext &c, Elem e) {
    return e == Elem::Bool ? Type::getInt8Ty(c) : registerType(c, e);
}

Value *ElementBuilder::fromMemory(Value *v, Elem e) {
    return e == Elem::Bool ? b.CreateICmpNE(v, intLike(v, 8, 0)) : v;
}
Value *ElementBuilder::toMemory(Value *v, Elem e) {
    return e == Elem::Bool ? b.CreateZExt(v, intType(v, 8)) : v;
}

Value *ElementBuilder::constant(Elem e, double x) {
    if (e == Elem::F16 || e == Elem::BF16) {
        APFloat f(x);
        bool lossy;
        f.convert(e == Elem::F16 ? APFloat::IEEEhalf() : APFloat::BFloat(), APFloat::rmNearestTiesToEven,
                  &lossy);
        return ConstantInt::get(b.getContext(), f.bitcastToAPInt());
    }
    return ConstantFP::get(registerType(b.getContext(), e), x);
}
Value *ElementBuilder::constant(Elem e, int64_t x) {
    if (isFloat(e)) return constant(e, static_cast<double>(x));
    if (e == Elem::Bool) return b.getInt1(x != 0);
    return ConstantInt::getSigned(registerType(b.getContext(), e), x);
}

Value *ElementBuilder::identity(bool isMax, bool isMin, Elem e) {
    if (!isMax && !isMin) return constant(e, int64_t{0});
    if (isFloat(e))
        return constant(e, isMax ? -std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::infinity());
    if (e == Elem::Bool) return b.getInt1(isMin);
    auto bits = static_cast<unsigned>(elemBytes(e)) * 8;
    return ConstantInt::get(b.getContext(),
                            isMax ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits));
}

Value *ElementBuilder::apply(OpKind k, Elem e, Value *x, Value *y) {
    if (e == Elem::F16 || e == Elem::BF16) {
        Value *r = floating(k, toF32(x, e), y ? toF32(y, e) : nullptr);
        return ir::isComparison(k) ? r : fromF32(r, e);
    }
    return isFloat(e) ? floating(k, x, y) : integer(k, x, y);
}

// Truncating division; the divisors 0 and -1 are replaced before dividing, since the instruction traps on
// them.
Value *ElementBuilder::divide(Value *x, Value *y, bool remainder) {
    Value *zero = Constant::getNullValue(y->getType()), *one = ConstantInt::get(y->getType(), 1);
    Value *isZero = b.CreateICmpEQ(y, zero),
          *isMinus = b.CreateICmpEQ(y, Constant::getAllOnesValue(y->getType()));
    Value *safe = b.CreateSelect(b.CreateOr(isZero, isMinus), one, y);
    Value *r = remainder ? b.CreateSRem(x, safe) : b.CreateSDiv(x, safe);
    if (!remainder) r = b.CreateSelect(isMinus, b.CreateNeg(x), r);
    return b.CreateSelect(isZero, zero, r);
}

Value *ElementBuilder::integer(OpKind k, Value *x, Value *y) {
    bool isBool = x->getType()->getScalarType()->isIntegerTy(1);
    switch (k) {
    case OpKind::Add: return b.CreateAdd(x, y);
    case OpKind::Sub: return b.CreateSub(x, y);
    case OpKind::Mul: return b.CreateMul(x, y);
    case OpKind::Div: return divide(x, y, false);
    case OpKind::Rem: return divide(x, y, true);
    // false < true: unsigned order for bools
    case OpKind::Min: return b.CreateBinaryIntrinsic(isBool ? Intrinsic::umin : Intrinsic::smin, x, y);
    case OpKind::Max: return b.CreateBinaryIntrinsic(isBool ? Intrinsic::umax : Intrinsic::smax, x, y);
    case OpKind::And: return b.CreateAnd(x, y);
    case OpKind::Or: return b.CreateOr(x, y);
    case OpKind::Not: return b.CreateNot(x);
    case OpKind::Eq: return b.CreateICmpEQ(x, y);
    case OpKind::Ne: return b.CreateICmpNE(x, y);
    case OpKind::Lt: return isBool ? b.CreateICmpULT(x, y) : b.CreateICmpSLT(x, y);
    case OpKind::Le: return isBool ? b.CreateICmpULE(x, y) : b.CreateICmpSLE(x, y);
    case OpKind::Gt: return isBool ? b.CreateICmpUGT(x, y) : b.CreateICmpSGT(x, y);
    case OpKind::Ge: return isBool ? b.CreateICmpUGE(x, y) : b.CreateICmpSGE(x, y);
    case OpKind::Neg: return b.CreateNeg(x);
    case OpKind::Abs: return b.CreateBinaryIntrinsic(Intrinsic::abs, x, b.getFalse());
    default: return nullptr;
    }
}

Value *ElementBuilder::floating(OpKind k, Value *x, Value *y) {
    switch (k) {
    case OpKind::Add: return b.CreateFAdd(x, y);
    case OpKind::Sub: return b.CreateFSub(x, y);
    case OpKind::Mul: return b.CreateFMul(x, y);
    case OpKind::Div: return b.CreateFDiv(x, y);
    case OpKind::Min:
    case OpKind::Max: {
        // The sign of a zero result is open (nsz): one instruction and a blend on x86.
        Value *r = b.CreateBinaryIntrinsic(k == OpKind::Min ? Intrinsic::minimum : Intrinsic::maximum, x, y);
        if (auto *i = dyn_cast<Instruction>(r)) i->setHasNoSignedZeros(true);
        return r;
    }
    case OpKind::Eq: return b.CreateFCmpOEQ(x, y);
    case OpKind::Ne: return b.CreateFCmpUNE(x, y);
    case OpKind::Lt: return b.CreateFCmpOLT(x, y);
    case OpKind::Le: return b.CreateFCmpOLE(x, y);
    case OpKind::Gt: return b.CreateFCmpOGT(x, y);
    case OpKind::Ge: return b.CreateFCmpOGE(x, y);
    case OpKind::Neg: return b.CreateFNeg(x);
    case OpKind::Abs: return b.CreateUnaryIntrinsic(Intrinsic::fabs, x);
    case OpKind::Exp: return emitExp(b, x);
    case OpKind::Exp2: return emitExp2(b, x);
    case OpKind::Log2: return emitLog2(b, x);
    case OpKind::Sqrt: return emitSqrt(b, x);
    case OpKind::Rsqrt: return emitRsqrt(b, x);
    case OpKind::Erf: return emitErf(b, x);
    case OpKind::Tanh: return emitTanh(b, x);
    default: return nullptr;
    }
}

} // namespace tdl::codegen
