// Waits and signals by the sequences of the PTX memory model (gpu.md, section 4, rows A and M). One thread speaks for the
// block; barriers carry what it knows to the others, and what they did to it.
//
//     release   bar.sync; thread 0: st.release.sys [flag], epoch              (all of the block's accesses come before)
//     acquire   thread 0: poll ld.relaxed; fence.acq_rel; -> shared; bar.sync; all: go on, or leave if it was aborted
//     arrive    bar.sync; thread 0: atom.acq_rel.gpu.add -> shared; bar.sync
//
// A wait is bounded: without progress for the time that the parameter block says, it turns the abort word on, leaves a
// report and tells the other ranks. Nobody traps or leaves a barrier behind: the block goes on to draw no further ticket.
#include "codegen/nvptx/program.h"
#include "codegen/nvptx/words.h"

namespace tdl::codegen::nvptx {
using namespace llvm;
using ir::OpKind;

// The slot may still be read from the last time.
Value *ProgramEmitter::broadcast(Value *v) {
    Value *slot = sharedAt(0);
    {
        Region store(*this);
        when(isFirst, [&] { b.CreateAlignedStore(v, slot, Align(8)); });
        hazards.writes(kBroadcast);
    }
    Region load(*this);
    hazards.reads(kBroadcast);
    return b.CreateAlignedLoad(v->getType(), slot, Align(8));
}

// By one thread. Returns 0, or 1 if the launch was aborted.
Value *ProgramEmitter::waitFor(Value *address, Value *expected, bool join, int object, Value *index, int site) {
    Type *word64 = b.getInt64Ty();
    auto at = [&](int64_t byte) { return offset(control, i64(byte)); };
    BasicBlock *head = newBlock("poll"), *missed = newBlock("missed"), *look = newBlock("look"), *late = newBlock("late"),
               *give = newBlock("give_up"), *tell = newBlock("tell"), *good = newBlock("good"), *bad = newBlock("bad"), *after = newBlock("waited");
    Value *start = ptx(Ptx::GlobalTimer);
    BasicBlock *before = b.GetInsertBlock();
    b.CreateBr(head);
    b.SetInsertPoint(head);
    PHINode *since = b.CreatePHI(word64, 3), *last = b.CreatePHI(word64, 3), *polls = b.CreatePHI(word64, 3);
    Value *actual = ptx(join ? Ptx::LoadRelaxedGpu : Ptx::LoadRelaxedSys, {address});
    b.CreateCondBr(b.CreateICmpUGE(actual, expected), good, missed);

    b.SetInsertPoint(missed); // most polls do nothing but back off
    ptx(Ptx::NanoSleep, {b.getInt32(64)});
    Value *count = b.CreateAdd(polls, i64(1));
    b.CreateCondBr(b.CreateICmpEQ(b.CreateAnd(count, i64(63)), i64(0)), look, head);

    b.SetInsertPoint(look);
    Value *now = ptx(Ptx::GlobalTimer);
    Value *ended = b.CreateOr(ptx(Ptx::LoadRelaxedSys, {at(kControlAbort)}), ptx(Ptx::LoadRelaxedSys, {offset(ownHeap, i64(kHeapAbort))}));
    Value *moved = b.CreateICmpNE(actual, last), *from = b.CreateSelect(moved, now, since);
    Value *timedOut = b.CreateICmpUGT(b.CreateSub(now, from), word(kTimeout));
    b.CreateCondBr(b.CreateOr(timedOut, b.CreateICmpNE(ended, i64(0))), late, head);
    since->addIncoming(start, before), last->addIncoming(i64(0), before), polls->addIncoming(i64(0), before);
    since->addIncoming(since, missed), last->addIncoming(last, missed), polls->addIncoming(count, missed);
    since->addIncoming(from, look), last->addIncoming(actual, look), polls->addIncoming(count, look);

    b.SetInsertPoint(late); // the first of the rank to give up says what it waited for
    Value *old = ptx(Ptx::AtomCasRelaxedSys, {at(kControlAbort), i64(0), i64(1)});
    b.CreateCondBr(b.CreateICmpEQ(old, i64(0)), give, bad);
    b.SetInsertPoint(give);
    Value *fields[] = {i64(site), ticket, i64(join), i64(object), index, expected, actual, epoch, word(kTag)};
    for (int64_t i = 0; Value *v : fields) ptx(Ptx::StoreRelaxedSys, {at(kControlReport + 8 * i++), v});
    b.CreateBr(tell);
    b.SetInsertPoint(tell);
    counted(i64(0), symbols.at("ranks"), i64(1), [&](Value *r) { ptx(Ptx::StoreReleaseSys, {offset(heap(r), i64(kHeapAbort)), i64(1)}); });
    b.CreateBr(bad);

    b.SetInsertPoint(good);
    ptx(join ? Ptx::FenceAcqRelGpu : Ptx::FenceAcqRelSys);
    b.CreateBr(after);
    b.SetInsertPoint(bad);
    b.CreateBr(after);
    b.SetInsertPoint(after);
    PHINode *aborted = b.CreatePHI(word64, 2);
    aborted->addIncoming(i64(0), good);
    aborted->addIncoming(i64(1), bad);
    return aborted;
}

void ProgramEmitter::acquire(const ir::Op &op) {
    int site = plan.sites++;
    const ir::Value *what = op.operands[0];
    Value *first = scalar(op.operands[1]), *amount = scalar(op.operands[2]);
    BasicBlock *before = b.GetInsertBlock(), *poll = newBlock("wait"), *all = newBlock("all");
    b.CreateCondBr(isFirst, poll, all);
    b.SetInsertPoint(poll);
    Value *aborted;
    if (op.kind == OpKind::AcquireJoin) {
        int join = plan.decls.joins.at(what);
        Value *address = b.CreateGEP(b.getInt64Ty(), pointerWord(plan.joins + join), first);
        aborted = waitFor(address, amount, true, join, first, site);
    } else { // words first .. first + amount, one after another
        int flag = plan.decls.flags.at(what);
        Value *expected = what->def->name("kind") == "done" ? b.CreateSub(epoch, i64(1)) : epoch;
        Value *base = offset(ownHeap, word(plan.flags + flag)), *end = b.CreateAdd(first, amount);
        BasicBlock *entered = b.GetInsertBlock(), *head = newBlock("words"), *one = newBlock("one"), *through = newBlock("through");
        b.CreateBr(head);
        b.SetInsertPoint(head);
        PHINode *i = b.CreatePHI(b.getInt64Ty(), 2), *state = b.CreatePHI(b.getInt64Ty(), 2);
        i->addIncoming(first, entered), state->addIncoming(i64(0), entered);
        b.CreateCondBr(b.CreateAnd(b.CreateICmpSLT(i, end), b.CreateICmpEQ(state, i64(0))), one, through);
        b.SetInsertPoint(one);
        Value *result = waitFor(b.CreateGEP(b.getInt64Ty(), base, i), expected, false, flag, i, site);
        i->addIncoming(b.CreateAdd(i, i64(1)), b.GetInsertBlock()), state->addIncoming(result, b.GetInsertBlock());
        b.CreateBr(head);
        b.SetInsertPoint(through);
        aborted = state;
    }
    BasicBlock *polled = b.GetInsertBlock();
    b.CreateBr(all);
    b.SetInsertPoint(all);
    PHINode *state = b.CreatePHI(b.getInt64Ty(), 2);
    state->addIncoming(i64(0), before);
    state->addIncoming(aborted, polled);
    Value *told = broadcast(state);
    BasicBlock *go = newBlock("go");
    b.CreateCondBr(b.CreateICmpNE(told, i64(0)), leave, go);
    b.SetInsertPoint(go);
}

void ProgramEmitter::arrive(const ir::Op &op) {
    flush();
    Value *total = scalar(op.operands[2]);
    Value *address = b.CreateGEP(b.getInt64Ty(), pointerWord(plan.joins + plan.decls.joins.at(op.operands[0])), scalar(op.operands[1]));
    BasicBlock *before = b.GetInsertBlock(), *one = newBlock("arrive"), *all = newBlock("all");
    b.CreateCondBr(isFirst, one, all);
    b.SetInsertPoint(one);
    Value *old = ptx(Ptx::AtomAddAcqRelGpu, {address, i64(1)});
    b.CreateBr(all);
    b.SetInsertPoint(all);
    PHINode *count = b.CreatePHI(b.getInt64Ty(), 2);
    count->addIncoming(i64(0), before);
    count->addIncoming(old, one);
    scalars[op.result()] = b.CreateICmpEQ(b.CreateAdd(broadcast(count), i64(1)), total);
}

void ProgramEmitter::release(const ir::Op &op) {
    flush();
    Value *base = offset(heap(scalar(op.operands[1])), word(plan.flags + plan.decls.flags.at(op.operands[0])));
    Value *address = b.CreateGEP(b.getInt64Ty(), base, scalar(op.operands[2]));
    when(isFirst, [&] { ptx(Ptx::StoreReleaseSys, {address, epoch}); });
}

} // namespace tdl::codegen::nvptx
