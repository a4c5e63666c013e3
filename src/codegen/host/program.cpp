#include "codegen/host/program.h"
#include "codegen/host/nest.h"
#include <llvm/IR/DIBuilder.h>

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

std::string PlanContext::localName(std::string_view what) const {
    return kern.symbol + "." + kern.name("plan") + "." + std::string(what);
}

ProgramEmitter::ProgramEmitter(PlanContext &p, size_t i)
    : plan(p), program(*p.programs[i]), storage(p.storage[i]), index(i), context(p.module.getContext()),
      b(context), elements(b, p.target.halfInstructions) {}

Function *emitProgram(PlanContext &plan, size_t program) {
    return ProgramEmitter(plan, program).run();
}

Function *ProgramEmitter::run() {
    Type *word = b.getInt64Ty();
    std::vector<Type *> parameters{b.getPtrTy(), word, word};
    auto &coords = program.names("coords");
    parameters.insert(parameters.end(), coords.size(), word);
    function = Function::Create(FunctionType::get(b.getVoidTy(), parameters, false),
                                GlobalValue::InternalLinkage, plan.localName(program.symbol), plan.module);
    setAttributes(*function, plan.target);
    frame = function->getArg(0), worker = function->getArg(1), ticket = function->getArg(2);
    for (size_t i = 0; i < coords.size(); ++i)
        symbols[coords[i]] = function->getArg(static_cast<unsigned>(i) + 3);
    entry = newBlock("entry");
    BasicBlock *start = newBlock("start");
    leave = newBlock("leave");
    plan.debug.describe(*function, program);
    subprogram = function->getSubprogram();
    b.SetInsertPoint(start);
    prologue();
    block(program.body());
    b.CreateBr(leave);
    b.SetInsertPoint(leave);
    b.CreateRetVoid();
    b.SetInsertPoint(entry);
    b.CreateBr(start);
    return function;
}

void ProgramEmitter::prologue() {
    Type *word = b.getInt64Ty();
    rank = symbols["rank"] = frameField(Frame::Rank, word);
    symbols["ranks"] = frameField(Frame::Ranks, word);
    epoch = frameField(Frame::Epoch, word);
    Value *sizes = frameField(Frame::Sizes, b.getPtrTy());
    for (const std::string &s : plan.kern.names("sizes")) symbols[s] = slotOf(sizes, plan.sizes[s], word);
    aliasScopes();
    layOutSlots();
    for (auto &op : plan.kern.body().ops)
        if (op->kind == OpKind::Param) {
            Value *slot = b.CreateConstGEP1_64(b.getInt64Ty(), frameField(Frame::Scalars, b.getPtrTy()),
                                               static_cast<uint64_t>(plan.params[op->result()]));
            scalars[op->result()] = load(slot, op->result()->type.elem, -1);
        }
}

Value *ProgramEmitter::frameField(Frame f, Type *t) {
    return b.CreateLoad(t, b.CreateConstGEP1_64(b.getInt8Ty(), frame, static_cast<uint64_t>(f)));
}
Value *ProgramEmitter::slotOf(Value *array, int64_t i, Type *t) {
    return b.CreateLoad(t, b.CreateConstGEP1_64(b.getInt64Ty(), array, static_cast<uint64_t>(i)));
}
BasicBlock *ProgramEmitter::newBlock(const char *name) {
    return BasicBlock::Create(context, name, function);
}
AllocaInst *ProgramEmitter::local(Type *t, const char *name, uint64_t count) {
    IRBuilder<> at(entry, entry->begin());
    return at.CreateAlloca(t, count == 1 ? nullptr : at.getInt64(count), name);
}

void ProgramEmitter::fail(const ir::Op &op, const char *why) {
    plan.diags.report(op.loc, Diag::CannotGenerate, op.info().text, why);
}

void ProgramEmitter::locate(const ir::Op &op) {
    if (subprogram && op.loc.valid())
        b.SetCurrentDebugLocation(DILocation::get(context, static_cast<unsigned>(op.loc.line),
                                                  static_cast<unsigned>(op.loc.col), subprogram));
}

Value *ProgramEmitter::expression(const ir::Expr &e) {
    ExprBuilder builder(b, [&](std::string_view s) -> Value * {
        auto it = symbols.find(std::string(s));
        return it == symbols.end() ? nullptr : it->second;
    });
    Value *v = builder.emit(e);
    if (!v) {
        plan.diags.report(program.loc, Diag::UnknownSymbol, builder.unknown(), program.symbol);
        return i64(0);
    }
    return v;
}

Value *ProgramEmitter::scalar(const ir::Value *v) {
    return scalars.at(v);
}

const Span &ProgramEmitter::axis(const std::string &name) {
    for (size_t i = axes.size(); i-- > 0;)
        if (axes[i].first == name) return axes[i].second;
    plan.diags.report(program.loc, Diag::UnknownSymbol, name, program.symbol);
    axes.emplace_back(name, Span{i64(0), i64(0)});
    return axes.back().second;
}

void ProgramEmitter::block(const ir::Block &blk) {
    size_t scope = axes.size();
    for (auto &op : blk.ops) {
        locate(*op);
        operation(*op);
    }
    axes.resize(scope);
}

// Virtual tiles need no code here: whoever uses them computes them.
void ProgramEmitter::operation(const ir::Op &op) {
    const ir::Value *r = op.results.empty() ? nullptr : op.result();
    auto slot = r ? storage.slotOf.find(r) : storage.slotOf.end();
    int s = slot == storage.slotOf.end() ? -1 : slot->second;
    switch (op.kind) {
    case OpKind::Base:
    case OpKind::Stride:
    case OpKind::At: return addressOperation(op);
    case OpKind::ExprOp: scalars[r] = expression(op.expr("value")); return;
    case OpKind::Const: {
        const ir::Attr &value = *op.find("value");
        const double *x = std::get_if<double>(&value);
        scalars[r] = x ? elements.constant(r->type.elem, *x)
                       : elements.constant(r->type.elem, std::get<int64_t>(value));
        return;
    }
    case OpKind::Begin: scalars[r] = ranges[op.operands[0]].low; return;
    case OpKind::End:
        scalars[r] = b.CreateAdd(ranges[op.operands[0]].low, ranges[op.operands[0]].length);
        return;
    case OpKind::Span: {
        Value *low = scalar(op.operands[0]), *high = scalar(op.operands[1]);
        Span span{low, b.CreateBinaryIntrinsic(Intrinsic::smax, b.CreateSub(high, low), i64(0))};
        ranges[r] = span;
        axes.emplace_back(op.name("axis"), span);
        return;
    }
    case OpKind::Loop: return loop(op);
    case OpKind::If: return branch(op);
    case OpKind::Yield: return yield(*op.parent->parent);
    case OpKind::Write: return write(op);
    case OpKind::Acquire:
    case OpKind::AcquireJoin: return acquire(op);
    case OpKind::ArriveJoin: return arrive(op);
    case OpKind::Release: return release(op);
    case OpKind::Reduce: return reduce(op, s);
    case OpKind::Dot:
        if (!storage.fused.contains(r)) dot(op, s);
        return;
    default: break;
    }
    if (op.kind != OpKind::Read && op.kind != OpKind::Index && op.kind != OpKind::Broadcast &&
        !ir::isElementwise(op.kind))
        return fail(op, "it does not belong in a program");
    if (s >= 0) return define(r, s);
    if (!r->type.axes.empty()) return;
    if (op.kind == OpKind::Read) { // a scalar
        Nest point(*this, {});
        Value *v = point.read(op);
        point.close();
        scalars[r] = v;
    } else if (op.kind == OpKind::Broadcast) {
        scalars[r] = scalar(op.operands[0]);
    } else {
        std::vector<Value *> x;
        for (const ir::Value *v : op.operands) x.push_back(scalar(v));
        scalars[r] = element(op, x);
    }
}

Value *ProgramEmitter::element(const ir::Op &op, const std::vector<Value *> &x) {
    Elem e = op.operands[0]->type.elem;
    if (op.kind == OpKind::Cast) return elements.convert(x[0], e, op.result()->type.elem);
    if (op.kind == OpKind::Select) return b.CreateSelect(x[0], x[1], x[2]);
    return elements.apply(op.kind, e, x[0], x.size() > 1 ? x[1] : nullptr);
}

// Carried tiles live in their slots; carried scalars and addresses are phis.
void ProgramEmitter::loop(const ir::Op &op) {
    const ir::Block &body = op.body();
    for (size_t i = 0; i < op.results.size(); ++i)
        if (auto it = storage.slotOf.find(op.result(i)); it != storage.slotOf.end())
            assign(op.operands[i + 3], it->second);
    Value *low = scalar(op.operands[0]), *high = scalar(op.operands[1]), *step = scalar(op.operands[2]);
    BasicBlock *before = b.GetInsertBlock(), *head = newBlock("turn"), *inside = newBlock("body"),
               *after = newBlock("end");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    PHINode *at = b.CreatePHI(b.getInt64Ty(), 2);
    at->addIncoming(low, before);
    scalars[body.args[0].get()] = at;
    std::vector<PHINode *> carried(op.results.size());
    for (size_t i = 0; i < op.results.size(); ++i) {
        if (storage.has(op.result(i))) continue;
        Value *start = scalar(op.operands[i + 3]);
        carried[i] = b.CreatePHI(start->getType(), 2);
        carried[i]->addIncoming(start, before);
        scalars[body.args[i + 1].get()] = scalars[op.result(i)] = carried[i];
    }
    b.CreateCondBr(b.CreateICmpSLT(at, high), inside, after);
    b.SetInsertPoint(inside);
    block(body);
    locate(op);
    for (size_t i = 0; i < op.results.size(); ++i)
        if (carried[i]) carried[i]->addIncoming(scalar(body.ops.back()->operands[i]), b.GetInsertBlock());
    at->addIncoming(b.CreateAdd(at, step), b.GetInsertBlock());
    b.CreateBr(head);
    b.SetInsertPoint(after);
}

void ProgramEmitter::branch(const ir::Op &op) {
    BasicBlock *then = newBlock("then"), *after = newBlock("after");
    b.CreateCondBr(scalar(op.operands[0]), then, after);
    b.SetInsertPoint(then);
    block(op.body());
    b.CreateBr(after);
    b.SetInsertPoint(after);
}

} // namespace tdl::codegen
