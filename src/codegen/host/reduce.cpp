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

// How one kind of reduction starts, takes an element, and ends. The extremes of 16-bit floats are found in
// f32.
struct Reduction {
    ElementBuilder &elements;
    IRBuilderBase &b;
    Elem from, acc; // of the operand, of the accumulator
    enum Kind { Sum, Max, Min, Mean } kind;

    static Kind kindOf(const std::string &text) {
        return text == "max" ? Max : text == "min" ? Min : text == "mean" ? Mean : Sum;
    }
    Value *identity() { return elements.identity(kind == Max, kind == Min, acc); }
    Value *take(Value *sum, Value *x) {
        x = elements.convert(x, from, acc);
        if (kind == Max || kind == Min)
            return elements.apply(kind == Max ? OpKind::Max : OpKind::Min, acc, sum, x);
        if (!isFloat(acc)) return b.CreateAdd(sum, x);
        FastMathFlags order; // the order of a sum is the compiler's
        order.setAllowReassoc();
        auto *next = b.CreateFAdd(sum, x);
        if (auto *i = dyn_cast<Instruction>(next)) i->setFastMathFlags(order);
        return next;
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
    Elem to = op.result()->type.elem;
    Reduction r{elements, b, x->type.elem, elemBytes(to) == 2 ? Elem::F32 : to, Reduction::kindOf(kind)};
    Value *count = i64(1);
    for (const std::string &a : op.names("over")) count = b.CreateMul(count, axis(a).length);
    ReduceLoops loops{op.names("over"), storage.inner.at(x), op.result(), slot, r.acc, r.identity()};
    loops.take = [&](Nest &nest, Value *acc) {
        Value *v = nest.eval(x);
        nest.enterInnermost();
        return r.take(acc, v);
    };
    if (r.kind == Reduction::Mean)
        loops.finish = [&](Value *sum) {
            return elements.apply(OpKind::Div, r.acc, sum, elements.convert(count, Elem::I64, r.acc));
        };
    reduceNest(loops);
}

void ProgramEmitter::reduceNest(const ReduceLoops &r) {
    Elem e = r.result->type.elem;
    static const std::vector<std::string> none;
    const SlotMemory *m = r.slot < 0 ? nullptr : &slots[static_cast<size_t>(r.slot)];
    const std::vector<std::string> &kept = m ? m->axes : none;
    auto slotAddress = [&](Nest &nest) {
        return nest.address(m->base, memoryType(context, m->elem), m->axes, m->strides);
    };
    auto held = [&](Value *at) { return elements.convert(load(at, e, m->scope), e, r.accumulator); };
    auto hold = [&](Value *acc, Value *at) {
        store(elements.convert(acc, r.accumulator, e), at, e, m->scope);
    };
    auto finish = [&](Value *acc) { return r.finish ? r.finish(acc) : acc; };

    if (kept.empty() || contains(r.over, r.inner)) {
        AllocaInst *acc = local(r.start->getType(), "acc");
        std::vector<std::string> names = kept;
        for (const std::string &a : nestOrder(r.over, r.inner)) names.push_back(a);
        Nest nest(*this, names);
        Value *at = m ? slotAddress(nest) : nullptr;
        nest.enter(kept.size());
        b.CreateStore(r.add ? held(at) : r.start, acc);
        nest.enterInnermost();
        Value *next = r.take(nest, b.CreateLoad(r.start->getType(), acc));
        b.CreateStore(next, acc);
        nest.leaveTo(kept.size());
        Value *total = finish(b.CreateLoad(r.start->getType(), acc));
        if (m)
            hold(total, at);
        else
            scalars[r.result] = elements.convert(total, r.accumulator, e);
        nest.close();
        return;
    }
    if (!r.add) fill(r.slot, elements.convert(r.start, r.accumulator, e));
    std::vector<std::string> names; // the kept axes, of which the fast one comes last, behind the summed
    for (const std::string &a : kept)
        if (a != r.inner) names.push_back(a);
    names.insert(names.end(), r.over.begin(), r.over.end());
    names.push_back(r.inner);
    Nest nest(*this, names);
    Value *at = slotAddress(nest);
    nest.enterInnermost();
    Value *next = r.take(nest, held(at));
    nest.enterInnermost();
    hold(next, at);
    nest.close();
    if (!r.finish) return;
    Nest last(*this, kept);
    Value *place = slotAddress(last);
    hold(finish(held(place)), place);
    last.close();
}

// The global index of the extreme element, the lowest on ties; NaN counts as more extreme than any number. -1
// over nothing.
void ProgramEmitter::reduceArg(const ir::Op &op, int slot) {
    const ir::Value *x = op.operands[0];
    Elem e = x->type.elem;
    if (op.names("over").size() != 1)
        return fail(op, "the index of an extreme over several axes is not defined");
    const std::string &over = op.names("over")[0];
    AllocaInst *best = local(registerType(context, e), "best"), *where = local(b.getInt64Ty(), "where");
    std::vector<std::string> names =
        slot < 0 ? std::vector<std::string>{} : slots[static_cast<size_t>(slot)].axes;
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
