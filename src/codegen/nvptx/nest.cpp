#include "codegen/nvptx/nest.h"
#include <algorithm>
#include <bit>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace tdl::codegen::nvptx {
using namespace llvm;
using ir::OpKind;

std::vector<NestLoop> ProgramEmitter::inOrder(const std::vector<std::string> &names, const Parts &parts) {
    return sharedOut(names, Team{}, parts);
}

// From the fastest axis outwards: neighbouring threads take neighbouring elements. An axis gets as many threads as it has
// elements at most, the outermost all that are left; those beyond its length do nothing.
//
//     256 threads over i: <= 16, j: <= 64   -->   j = t % 64, i = t / 64 by 4
std::vector<NestLoop> ProgramEmitter::sharedOut(const std::vector<std::string> &names, const Team &team, const Parts &parts,
                                                const Caps &caps) {
    std::vector<NestLoop> loops(names.size());
    int left = team.count;
    Value *rest = team.index;
    for (size_t k = names.size(); k-- > 0;) {
        const Span &s = axis(names[k]);
        auto part = parts.find(names[k]);
        Value *from = part != parts.end() && part->second.from ? part->second.from : i64(0);
        Value *to = part != parts.end() && part->second.to ? part->second.to : s.length;
        int threads = left;
        int64_t cap = s.cap;
        if (auto less = caps.find(names[k]); less != caps.end()) cap = cap < 0 ? less->second : std::min(cap, less->second);
        if (k > 0 && cap >= 0)
            threads = static_cast<int>(std::min<int64_t>(left, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(cap, 1))))));
        if (threads > 1) {
            Value *mine = k == 0 ? rest : b.CreateAnd(rest, i64(threads - 1));
            if (k > 0) rest = b.CreateLShr(rest, i64(std::countr_zero(static_cast<unsigned>(threads))));
            auto *zero = dyn_cast<ConstantInt>(from);
            from = zero && zero->isZero() ? mine : b.CreateAdd(from, mine);
        }
        loops[k] = {names[k], from, to, i64(threads)};
        left /= threads;
        if (left == 1) rest = i64(0);
    }
    // A point is the business of the team's first thread.
    if (names.empty() && team.count > 1) loops.push_back({"", team.index, i64(1), i64(team.count)});
    return loops;
}

// Every loop is guarded and tests at its end; the blocks exist from the start, and code is put before the branches:
//
//     depth 0:  ..; br from < to, body, exit        body: i = phi; ..; <next level>        latch: i + step; br body, exit
Nest::Nest(ProgramEmitter &emitter, std::vector<NestLoop> loops, Nest *outer) : e(emitter), around(outer) {
    IRBuilder<> &b = e.b;
    std::vector<BasicBlock *> latches, exits;
    for (NestLoop &l : loops) {
        BasicBlock *before = b.GetInsertBlock();
        BasicBlock *body = e.newBlock("loop"), *latch = e.newBlock("latch"), *exit = e.newBlock("done");
        anchors.push_back(b.CreateCondBr(b.CreateICmpSLT(l.from, l.to), body, exit));
        b.SetInsertPoint(body);
        PHINode *i = b.CreatePHI(b.getInt64Ty(), 2, l.axis);
        i->addIncoming(l.from, before);
        b.SetInsertPoint(latch);
        Value *next = b.CreateNSWAdd(i, l.step);
        i->addIncoming(next, latch);
        b.CreateCondBr(b.CreateICmpSLT(next, l.to), body, exit);
        levels.push_back({l.axis, i});
        exits.push_back(exit);
        latches.push_back(latch);
        b.SetInsertPoint(body);
    }
    // the innermost body falls into its latch; each exit into the latch around it
    Instruction *last = loops.empty() ? static_cast<Instruction *>(new UnreachableInst(e.context, b.GetInsertBlock()))
                                      : b.CreateBr(latches.back());
    anchors.push_back(last);
    for (size_t k = 0; k < loops.size(); ++k)
        levels[k].end = k ? static_cast<Instruction *>(BranchInst::Create(latches[k - 1], exits[k]))
                          : new UnreachableInst(e.context, exits[0]); // stands for what follows
    enterInnermost();
}

void Nest::enter(size_t depth) {
    current = depth;
    e.b.SetInsertPoint(anchors[depth]);
}

void Nest::leaveTo(size_t depth) {
    if (depth == levels.size()) return enter(depth);
    e.b.SetInsertPoint(levels[depth].end);
}

void Nest::here(const std::function<void()> &body) {
    Instruction *anchor = &*e.b.GetInsertPoint();
    BasicBlock *first = anchor->getParent(), *rest = SplitBlock(first, anchor->getIterator());
    first->getTerminator()->eraseFromParent();
    e.b.SetInsertPoint(first);
    body();
    e.b.CreateBr(rest);
    e.b.SetInsertPoint(anchor);
}

void Nest::close() {
    Instruction *last = levels.empty() ? anchors[0] : levels[0].end;
    BasicBlock *block = last->getParent();
    last->eraseFromParent();
    e.b.SetInsertPoint(block);
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

Value *Nest::address(Value *base, Type *elem, const std::vector<std::string> &axes, const std::vector<Value *> &strides) {
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

Value *Nest::slotAddress(const SlotMemory &m) { return address(m.base, memoryType(e.context, m.elem), m.axes, m.strides); }

Value *Nest::eval(const ir::Value *v) {
    if (v->type.axes.empty()) return e.scalar(v);
    if (auto it = known.find(v); it != known.end()) return it->second;
    auto slot = e.storage().slotOf.find(v);
    return known[v] = slot == e.storage().slotOf.end() ? compute(v) : fromSlot(v, slot->second);
}

Value *Nest::fromSlot(const ir::Value *v, int slot) {
    size_t saved = current;
    const SlotMemory &m = e.slots[static_cast<size_t>(slot)];
    Value *at = slotAddress(m);
    enter(depthOf(v->type.axes));
    e.hazards.reads(m.resource);
    Value *r = e.load(at, m.elem);
    enter(saved);
    return r;
}

Value *Nest::compute(const ir::Value *v) {
    size_t saved = current;
    Value *r = operation(*v->def);
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
    e.hazards.reads(e.resourceOf(a.address));
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
    if (!inside) return e.load(at, t.elem);
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
    Value *loaded = e.load(at, elem);
    BasicBlock *then = b.GetInsertBlock();
    b.SetInsertPoint(anchor->getParent(), anchor->getParent()->begin());
    PHINode *r = b.CreatePHI(loaded->getType(), 2);
    r->addIncoming(loaded, then);
    r->addIncoming(otherwise, before);
    b.SetInsertPoint(anchor);
    return r;
}

} // namespace tdl::codegen::nvptx
