// Addresses of tensors, buffers and slots. Nothing is said about what overlaps: `noalias` would turn loads into ld.global.nc,
// which may see old data behind a wait.
#include "codegen/nvptx/program.h"
#include "codegen/nvptx/words.h"
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace tdl::codegen::nvptx {
using namespace llvm;
using ir::OpKind;

void ProgramEmitter::layOutSlots() {
    slots.clear();
    Value *at = nullptr;
    Type *global = PointerType::get(context, 1);
    for (size_t i = 0; i < storage().slots.size(); ++i) {
        const Slot &s = storage().slots[i];
        SlotMemory m{nullptr, s.axes, {}, s.elem, kSlots + static_cast<int>(i)};
        for (const ir::Expr &e : slotStrides(s)) m.strides.push_back(expression(e));
        if (int byte = placement->shared[i]; byte >= 0) {
            m.base = sharedAt(byte);
        } else {
            if (!at) {
                Value *block = b.CreateZExt(special(Intrinsic::nvvm_read_ptx_sreg_ctaid_x), b.getInt64Ty());
                Value *mine = b.CreateMul(block, word(kWorkspaceBytes));
                at = b.CreateIntToPtr(b.CreateAdd(word(kWorkspace), mine), global);
            }
            m.base = at;
            at = offset(at, expression(slotBytes(s)));
        }
        slots.push_back(std::move(m));
    }
}

int ProgramEmitter::resourceOf(const ir::Value *address) {
    const ir::Value *m = memoryOf(address);
    for (size_t i = 0; m && i < plan.decls.memory.size(); ++i)
        if (plan.decls.memory[i] == m->def) return static_cast<int>(i);
    return kUnknownMemory;
}

Value *ProgramEmitter::load(Value *address, Elem e) {
    auto *v = b.CreateAlignedLoad(memoryType(context, e), address, Align(static_cast<uint64_t>(elemBytes(e))));
    return elements.fromMemory(v, e);
}
void ProgramEmitter::store(Value *value, Value *address, Elem e) {
    b.CreateAlignedStore(elements.toMemory(value, e), address, Align(static_cast<uint64_t>(elemBytes(e))));
}

void ProgramEmitter::addressOperation(const ir::Op &op) {
    const ir::Value *memory = op.operands[0], *r = op.result();
    if (op.kind == OpKind::At) { // no inbounds: it may point anywhere where nothing is accessed
        scalars[r] = b.CreateGEP(memoryType(context, r->type.elem), scalar(memory), scalar(op.operands[1]));
        return;
    }
    const ir::Op &decl = *memory->def;
    if (op.kind == OpKind::Stride) {
        int64_t dim = op.integer("dim");
        bool last = dim + 1 == static_cast<int64_t>(decl.dims().size());
        scalars[r] = last ? i64(1) : word(plan.strides + plan.decls.firstStride.at(memory) + dim);
    } else if (decl.kind == OpKind::Tensor) {
        scalars[r] = pointerWord(plan.tensors + plan.decls.tensors.at(memory));
    } else if (decl.name("scope") == "rank") {
        scalars[r] = pointerWord(plan.buffers + plan.decls.buffers.at(memory));
    } else {
        scalars[r] = offset(heap(scalar(op.operands[1])), word(plan.buffers + plan.decls.buffers.at(memory)));
    }
}

} // namespace tdl::codegen::nvptx
