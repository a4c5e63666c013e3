#include "codegen/nvptx/program.h"
#include "codegen/nvptx/nest.h"

namespace tdl::codegen::nvptx {
using namespace llvm;
using ir::OpKind;

BasicBlock *ProgramEmitter::newBlock(const char *name) { return BasicBlock::Create(context, name, function); }
AllocaInst *ProgramEmitter::local(Type *t, const char *name) {
    IRBuilder<> at(entry, entry->begin());
    return at.CreateAlloca(t, nullptr, name);
}

void ProgramEmitter::fail(const ir::Op &op, const char *why) {
    plan.diags.report(op.loc, Diag::CannotGenerate, op.info().text, why);
}

Value *ProgramEmitter::expression(const ir::Expr &e) {
    ExprBuilder builder(b, [&](std::string_view s) -> Value * {
        auto it = symbols.find(std::string(s));
        return it == symbols.end() ? nullptr : it->second;
    });
    Value *v = builder.emit(e);
    if (v) return v;
    plan.diags.report(program ? program->loc : plan.kern.loc, Diag::UnknownSymbol, builder.unknown(), plan.kern.symbol);
    return i64(0);
}

Value *ProgramEmitter::scalar(const ir::Value *v) {
    auto it = params.find(v);
    return it != params.end() ? it->second : scalars.at(v);
}

const Span &ProgramEmitter::axis(const std::string &name) {
    for (size_t i = axes.size(); i-- > 0;)
        if (axes[i].first == name) return axes[i].second;
    plan.diags.report(program->loc, Diag::UnknownSymbol, name, program->symbol);
    axes.emplace_back(name, Span{i64(0), i64(0)});
    return axes.back().second;
}

void ProgramEmitter::when(Value *condition, const std::function<void()> &body) {
    BasicBlock *then = newBlock("then"), *after = newBlock("after");
    b.CreateCondBr(condition, then, after);
    b.SetInsertPoint(then);
    body();
    b.CreateBr(after);
    b.SetInsertPoint(after);
}

void ProgramEmitter::counted(Value *from, Value *to, Value *step, const std::function<void(Value *)> &body) {
    BasicBlock *before = b.GetInsertBlock(), *head = newBlock("head"), *inside = newBlock("each"), *after = newBlock("through");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    PHINode *i = b.CreatePHI(b.getInt64Ty(), 2);
    i->addIncoming(from, before);
    b.CreateCondBr(b.CreateICmpSLT(i, to), inside, after);
    b.SetInsertPoint(inside);
    body(i);
    i->addIncoming(b.CreateNSWAdd(i, step), b.GetInsertBlock());
    b.CreateBr(head);
    b.SetInsertPoint(after);
}

void ProgramEmitter::block(const ir::Block &blk) {
    size_t scope = axes.size();
    for (auto &op : blk.ops) operation(*op);
    axes.resize(scope);
}

// Virtual tiles need no code here: whoever uses them computes them.
void ProgramEmitter::operation(const ir::Op &op) {
    const ir::Value *r = op.results.empty() ? nullptr : op.result();
    auto slot = r ? storage().slotOf.find(r) : storage().slotOf.end();
    int s = slot == storage().slotOf.end() ? -1 : slot->second;
    switch (op.kind) {
    case OpKind::Base: case OpKind::Stride: case OpKind::At: return addressOperation(op);
    case OpKind::ExprOp: scalars[r] = expression(op.expr("value")); return;
    case OpKind::Const: {
        const ir::Attr &value = *op.find("value");
        const double *x = std::get_if<double>(&value);
        scalars[r] = x ? elements.constant(r->type.elem, *x) : elements.constant(r->type.elem, std::get<int64_t>(value));
        return;
    }
    case OpKind::Begin: scalars[r] = ranges[op.operands[0]].low; return;
    case OpKind::End: scalars[r] = b.CreateAdd(ranges[op.operands[0]].low, ranges[op.operands[0]].length); return;
    case OpKind::Span: {
        Value *low = scalar(op.operands[0]), *high = scalar(op.operands[1]);
        Span span{low, b.CreateBinaryIntrinsic(Intrinsic::smax, b.CreateSub(high, low), i64(0))};
        if (op.has("cap") && op.expr("cap").isConst()) span.cap = op.expr("cap").value();
        ranges[r] = span;
        axes.emplace_back(op.name("axis"), span);
        return;
    }
    case OpKind::Loop: return loop(op);
    case OpKind::If: return branch(op);
    case OpKind::Yield: return yield(*op.parent->parent);
    case OpKind::Write: return write(op);
    case OpKind::Acquire: case OpKind::AcquireJoin: return acquire(op);
    case OpKind::ArriveJoin: return arrive(op);
    case OpKind::Release: return release(op);
    case OpKind::Reduce: return reduce(op, s);
    case OpKind::Dot:
        if (!storage().fused.contains(r)) dot(op, s);
        return;
    default: break;
    }
    if (op.kind != OpKind::Read && op.kind != OpKind::Index && op.kind != OpKind::Broadcast && !ir::isElementwise(op.kind))
        return fail(op, "it does not belong in a program");
    if (s >= 0) return define(r, s);
    if (!r->type.axes.empty()) return;
    if (op.kind == OpKind::Read) { // a scalar: every thread reads it
        Region region(*this);
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

// Carried tiles live in their slots; carried scalars and addresses are phis. A turn begins and ends with nothing pending,
// so that what one turn leaves behind needs no comparison with what the next does first.
void ProgramEmitter::loop(const ir::Op &op) {
    const ir::Block &body = op.body();
    for (size_t i = 0; i < op.results.size(); ++i)
        if (auto it = storage().slotOf.find(op.result(i)); it != storage().slotOf.end()) assign(op.operands[i + 3], it->second);
    flush();
    Value *low = scalar(op.operands[0]), *high = scalar(op.operands[1]), *step = scalar(op.operands[2]);
    BasicBlock *before = b.GetInsertBlock(), *head = newBlock("turn"), *inside = newBlock("body"), *after = newBlock("end");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    PHINode *at = b.CreatePHI(b.getInt64Ty(), 2);
    at->addIncoming(low, before);
    scalars[body.args[0].get()] = at;
    std::vector<PHINode *> carried(op.results.size());
    for (size_t i = 0; i < op.results.size(); ++i) {
        if (storage().has(op.result(i))) continue;
        Value *start = scalar(op.operands[i + 3]);
        carried[i] = b.CreatePHI(start->getType(), 2);
        carried[i]->addIncoming(start, before);
        scalars[body.args[i + 1].get()] = scalars[op.result(i)] = carried[i];
    }
    b.CreateCondBr(b.CreateICmpSLT(at, high), inside, after);
    b.SetInsertPoint(inside);
    block(body);
    flush();
    for (size_t i = 0; i < op.results.size(); ++i)
        if (carried[i]) carried[i]->addIncoming(scalar(body.ops.back()->operands[i]), b.GetInsertBlock());
    at->addIncoming(b.CreateAdd(at, step), b.GetInsertBlock());
    b.CreateBr(head);
    b.SetInsertPoint(after);
}

void ProgramEmitter::branch(const ir::Op &op) {
    flush();
    when(scalar(op.operands[0]), [&] {
        block(op.body());
        flush();
    });
}

} // namespace tdl::codegen::nvptx
