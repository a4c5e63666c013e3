// Tiles into memory: writes, slots, and what a loop carries from turn to turn.
#include "codegen/host/nest.h"
#include <algorithm>

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

std::vector<std::string> ProgramEmitter::nestOrder(std::vector<std::string> names, const std::string &inner) {
    std::stable_partition(names.begin(), names.end(), [&](const std::string &a) { return a != inner; });
    return names;
}

void ProgramEmitter::write(const ir::Op &op) {
    Access a = accessOf(op);
    const ir::Value *value = op.operands[0];
    const ir::Type &t = value->type;
    BasicBlock *after = nullptr;
    if (a.guard) {
        BasicBlock *then = newBlock("guarded");
        after = newBlock("after");
        b.CreateCondBr(scalar(a.guard), then, after);
        b.SetInsertPoint(then);
    }
    std::unordered_map<std::string, Part> parts; // clipped axes run over what is left of them
    for (auto &[name, bounds] : a.clips) {
        const Span &s = axis(name);
        Value *from =
            b.CreateBinaryIntrinsic(Intrinsic::smax, b.CreateSub(scalar(bounds.first), s.low), i64(0));
        Value *to =
            b.CreateBinaryIntrinsic(Intrinsic::smin, b.CreateSub(scalar(bounds.second), s.low), s.length);
        parts[name] = {from, to};
    }
    std::string inner;
    std::vector<Value *> strides;
    for (size_t i = 0; i < t.axes.size(); ++i) {
        strides.push_back(scalar(a.strides[i]));
        if (isConstant(a.strides[i], 1)) inner = t.axes[i];
    }
    Nest nest(*this, nestOrder(t.axes, inner), parts);
    Value *at = nest.address(scalar(a.address), memoryType(context, t.elem), t.axes, strides);
    Value *v = nest.eval(value);
    nest.enterInnermost();
    store(v, at, t.elem, scopeOf(a.address));
    nest.close();
    if (after) {
        b.CreateBr(after);
        b.SetInsertPoint(after);
    }
}

// A sum with a fused product is its other operand, to which the product is added in place.
void ProgramEmitter::define(const ir::Value *value, int slot) {
    const ir::Op &op = *value->def;
    if (op.kind == OpKind::Add)
        for (size_t i = 0; i < 2; ++i)
            if (storage.fused.contains(op.operands[i])) {
                assign(op.operands[1 - i], slot);
                return multiply(*op.operands[i]->def, slot, true);
            }
    const SlotMemory &m = slots[static_cast<size_t>(slot)];
    Nest nest(*this, m.axes);
    Value *at = nest.address(m.base, memoryType(context, m.elem), m.axes, m.strides);
    Value *v = nest.compute(value);
    nest.enterInnermost();
    store(v, at, m.elem, m.scope);
    nest.close();
}

void ProgramEmitter::assign(const ir::Value *value, int slot) {
    auto own = storage.slotOf.find(value);
    if (own == storage.slotOf.end()) return define(value, slot);
    if (own->second != slot) copySlot(own->second, slot);
}

void ProgramEmitter::copySlot(int from, int to) {
    const SlotMemory &x = slots[static_cast<size_t>(from)], &y = slots[static_cast<size_t>(to)];
    Nest nest(*this, y.axes);
    Value *source = nest.address(x.base, memoryType(context, x.elem), x.axes, x.strides);
    Value *target = nest.address(y.base, memoryType(context, y.elem), y.axes, y.strides);
    store(load(source, x.elem, x.scope), target, y.elem, y.scope);
    nest.close();
}

void ProgramEmitter::yield(const ir::Op &loop) {
    const ir::Block &body = loop.body();
    auto steps = storage.yields.find(&loop);
    if (steps == storage.yields.end()) return;
    auto slotOfCarried = [&](size_t i) { return storage.slotOf.at(body.args[i + 1].get()); };
    for (const YieldStep &s : steps->second)
        assign(body.ops.back()->operands[s.index], s.temp < 0 ? slotOfCarried(s.index) : s.temp);
    for (const YieldStep &s : steps->second)
        if (s.temp >= 0) copySlot(s.temp, slotOfCarried(s.index));
}

} // namespace tdl::codegen
