// Addresses of tensors, buffers and slots, and what is known about their overlap: different tensors do not
// overlap where one is written, and scratch overlaps none of them. Nothing is said about who else may write:
// calls of the runtime stay barriers for all of it.
#include "codegen/host/program.h"
#include <llvm/IR/MDBuilder.h>

namespace tdl::codegen {
using namespace llvm;
using ir::Expr;
using ir::OpKind;

void ProgramEmitter::layOutSlots() {
    Value *at = nullptr;
    if (!storage.slots.empty()) at = workspace();
    for (size_t i = 0; i < storage.slots.size(); ++i) {
        const Slot &s = storage.slots[i];
        SlotMemory m{at, s.axes, {}, s.elem, static_cast<int>(plan.memory.size() + i)};
        for (const Expr &e : slotStrides(s)) m.strides.push_back(expression(e));
        slots.push_back(std::move(m));
        Value *bytes = expression(slotBytes(s));
        if (plan.target.optimise == 0) fillWithNaN(at, bytes);
        if (i + 1 < storage.slots.size()) at = b.CreateGEP(b.getInt8Ty(), at, bytes);
    }
}

// Without optimisation, slots start as NaN (-1 in integers) in every program: what lies beyond a tile, and
// what is read before it is written, shows.
void ProgramEmitter::fillWithNaN(Value *at, Value *bytes) {
    countedLoop(bytes, 8, [&](Value *i) { b.CreateStore(i64(-1), b.CreateGEP(b.getInt8Ty(), at, i)); });
}
Value *ProgramEmitter::workspace() {
    Value *p = b.CreateLoad(b.getPtrTy(),
                            b.CreateGEP(b.getPtrTy(), frameField(Frame::Workspaces, b.getPtrTy()), worker));
    return p;
}

// One scope per tensor, buffer and slot; an access of one is in its scope and outside all others.
void ProgramEmitter::aliasScopes() {
    MDBuilder md(context);
    MDNode *domain = md.createAnonymousAliasScopeDomain("memory");
    size_t n = plan.memory.size() + storage.slots.size();
    std::vector<Metadata *> all;
    for (size_t i = 0; i < n; ++i) all.push_back(md.createAnonymousAliasScope(domain));
    for (size_t i = 0; i < n; ++i) {
        std::vector<Metadata *> others;
        for (size_t j = 0; j < n; ++j)
            if (j != i) others.push_back(all[j]);
        scopeList.push_back(MDNode::get(context, {all[i]}));
        noAliasList.push_back(MDNode::get(context, others));
    }
}

int ProgramEmitter::scopeOf(const ir::Value *address) {
    const ir::Value *m = memoryOf(address);
    for (size_t i = 0; m && i < plan.memory.size(); ++i)
        if (plan.memory[i] == m->def) return static_cast<int>(i);
    return -1;
}

void ProgramEmitter::tag(Instruction *i, int scope) {
    if (scope < 0) return;
    i->setMetadata(LLVMContext::MD_alias_scope, scopeList[static_cast<size_t>(scope)]);
    i->setMetadata(LLVMContext::MD_noalias, noAliasList[static_cast<size_t>(scope)]);
}

Value *ProgramEmitter::load(Value *address, Elem e, int scope) {
    auto *v =
        b.CreateAlignedLoad(memoryType(context, e), address, Align(static_cast<uint64_t>(elemBytes(e))));
    tag(v, scope);
    return elements.fromMemory(v, e);
}
void ProgramEmitter::store(Value *value, Value *address, Elem e, int scope) {
    tag(b.CreateAlignedStore(elements.toMemory(value, e), address,
                             Align(static_cast<uint64_t>(elemBytes(e)))),
        scope);
}

void ProgramEmitter::addressOperation(const ir::Op &op) {
    const ir::Value *memory = op.operands[0];
    if (op.kind == OpKind::At) { // no inbounds: it may point anywhere where nothing is accessed
        Type *t = memoryType(context, op.result()->type.elem);
        scalars[op.result()] = b.CreateGEP(t, scalar(memory), scalar(op.operands[1]));
        return;
    }
    const ir::Op &decl = *memory->def;
    if (op.kind == OpKind::Stride) {
        int64_t dim = op.integer("dim");
        bool last = dim + 1 == static_cast<int64_t>(decl.dims().size());
        Value *strides = last ? nullptr : frameField(Frame::Strides, b.getPtrTy());
        scalars[op.result()] =
            last ? i64(1) : slotOf(strides, plan.firstStride[memory] + dim, b.getInt64Ty());
        return;
    }
    if (decl.kind == OpKind::Tensor) {
        scalars[op.result()] =
            slotOf(frameField(Frame::Tensors, b.getPtrTy()), plan.tensors[memory], b.getPtrTy());
        return;
    }
    Value *offset = slotOf(frameField(Frame::Buffers, b.getPtrTy()), plan.buffers[memory], b.getInt64Ty());
    Value *base =
        decl.name("scope") == "rank"
            ? frameField(Frame::Local, b.getPtrTy())
            : b.CreateLoad(b.getPtrTy(), b.CreateGEP(b.getPtrTy(), frameField(Frame::Heaps, b.getPtrTy()),
                                                     scalar(op.operands[1])));
    scalars[op.result()] = b.CreateGEP(b.getInt8Ty(), base, offset);
}

} // namespace tdl::codegen
