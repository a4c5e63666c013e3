// The two functions of a plan that the runtime calls: how much it needs, and what a worker does.
//
//     run:     while ((t = tdl_next_ticket()) >= 0)  if (t < n0) program0(t / c1, t % c1); else if (t < n0 +
//     n1) ..
#include "codegen/common/expr.h"
#include "codegen/common/llvm.h"
#include "codegen/host/frame.h"
#include "codegen/host/plan.h"

namespace tdl::codegen {
using namespace llvm;
using ir::Expr;

namespace {

Value *field(IRBuilder<> &b, Value *base, int64_t offset, Type *t) {
    return b.CreateLoad(t, b.CreateConstGEP1_64(b.getInt8Ty(), base, static_cast<uint64_t>(offset)));
}

/// sizes, ranks and rank from a frame or shape, loaded when first used.
ExprBuilder::Lookup lookup(PlanContext &plan, IRBuilder<> &b, Value *base, int64_t ranks, int64_t rank,
                           int64_t sizes) {
    return [=, &plan, &b](std::string_view s) -> Value * {
        if (s == "ranks") return field(b, base, ranks, b.getInt64Ty());
        if (s == "rank") return field(b, base, rank, b.getInt64Ty());
        auto it = plan.sizes.find(std::string(s));
        if (it == plan.sizes.end()) return nullptr;
        return field(b, field(b, base, sizes, b.getPtrTy()), it->second * 8, b.getInt64Ty());
    };
}

} // namespace

Function *emitLayout(PlanContext &plan) {
    LLVMContext &c = plan.module.getContext();
    IRBuilder<> b(c);
    auto *type = FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false);
    auto *f = Function::Create(type, GlobalValue::InternalLinkage, plan.localName("layout"), plan.module);
    setAttributes(*f, plan.target);
    b.SetInsertPoint(BasicBlock::Create(c, "entry", f));
    Value *shape = f->getArg(0), *out = f->getArg(1);
    auto symbols = lookup(plan, b, shape, static_cast<int>(Shape::Ranks), static_cast<int>(Shape::Rank),
                          static_cast<int>(Shape::Sizes));
    uint64_t next = 0;
    auto put = [&](const Expr &e, Loc loc) { // a negative or overflowing size becomes the greatest number
        ExprBuilder builder(b, symbols);
        builder.watchOverflow();
        Value *v = builder.emit(e);
        if (!v) {
            plan.diags.report(loc, Diag::UnknownSymbol, builder.unknown(), plan.kern.symbol);
            return;
        }
        Value *bad = b.CreateOr(builder.overflowed(), b.CreateICmpSLT(v, b.getInt64(0)));
        b.CreateStore(b.CreateSelect(bad, b.getInt64(INT64_MAX), v),
                      b.CreateConstGEP1_64(b.getInt64Ty(), out, next++));
    };
    auto each = [&](ir::OpKind kind, auto &&size) {
        for (auto &op : plan.kern.body().ops)
            if (op->kind == kind) put(size(*op), op->loc);
    };
    each(ir::OpKind::Buffer, [](const ir::Op &op) {
        Expr n = elemBytes(op.result()->type.elem);
        for (const Expr &e : op.exprs("dims")) n = e * n;
        return n;
    });
    each(ir::OpKind::Flag, [](const ir::Op &op) { return op.expr("words"); });
    each(ir::OpKind::Join, [](const ir::Op &op) { return op.expr("words"); });
    for (const ir::Op *p : plan.programs)
        for (const Expr &e : p->exprs("counts")) put(e, p->loc);
    Expr workspace = 0;
    for (const Storage &s : plan.storage) {
        Expr n = 0;
        for (const Slot &slot : s.slots) n = n + slotBytes(slot);
        workspace = ir::max(workspace, n);
    }
    put(workspace, plan.kern.loc);
    b.CreateRetVoid();
    return f;
}

Function *emitRun(PlanContext &plan, const std::vector<Function *> &programs) {
    LLVMContext &c = plan.module.getContext();
    IRBuilder<> b(c);
    Type *word = b.getInt64Ty();
    auto *type = FunctionType::get(b.getVoidTy(), {b.getPtrTy(), word}, false);
    auto *f = Function::Create(type, GlobalValue::InternalLinkage, plan.localName("run"), plan.module);
    setAttributes(*f, plan.target);
    auto block = [&](const char *name) { return BasicBlock::Create(c, name, f); };
    BasicBlock *start = block("start"), *draw = block("draw"), *leave = block("leave");
    Value *frame = f->getArg(0), *worker = f->getArg(1);

    // Counts do not change during a launch. Those of one program multiply without overflow: the runtime has
    // checked.
    b.SetInsertPoint(start);
    ExprBuilder builder(b, lookup(plan, b, frame, static_cast<int>(Frame::Ranks),
                                  static_cast<int>(Frame::Rank), static_cast<int>(Frame::Sizes)));
    std::vector<std::vector<Value *>> counts;
    std::vector<Value *> tickets;
    for (const ir::Op *p : plan.programs) {
        Value *n = b.getInt64(1);
        counts.emplace_back();
        for (const Expr &e : p->exprs("counts")) {
            Value *v = builder.emit(e);
            if (!v) v = b.getInt64(0); // reported by emitLayout
            counts.back().push_back(v);
            n = b.CreateMul(n, v);
        }
        tickets.push_back(n);
    }
    b.CreateBr(draw);
    b.SetInsertPoint(draw);
    FunctionCallee next = plan.module.getOrInsertFunction(
        "tdl_next_ticket", FunctionType::get(word, {b.getPtrTy(), word}, false));
    cast<Function>(next.getCallee())->setDoesNotThrow();
    Value *ticket = b.CreateCall(next, {frame, worker});
    BasicBlock *go = block("go");
    b.CreateCondBr(b.CreateICmpSLT(ticket, b.getInt64(0)), leave, go);
    b.SetInsertPoint(go);
    Value *rest = ticket;
    for (size_t i = 0; i < programs.size(); ++i) {
        BasicBlock *mine = block("mine"), *other = block("other");
        b.CreateCondBr(b.CreateICmpSLT(rest, tickets[i]), mine, other);
        b.SetInsertPoint(mine);
        std::vector<Value *> args{frame, worker, ticket};
        size_t n = counts[i].size();
        std::vector<Value *> coords(n);
        Value *r = rest;
        for (size_t k = n; k-- > 1;) { // the last coordinate runs fastest
            coords[k] = b.CreateURem(r, counts[i][k]);
            r = b.CreateUDiv(r, counts[i][k]);
        }
        if (n > 0) coords[0] = r;
        args.insert(args.end(), coords.begin(), coords.end());
        b.CreateCall(programs[i], args);
        b.CreateBr(draw);
        b.SetInsertPoint(other);
        rest = b.CreateSub(rest, tickets[i]);
    }
    b.CreateBr(draw);
    b.SetInsertPoint(leave);
    b.CreateRetVoid();
    return f;
}

} // namespace tdl::codegen
