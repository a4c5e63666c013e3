#include "codegen/host/nest.h"
#include <algorithm>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

// Every loop is guarded and tests at its end; the blocks exist from the start, and code is put before the
// branches:
//
//     depth 0:  ..; br from < to, body, exit        body: i = phi; ..; <next level>        latch: i + 1; br
//     body, exit
Nest::Nest(ProgramEmitter &emitter, std::vector<std::string> axes,
           std::unordered_map<std::string, Part> parts, Nest *outer)
    : e(emitter), around(outer) {
    IRBuilder<> &b = e.b;
    std::vector<BasicBlock *> latches;
    for (const std::string &a : axes) {
        Part part = parts.contains(a) ? parts[a] : Part{};
        Value *from = part.from ? part.from : b.getInt64(0), *to = part.to ? part.to : e.axis(a).length;
        BasicBlock *before = b.GetInsertBlock();
        BasicBlock *body = e.newBlock("loop"), *latch = e.newBlock("latch"), *exit = e.newBlock("done");
        anchors.push_back(b.CreateCondBr(b.CreateICmpSLT(from, to), body, exit));
        b.SetInsertPoint(body);
        PHINode *i = b.CreatePHI(b.getInt64Ty(), 2, a);
        i->addIncoming(from, before);
        b.SetInsertPoint(latch);
        Value *next = b.CreateNSWAdd(i, b.getInt64(1));
        i->addIncoming(next, latch);
        b.CreateCondBr(b.CreateICmpSLT(next, to), body, exit);
        levels.push_back({a, i, exit});
        latches.push_back(latch);
        b.SetInsertPoint(body);
    }
    // the innermost body falls into its latch; each exit into the latch around it
    Instruction *last = axes.empty()
                            ? static_cast<Instruction *>(new UnreachableInst(e.context, b.GetInsertBlock()))
                            : b.CreateBr(latches.back());
    anchors.push_back(last);
    for (size_t k = axes.size(); k-- > 1;) BranchInst::Create(latches[k - 1], levels[k].exit);
    enterInnermost();
}

void Nest::enter(size_t depth) {
    current = depth;
    DebugLoc place = e.b.getCurrentDebugLocation(); // of what is emitted, not of the loop
    e.b.SetInsertPoint(anchors[depth]);
    e.b.SetCurrentDebugLocation(place);
}

void Nest::leaveTo(size_t depth) {
    if (depth == levels.size()) return enter(depth);
    BasicBlock *exit = levels[depth].exit;
    if (depth == 0)
        e.b.SetInsertPoint(exit);
    else
        e.b.SetInsertPoint(exit->getTerminator());
}

BasicBlock *Nest::open() {
    Instruction *anchor = anchors.back();
    BasicBlock *first = anchor->getParent(), *rest = SplitBlock(first, anchor->getIterator());
    first->getTerminator()->eraseFromParent();
    e.b.SetInsertPoint(first);
    return rest;
}

void Nest::close() {
    if (levels.empty()) { // a point: emission goes on where it was
        BasicBlock *block = anchors[0]->getParent();
        anchors[0]->eraseFromParent();
        e.b.SetInsertPoint(block);
    } else {
        e.b.SetInsertPoint(levels[0].exit);
    }
}

Value *Nest::index(const std::string &axis) {
    for (Level &l : levels)
        if (l.axis == axis) return l.index;
    return around ? around->index(axis) : nullptr;
}

size_t Nest::depthOf(const std::vector<std::string> &axes) const {
    for (size_t d = levels.size(); d > 0; --d)
        if (std::find(axes.begin(), axes.end(), levels[d - 1].axis) != axes.end()) return d;
    return 0;
}

Value *Nest::address(Value *base, Type *elem, const std::vector<std::string> &axes,
                     const std::vector<Value *> &strides) {
    size_t saved = current;
    Value *at = base;
    for (size_t depth = 0; depth <= levels.size(); ++depth)
        for (size_t i = 0; i < axes.size(); ++i) {
            if (depthOf({axes[i]}) != depth) continue;
            Value *index = this->index(axes[i]);
            auto *c = dyn_cast<ConstantInt>(strides[i]);
            if (!index || (c && c->isZero())) continue; // an axis that is not in these loops stays at 0
            enter(depth);
            at = e.b.CreateGEP(elem, at, c && c->isOne() ? index : e.b.CreateMul(index, strides[i]));
        }
    enter(saved);
    return at;
}

Value *Nest::eval(const ir::Value *v) {
    if (v->type.axes.empty()) return e.scalar(v);
    if (auto it = known.find(v); it != known.end()) return it->second;
    auto slot = e.storage.slotOf.find(v);
    return known[v] = slot == e.storage.slotOf.end() ? compute(v) : fromSlot(v, slot->second);
}

Value *Nest::fromSlot(const ir::Value *v, int slot) {
    size_t saved = current;
    const SlotMemory &m = e.slots[static_cast<size_t>(slot)];
    Value *at = address(m.base, memoryType(e.context, m.elem), m.axes, m.strides);
    enter(depthOf(v->type.axes));
    Value *r = e.load(at, m.elem, m.scope);
    enter(saved);
    return r;
}

Value *Nest::compute(const ir::Value *v) {
    size_t saved = current;
    DebugLoc place = e.b.getCurrentDebugLocation();
    e.locate(*v->def);
    Value *r = operation(*v->def);
    e.b.SetCurrentDebugLocation(place);
    enter(saved); // its block may have been split
    return r;
}

Value *Nest::operation(const ir::Op &op) {
    size_t depth = depthOf(op.result()->type.axes);
    switch (op.kind) {
    case OpKind::Read: return readElement(op);
    case OpKind::Broadcast: return eval(op.operands[0]);
    case OpKind::Index: {
        Value *i = index(op.result()->type.axes[0]);
        enter(depth);
        return e.b.CreateAdd(e.ranges[op.operands[0]].low, i);
    }
    default: break;
    }
    std::vector<Value *> x;
    for (const ir::Value *operand : op.operands) x.push_back(eval(operand));
    enter(depth);
    return e.element(op, x);
}

// One element from memory. Outside the clip bounds, or if the guard is false, nothing is read.
Value *Nest::readElement(const ir::Op &op) {
    Access a = accessOf(op);
    const ir::Type &t = op.result()->type;
    std::vector<Value *> strides;
    for (const ir::Value *s : a.strides) strides.push_back(e.scalar(s));
    Value *otherwise = a.outside ? eval(a.outside) : nullptr;
    Value *at = address(e.scalar(a.address), memoryType(e.context, t.elem), t.axes, strides);
    enter(depthOf(t.axes));
    Value *inside = a.guard ? e.scalar(a.guard) : nullptr;
    auto both = [&](Value *c) { inside = inside ? e.b.CreateAnd(inside, c) : c; };
    for (auto &[axis, bounds] : a.clips) {
        Value *i = e.b.CreateAdd(e.axis(axis).low, index(axis));
        both(e.b.CreateICmpSGE(i, e.scalar(bounds.first)));
        both(e.b.CreateICmpSLT(i, e.scalar(bounds.second)));
    }
    if (!inside) return e.load(at, t.elem, e.scopeOf(a.address));
    return guarded(inside, op, at, otherwise);
}

Value *Nest::guarded(Value *condition, const ir::Op &read, Value *at, Value *otherwise) {
    IRBuilder<> &b = e.b;
    Elem elem = read.result()->type.elem;
    Instruction *anchor = &*b.GetInsertPoint();
    if (!otherwise) otherwise = Constant::getNullValue(registerType(e.context, elem));
    BasicBlock *before = anchor->getParent();
    Instruction *end = SplitBlockAndInsertIfThen(condition, anchor->getIterator(), false);
    b.SetInsertPoint(end);
    Value *loaded = e.load(at, elem, e.scopeOf(read.operands[0]));
    BasicBlock *then = b.GetInsertBlock();
    b.SetInsertPoint(anchor->getParent(), anchor->getParent()->begin());
    PHINode *r = b.CreatePHI(loaded->getType(), 2);
    r->addIncoming(loaded, then);
    r->addIncoming(otherwise, before);
    b.SetInsertPoint(anchor);
    return r;
}

} // namespace tdl::codegen
