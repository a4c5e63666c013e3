#include "kernel/emitter.h"

namespace tdl::kernel {
using namespace ir;

Value *Emitter::value(const Num &n) {
    if (n.value) return n.value;
    for (auto &[e, v] : made)
        if (e == n.expr) return v;
    Value *v = build.expr({}, n.expr);
    made.emplace_back(n.expr, v);
    return v;
}

Num Emitter::binary(ExprKind k, OpKind op, const Num &a, const Num &b) {
    if (a.isExpr() && b.isExpr()) return Expr::make(k, a.expr, b.expr);
    Value *x = value(a), *y = value(b);
    return build.make(op, {}, {x, y}, Type::scalar(Elem::I64));
}

Num Emitter::add(const Num &a, const Num &b) {
    if (a.isConst(0)) return b;
    if (b.isConst(0)) return a;
    return binary(ExprKind::Add, OpKind::Add, a, b);
}
Num Emitter::sub(const Num &a, const Num &b) {
    if (b.isConst(0)) return a;
    if (b.isExpr() && b.expr.isConst() && b.expr.value() < 0)
        return add(a, Num(apply(ExprKind::Sub, 0, b.expr.value())));
    return binary(ExprKind::Sub, OpKind::Sub, a, b);
}
Num Emitter::mul(const Num &a, const Num &b) {
    if (a.isConst(0) || b.isConst(0)) return 0;
    if (a.isConst(1)) return b;
    if (b.isConst(1)) return a;
    return binary(ExprKind::Mul, OpKind::Mul, a, b);
}
Num Emitter::min(const Num &a, const Num &b) {
    return binary(ExprKind::Min, OpKind::Min, a, b);
}
Num Emitter::max(const Num &a, const Num &b) {
    return binary(ExprKind::Max, OpKind::Max, a, b);
}

Value *Emitter::within(const Num &x, const Num &lo, const Num &hi) {
    Value *v = value(x), *l = value(lo), *h = value(hi);
    Value *from = build.make(OpKind::Ge, {}, {v, l}, Type::scalar(Elem::Bool));
    return both(from, build.make(OpKind::Lt, {}, {v, h}, Type::scalar(Elem::Bool)));
}

Value *Emitter::both(Value *a, Value *b) {
    if (!a) return b;
    return build.make(OpKind::And, {}, {a, b}, Type::scalar(Elem::Bool));
}

} // namespace tdl::kernel
