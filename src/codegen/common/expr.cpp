#include "codegen/common/expr.h"
#include "codegen/common/llvm.h"

namespace tdl::codegen {
using namespace llvm;
using ir::ExprKind;

void ExprBuilder::watchOverflow() {
    overflow = b.getFalse();
}

static Value *arithmetic(IRBuilderBase &b, Value *&overflow, unsigned opcode, unsigned checked, Value *x,
                         Value *y) {
    if (!overflow) return b.CreateBinOp(static_cast<Instruction::BinaryOps>(opcode), x, y);
    Value *pair = b.CreateBinaryIntrinsic(static_cast<Intrinsic::ID>(checked), x, y);
    overflow = b.CreateOr(overflow, b.CreateExtractValue(pair, 1));
    return b.CreateExtractValue(pair, 0);
}
Value *ExprBuilder::multiply(Value *x, Value *y) {
    return arithmetic(b, overflow, Instruction::Mul, Intrinsic::smul_with_overflow, x, y);
}
Value *ExprBuilder::add(Value *x, Value *y) {
    return arithmetic(b, overflow, Instruction::Add, Intrinsic::sadd_with_overflow, x, y);
}

Value *ExprBuilder::divide(ExprKind k, Value *x, Value *y) {
    auto *c = dyn_cast<ConstantInt>(y);
    Value *zero = b.getInt64(0), *isZero = nullptr, *isMinus = nullptr, *safe = y;
    if (c && c->isZero()) return zero;
    if (!c || c->isMinusOne()) { // the instruction traps on 0 and on the least number / -1
        isZero = b.CreateICmpEQ(y, zero);
        isMinus = b.CreateICmpEQ(y, b.getInt64(-1));
        safe = b.CreateSelect(b.CreateOr(isZero, isMinus), b.getInt64(1), y);
    }
    Value *q = b.CreateSDiv(x, safe);
    Value *r = b.CreateSub(x, b.CreateMul(q, safe));
    if (isMinus) q = b.CreateSelect(isMinus, b.CreateNeg(x), q);
    if (k == ExprKind::Mod) q = r;
    if (k == ExprKind::Ceil) {
        Value *sameSign = b.CreateICmpSGE(b.CreateXor(r, safe), zero);
        q = b.CreateAdd(q, b.CreateZExt(b.CreateAnd(b.CreateICmpNE(r, zero), sameSign), b.getInt64Ty()));
    }
    return isZero ? b.CreateSelect(isZero, zero, q) : q;
}

Value *ExprBuilder::emitCondition(const ir::Expr &e) {
    Value *v = emit(e);
    return v ? b.CreateICmpNE(v, b.getInt64(0)) : nullptr;
}

Value *ExprBuilder::emit(const ir::Expr &e) {
    if (e.isConst()) return b.getInt64(static_cast<uint64_t>(e.value()));
    if (e.kind() == ExprKind::Sym) {
        Value *v = lookup(e.name());
        if (!v) missing = e.name();
        return v;
    }
    auto fromBool = [&](Value *v) { return b.CreateZExt(v, b.getInt64Ty()); };
    if (e.kind() == ExprKind::Not || e.kind() == ExprKind::And || e.kind() == ExprKind::Or) {
        Value *x = emitCondition(e.lhs());
        if (!x) return nullptr;
        if (e.kind() == ExprKind::Not) return fromBool(b.CreateNot(x));
        Value *y = emitCondition(e.rhs());
        if (!y) return nullptr;
        return fromBool(e.kind() == ExprKind::And ? b.CreateAnd(x, y) : b.CreateOr(x, y));
    }
    Value *x = emit(e.lhs()), *y = x ? emit(e.rhs()) : nullptr;
    if (!y) return nullptr;
    switch (e.kind()) {
    case ExprKind::Add: return add(x, y);
    case ExprKind::Sub: return arithmetic(b, overflow, Instruction::Sub, Intrinsic::ssub_with_overflow, x, y);
    case ExprKind::Mul: return multiply(x, y);
    case ExprKind::Div:
    case ExprKind::Mod:
    case ExprKind::Ceil: return divide(e.kind(), x, y);
    case ExprKind::Min: return b.CreateBinaryIntrinsic(Intrinsic::smin, x, y);
    case ExprKind::Max: return b.CreateBinaryIntrinsic(Intrinsic::smax, x, y);
    case ExprKind::Eq: return fromBool(b.CreateICmpEQ(x, y));
    case ExprKind::Ne: return fromBool(b.CreateICmpNE(x, y));
    case ExprKind::Lt: return fromBool(b.CreateICmpSLT(x, y));
    case ExprKind::Le: return fromBool(b.CreateICmpSLE(x, y));
    case ExprKind::Gt: return fromBool(b.CreateICmpSGT(x, y));
    case ExprKind::Ge: return fromBool(b.CreateICmpSGE(x, y));
    case ExprKind::Const:
    case ExprKind::Sym:
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Not: break;
    }
    return nullptr;
}

} // namespace tdl::codegen
