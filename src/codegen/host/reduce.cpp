// Reductions. With the fastest axis summed, the result is a register; else a row of the result's slot is the
// accumulator, so that loops run along memory either way:
//
//     sum(x: f32[i, k] over k)    for i: { s = 0; for k: s += x; slot[i] = s }       (k contiguous)
//     sum(x: f32[i, k] over i)    fill slot; for i: for k: slot[k] += x
#include "codegen/host/nest.h"
#include <algorithm>

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

namespace {

bool contains(const std::vector<std::string> &list, const std::string &a) {
    return std::find(list.begin(), list.end(), a) != list.end();
}

} // namespace

// How one kind of reduction starts, takes an element, and ends.
struct Reduction {
    ElementBuilder &elements;
    IRBuilderBase &b;
    Elem from, to;           // of the operand, of the accumulator
    enum { Sum, Max, Min, Mean } kind;

    Value *identity() { return elements.identity(kind == Max, kind == Min, to); }
    Value *take(Value *acc, Value *x) {
        if (kind == Max || kind == Min) return elements.apply(kind == Max ? OpKind::Max : OpKind::Min, to, acc, x);
        x = elements.convert(x, from, to);
        if (!isFloat(to)) return b.CreateAdd(acc, x);
        FastMathFlags order; // the order of a sum is the compiler's
        order.setAllowReassoc();
        auto *sum = b.CreateFAdd(acc, x);
        if (auto *i = dyn_cast<Instruction>(sum)) i->setFastMathFlags(order);
        return sum;
    }
    Value *finish(Value *acc, Value *count) {
        if (kind != Mean) return acc;
        return elements.apply(OpKind::Div, to, acc, elements.convert(count, Elem::I64, to));
    }
};

void ProgramEmitter::fill(int slot, Value *value) {
    const SlotMemory &m = slots[static_cast<size_t>(slot)];
    Nest nest(*this, m.axes);
    Value *at = nest.address(m.base, memoryType(context, m.elem), m.axes, m.strides);
    store(value, at, m.elem, m.scope);
    nest.close();
}

void ProgramEmitter::reduce(const ir::Op &op, int slot) {
    const ir::Value *x = op.operands[0];
    const std::string &kind = op.name("kind");
    if (kind == "argmax" || kind == "argmin") return reduceArg(op, slot);
    Reduction r{elements, b, x->type.elem, op.result()->type.elem, kind == "max" ? Reduction::Max : kind == "min" ? Reduction::Min
                : kind == "mean" ? Reduction::Mean : Reduction::Sum};
    Value *count = i64(1);
    for (const std::string &a : op.names("over")) count = b.CreateMul(count, axis(a).length);
    reduceNest(op.names("over"), storage.inner.at(x), op.result(), slot, false, r.identity(),
               [&](Nest &nest, Value *acc) {
                   Value *v = nest.eval(x);
                   nest.enterInnermost();
                   return r.take(acc, v);
               },
               [&](Value *acc) { return r.finish(acc, count); });
}

// The loops of a reduction of `inner`-fast elements; `take` gives the next accumulator at the innermost point. With
// `add`, it starts from what the slot holds.
void ProgramEmitter::reduceNest(const std::vector<std::string> &over, const std::string &inner, const ir::Value *result, int slot,
                                bool add, Value *start, const std::function<Value *(Nest &, Value *)> &take,
                                const std::function<Value *(Value *)> &finish) {
    Elem e = result->type.elem;
    std::vector<std::string> kept = slot < 0 ? std::vector<std::string>{} : slots[static_cast<size_t>(slot)].axes;
    bool inRegister = kept.empty() || contains(over, inner);
    auto slotAddress = [&](Nest &nest) {
        const SlotMemory &m = slots[static_cast<size_t>(slot)];
        return nest.address(m.base, memoryType(context, m.elem), m.axes, m.strides);
    };
    if (inRegister) {
        AllocaInst *acc = local(start->getType(), "acc");
        std::vector<std::string> names = kept;
        for (const std::string &a : nestOrder(over, inner)) names.push_back(a);
        Nest nest(*this, names);
        Value *at = slot < 0 ? nullptr : slotAddress(nest);
        nest.enter(kept.size());
        b.CreateStore(add ? load(at, e, slots[static_cast<size_t>(slot)].scope) : start, acc);
        nest.enterInnermost();
        Value *next = take(nest, b.CreateLoad(start->getType(), acc));
        b.CreateStore(next, acc);
        nest.leaveTo(kept.size());
        Value *r = finish(b.CreateLoad(start->getType(), acc));
        if (slot < 0) scalars[result] = r;
        else store(r, at, e, slots[static_cast<size_t>(slot)].scope);
        nest.close();
        return;
    }
    int scope = slots[static_cast<size_t>(slot)].scope;
    if (!add) fill(slot, start);
    std::vector<std::string> outer;
    for (const std::string &a : kept)
        if (a != inner) outer.push_back(a);
    std::vector<std::string> names = outer;
    names.insert(names.end(), over.begin(), over.end());
    names.push_back(inner);
    Nest nest(*this, names);
    Value *at = slotAddress(nest);
    nest.enterInnermost();
    Value *next = take(nest, load(at, e, scope));
    nest.enterInnermost();
    store(next, at, e, scope);
    nest.close();
    Nest last(*this, kept);
    Value *place = slotAddress(last);
    Value *acc = load(place, e, scope), *r = finish(acc);
    if (r != acc) store(r, place, e, scope);
    last.close();
}

// The global index of the extreme element, the lowest on ties; NaN counts as more extreme than any number. -1 over nothing.
void ProgramEmitter::reduceArg(const ir::Op &op, int slot) {
    const ir::Value *x = op.operands[0];
    Elem e = x->type.elem;
    if (op.names("over").size() != 1) return fail(op, "the index of an extreme over several axes is not defined");
    const std::string &over = op.names("over")[0];
    AllocaInst *best = local(registerType(context, e), "best"), *where = local(b.getInt64Ty(), "where");
    std::vector<std::string> names = slot < 0 ? std::vector<std::string>{} : slots[static_cast<size_t>(slot)].axes;
    size_t kept = names.size();
    names.push_back(over);
    Nest nest(*this, names);
    nest.enter(kept);
    b.CreateStore(Constant::getNullValue(registerType(context, e)), best);
    b.CreateStore(i64(-1), where);
    Value *v = nest.eval(x);
    nest.enterInnermost();
    Value *top = b.CreateLoad(v->getType(), best), *at = b.CreateLoad(b.getInt64Ty(), where);
    Value *better = elements.apply(op.name("kind") == "argmax" ? OpKind::Gt : OpKind::Lt, e, v, top);
    if (isFloat(e)) {
        Value *isNaN = elements.apply(OpKind::Ne, e, v, v), *wasNaN = elements.apply(OpKind::Ne, e, top, top);
        better = b.CreateOr(better, b.CreateAnd(isNaN, b.CreateNot(wasNaN)));
    }
    better = b.CreateOr(better, b.CreateICmpSLT(at, i64(0)));
    b.CreateStore(b.CreateSelect(better, v, top), best);
    b.CreateStore(b.CreateSelect(better, b.CreateAdd(axis(over).low, nest.index(over)), at), where);
    nest.leaveTo(kept);
    Value *result = b.CreateLoad(b.getInt64Ty(), where);
    if (slot < 0) {
        scalars[op.result()] = result;
    } else {
        const SlotMemory &m = slots[static_cast<size_t>(slot)];
        Value *address = nest.address(m.base, b.getInt64Ty(), m.axes, m.strides);
        nest.leaveTo(kept);
        store(result, address, Elem::I64, m.scope);
    }
    nest.close();
}

} // namespace tdl::codegen
