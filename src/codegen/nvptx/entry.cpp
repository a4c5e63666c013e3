// The entry of a plan: a block draws tickets until none is left; the last block of the launch readies everything for the
// next one (abi_device.h).
//
//     draw: t = ticket++; if (t < n0) program 0 (t / c1, t % c1); else if (t - n0 < n1) ..; else done; goto draw
//     done: if (++finished == blocks) { joins = ticket = finished = 0; done words of all ranks = epoch; epoch++ }
#include "codegen/nvptx/program.h"
#include "codegen/nvptx/words.h"
#include <algorithm>
#include <llvm/IR/CallingConv.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace tdl::codegen::nvptx {
using namespace llvm;

PlanContext::PlanContext(Module &m, const ir::Op &k, Diagnostics &d) : module(m), kern(k), diags(d), decls(declarationsOf(k)) {
    auto count = [](auto &map) { return static_cast<int>(map.size()); };
    sizes = kHeader;
    scalars = sizes + count(decls.sizes);
    tensors = scalars + count(decls.params);
    strides = tensors + count(decls.tensors);
    buffers = strides + decls.strides;
    flags = buffers + count(decls.buffers);
    joins = flags + count(decls.flags);
    heaps = joins + count(decls.joins);
    words = std::min<int>(heaps + kMaxRanks, kMaxWords);
}

std::string PlanContext::entryName() const { return kern.symbol + "$" + kern.name("plan"); }

ir::Expr PlanContext::workspace() const {
    ir::Expr most = 0;
    for (const Placement &p : placements) {
        ir::Expr n = 0;
        for (size_t i = 0; i < p.shared.size(); ++i)
            if (p.shared[i] < 0) n = n + slotBytes(p.storage.slots[i]);
        most = ir::max(most, n);
    }
    return most;
}
int PlanContext::sharedBytes() const {
    int most = 0;
    for (const Placement &p : placements) most = std::max(most, p.sharedBytes);
    return kScratchBytes + most;
}

ProgramEmitter::ProgramEmitter(PlanContext &p) : plan(p), context(p.module.getContext()), b(context), elements(b, true) {}

Function *emitEntry(PlanContext &plan) { return ProgramEmitter(plan).run(); }

// Version 19 knows kernels by metadata, 22 by attributes. How many blocks a multiprocessor should hold at least decides how
// many registers a thread may have; without it ptxas spills to fit in more.
static void markKernel(Function &f, int blocks) {
    f.setCallingConv(CallingConv::PTX_Kernel);
    f.addFnAttr(Attribute::NoUnwind);
    f.addFnAttr(Attribute::Convergent);
    f.addFnAttr("no-builtins");
#if LLVM_VERSION_MAJOR >= 22
    f.addFnAttr("nvvm.maxntid", std::to_string(kThreads));
    f.addFnAttr("nvvm.minctasm", std::to_string(blocks));
    f.addParamAttr(0, Attribute::get(f.getContext(), "nvvm.grid_constant"));
#else
    LLVMContext &c = f.getContext();
    auto number = [&](unsigned n) { return ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(c), n)); };
    auto add = [&](const char *what, Metadata *value) {
        f.getParent()->getOrInsertNamedMetadata("nvvm.annotations")
            ->addOperand(MDNode::get(c, {ConstantAsMetadata::get(&f), MDString::get(c, what), value}));
    };
    add("kernel", number(1));
    add("maxntidx", number(kThreads));
    add("minctasm", number(static_cast<unsigned>(blocks)));
    add("grid_constant", MDNode::get(c, {number(1)}));
#endif
}

Function *ProgramEmitter::run() {
    function = Function::Create(FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false), GlobalValue::ExternalLinkage,
                                plan.entryName(), plan.module);
    auto *block_ = ArrayType::get(b.getInt64Ty(), static_cast<uint64_t>(plan.words));
    function->addParamAttr(0, Attribute::getWithByValType(context, block_));
    function->addParamAttr(0, Attribute::getWithAlignment(context, Align(8)));
    bool sums = std::any_of(plan.placements.begin(), plan.placements.end(), [](auto &p) { return !p.products.empty(); });
    markKernel(*function, sums ? 1 : 2);
    auto *bytes = ArrayType::get(b.getInt8Ty(), static_cast<uint64_t>(plan.sharedBytes()));
    sharedMemory = new GlobalVariable(plan.module, bytes, false, GlobalValue::InternalLinkage, PoisonValue::get(bytes),
                                      plan.kern.symbol + "_" + plan.kern.name("plan") + "_shared", nullptr, GlobalValue::NotThreadLocal, 3);
    sharedMemory->setAlignment(Align(16));
    entry = newBlock("entry");
    BasicBlock *start = newBlock("start"), *draw = newBlock("draw"), *done = newBlock("done");
    leave = draw;
    b.SetInsertPoint(start);
    prologue();
    b.CreateBr(draw);
    drawTickets(draw, done);
    b.SetInsertPoint(done);
    finish();
    b.CreateRetVoid();
    b.SetInsertPoint(entry);
    b.CreateBr(start);
    return function;
}

Value *ProgramEmitter::special(unsigned intrinsic) {
    return b.CreateIntrinsic(b.getInt32Ty(), intrinsic, ArrayRef<Value *>());
}
Value *ProgramEmitter::word(int64_t i) {
    return b.CreateAlignedLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), function->getArg(0), static_cast<uint64_t>(i)), Align(8));
}
Value *ProgramEmitter::pointerWord(int64_t i) {
    return b.CreateAlignedLoad(PointerType::get(context, 1), b.CreateConstGEP1_64(b.getInt64Ty(), function->getArg(0), static_cast<uint64_t>(i)), Align(8));
}
Value *ProgramEmitter::heap(Value *rank) {
    Value *at = b.CreateGEP(b.getInt64Ty(), function->getArg(0), b.CreateAdd(rank, i64(plan.heaps)));
    return b.CreateAlignedLoad(PointerType::get(context, 1), at, Align(8));
}
Value *ProgramEmitter::sharedAt(int64_t byte) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), sharedMemory, static_cast<uint64_t>(byte));
}

void ProgramEmitter::prologue() {
    Value *t = special(Intrinsic::nvvm_read_ptx_sreg_tid_x);
    isFirst = b.CreateICmpEQ(t, b.getInt32(0));
    thread = b.CreateZExt(t, b.getInt64Ty());
    lane = b.CreateAnd(thread, i64(kWarp - 1));
    warp = b.CreateLShr(thread, i64(5));
    symbols["ranks"] = word(kRanks);
    Value *rank = symbols["rank"] = word(kRank);
    for (auto &[name, i] : plan.decls.sizes) symbols[name] = nullptr;
    for (const std::string &s : plan.kern.names("sizes")) symbols[s] = word(plan.sizes + plan.decls.sizes.at(s));
    control = pointerWord(kControl);
    ownHeap = heap(rank);
    epoch = b.CreateAdd(ptx(Ptx::LoadRelaxedGpu, {offset(control, i64(kControlEpoch))}), i64(1));
    for (auto &op : plan.kern.body().ops)
        if (op->kind == ir::OpKind::Param) {
            Elem e = op->result()->type.elem;
            Value *slot = b.CreateConstGEP1_64(b.getInt64Ty(), function->getArg(0),
                                               static_cast<uint64_t>(plan.scalars + plan.decls.params.at(op->result())));
            params[op->result()] = load(slot, e);
        }
}

// Counts do not change during a launch; the runtime has checked that they multiply without overflow.
void ProgramEmitter::drawTickets(BasicBlock *draw, BasicBlock *done) {
    std::vector<std::vector<Value *>> counts;
    std::vector<Value *> tickets;
    b.SetInsertPoint(draw->getSinglePredecessor()->getTerminator());
    for (const ir::Op *p : plan.decls.programs) {
        Value *n = i64(1);
        counts.emplace_back();
        for (const ir::Expr &e : p->exprs("counts")) {
            counts.back().push_back(expression(e));
            n = b.CreateMul(n, counts.back().back());
        }
        tickets.push_back(n);
    }
    b.SetInsertPoint(draw);
    barrier(); // everyone is through with the last ticket, however it ended
    BasicBlock *before = b.GetInsertBlock(), *look = newBlock("look"), *take = newBlock("take"), *all = newBlock("all");
    b.CreateCondBr(isFirst, look, all);
    b.SetInsertPoint(look);
    Value *aborted = ptx(Ptx::LoadRelaxedSys, {offset(control, i64(kControlAbort))});
    b.CreateCondBr(b.CreateICmpNE(aborted, i64(0)), all, take);
    b.SetInsertPoint(take);
    Value *drawn = ptx(Ptx::AtomAddRelaxedGpu, {offset(control, i64(kControlTicket)), i64(1)});
    b.CreateBr(all);
    b.SetInsertPoint(all);
    PHINode *mine = b.CreatePHI(b.getInt64Ty(), 3);
    mine->addIncoming(i64(0), before);
    mine->addIncoming(i64(-1), look);
    mine->addIncoming(drawn, take);
    ticket = broadcast(mine);
    Hazards drawnState = hazards;
    BasicBlock *go = newBlock("go");
    b.CreateCondBr(b.CreateICmpSLT(ticket, i64(0)), done, go);
    b.SetInsertPoint(go);
    Value *rest = ticket;
    for (size_t i = 0; i < plan.decls.programs.size(); ++i) {
        BasicBlock *own = newBlock("own"), *other = newBlock("other");
        b.CreateCondBr(b.CreateICmpSLT(rest, tickets[i]), own, other);
        b.SetInsertPoint(own);
        hazards = drawnState;
        emitProgram(i, rest, counts[i]);
        b.CreateBr(draw);
        b.SetInsertPoint(other);
        rest = b.CreateSub(rest, tickets[i]);
    }
    b.CreateBr(done);
}

void ProgramEmitter::emitProgram(size_t index, Value *rest, const std::vector<Value *> &counts) {
    program = plan.decls.programs[index];
    placement = &plan.placements[index];
    scalars.clear(), ranges.clear(), axes.clear();
    auto &coords = program->names("coords");
    for (size_t k = coords.size(); k-- > 1;) { // the last coordinate runs fastest
        symbols[coords[k]] = b.CreateURem(rest, counts[k]);
        rest = b.CreateUDiv(rest, counts[k]);
    }
    if (!coords.empty()) symbols[coords[0]] = rest;
    layOutSlots();
    block(program->body());
    for (const std::string &c : coords) symbols.erase(c);
    program = nullptr;
}

void ProgramEmitter::zeroJoins() {
    for (const ir::Op *j : plan.decls.joinList) {
        Value *base = pointerWord(plan.joins + plan.decls.joins.at(j->result()));
        counted(thread, expression(j->expr("words")), i64(kThreads),
                [&](Value *i) { ptx(Ptx::StoreRelaxedGpu, {b.CreateGEP(b.getInt64Ty(), base, i), i64(0)}); });
    }
}

void ProgramEmitter::finish() {
    barrier();
    BasicBlock *before = b.GetInsertBlock(), *count = newBlock("count"), *all = newBlock("all");
    b.CreateCondBr(isFirst, count, all);
    b.SetInsertPoint(count);
    Value *old = ptx(Ptx::AtomAddAcqRelGpu, {offset(control, i64(kControlFinished)), i64(1)});
    b.CreateBr(all);
    b.SetInsertPoint(all);
    PHINode *ended = b.CreatePHI(b.getInt64Ty(), 2);
    ended->addIncoming(i64(0), before);
    ended->addIncoming(old, count);
    Value *blocks = b.CreateZExt(special(Intrinsic::nvvm_read_ptx_sreg_nctaid_x), b.getInt64Ty());
    when(b.CreateICmpEQ(b.CreateAdd(broadcast(ended), i64(1)), blocks), [&] {
        zeroJoins();
        barrier();
        when(isFirst, [&] {
            auto set = [&](int64_t byte, Value *v) { ptx(Ptx::StoreRelaxedGpu, {offset(control, i64(byte)), v}); };
            set(kControlTicket, i64(0));
            set(kControlFinished, i64(0));
            Value *aborted = ptx(Ptx::LoadRelaxedSys, {offset(control, i64(kControlAbort))});
            when(b.CreateICmpEQ(aborted, i64(0)), [&] {
                counted(i64(0), symbols.at("ranks"), i64(1), [&](Value *r) {
                    Value *words = offset(heap(r), i64(kHeapDone));
                    ptx(Ptx::StoreReleaseSys, {b.CreateGEP(b.getInt64Ty(), words, symbols.at("rank")), epoch});
                });
            });
            set(kControlEpoch, epoch);
        });
    });
}

} // namespace tdl::codegen::nvptx
