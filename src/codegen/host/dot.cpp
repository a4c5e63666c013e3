// Products.
#include "codegen/host/nest.h"
#include <algorithm>

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

void ProgramEmitter::dot(const ir::Op &op, int slot) {
    if (slot >= 0) fill(slot, elements.constant(op.result()->type.elem, int64_t{0}));
    addDot(op, slot);
}

void ProgramEmitter::addDot(const ir::Op &op, int slot) {
    const ir::Value *x = op.operands[0], *y = op.operands[1];
    Elem from = x->type.elem, to = op.result()->type.elem;
    Value *zero = elements.constant(to, int64_t{0});
    std::string inner = storage.inner.contains(x) ? storage.inner.at(x) : "";
    reduceNest(op.names("over"), inner, op.result(), slot, zero,
               [&](Nest &nest, Value *acc) {
                   Value *p = nest.eval(x), *q = nest.eval(y);
                   nest.enterInnermost();
                   p = elements.convert(p, from, to), q = elements.convert(q, from, to);
                   if (!isFloat(to)) return b.CreateAdd(acc, b.CreateMul(p, q));
                   FastMathFlags order;
                   order.setAllowReassoc();
                   order.setAllowContract();
                   IRBuilderBase::FastMathFlagGuard guard(b);
                   b.setFastMathFlags(order);
                   return b.CreateFAdd(acc, b.CreateFMul(p, q));
               },
               [&](Value *acc) { return acc; });
}

} // namespace tdl::codegen
