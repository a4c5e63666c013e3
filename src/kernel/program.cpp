// A task's block into a program's: waits and signals here, ranges and loops in loops.cpp, memory in access.cpp; tile
// operations stay what they are.
#include "kernel/lowering.h"

namespace tdl::kernel {
using namespace ir;

void TaskLowering::run() {
    // Waits stand first; then what no operation of the body changes.
    bool prepared = false;
    for (auto &op : task.body().ops) {
        bool waits = op->kind == OpKind::Wait || op->kind == OpKind::WaitJoin;
        if (!waits && !prepared) {
            collectStorage(task.body());
            prepared = true;
        }
        operation(*op);
    }
}

void TaskLowering::block(const Block &b) {
    for (auto &op : b.ops) operation(*op);
}

Num TaskLowering::number(const Value *v) const {
    if (auto it = values.find(v); it != values.end()) return it->second;
    return kernel.values.at(v);
}

void TaskLowering::operation(const Op &op) {
    switch (op.kind) {
    case OpKind::Wait:
    case OpKind::WaitJoin: return wait(op);
    case OpKind::Arrive: return arrive(op);
    case OpKind::Notify: return notify(op);
    case OpKind::RangeOp:
    case OpKind::Whole:
    case OpKind::Shift: return range(op);
    case OpKind::For: return loop(op);
    case OpKind::Load: return load(op);
    case OpKind::Store: return store(op);
    case OpKind::ExprOp: values.emplace(op.result(), kernel.fold(op.expr("value"))); return;
    case OpKind::Begin: values.emplace(op.result(), ranges.at(op.operands[0]).begin(emit)); return;
    case OpKind::End: values.emplace(op.result(), ranges.at(op.operands[0]).end(emit)); return;
    case OpKind::Index: {
        const RangeOf &r = ranges.at(op.operands[0]);
        Value *v = emit.build.make(OpKind::Index, locOf(op), {r.span}, op.result()->type);
        if (!r.shift.isConst(0))
            v = emit.build.make(OpKind::Add, locOf(op), {v, emit.value(r.shift)}, op.result()->type);
        values.emplace(op.result(), v);
        return;
    }
    default: return copy(op);
    }
}

// Tile operations and scalars: operands replaced, ranges by their spans.
void TaskLowering::copy(const Op &op) {
    if (op.kind == OpKind::Const && op.result()->type == Type::scalar(Elem::I64)) {
        values.emplace(op.result(), Num(op.get<int64_t>("value")));
        return;
    }
    std::vector<Value *> operands;
    for (const Value *v : op.operands) operands.push_back(v->type.isRange() ? ranges.at(v).span : use(v));
    Op *made = emit.build.op(op.kind, op.kind == OpKind::Yield ? Loc{} : locOf(op), std::move(operands));
    for (auto &[name, value] : op.attrs()) made->set(name, value);
    for (auto &r : op.results) values.emplace(r.get(), made->addResult(r->type, r->hint));
}

// ---- Waits and signals: flags speak to other ranks, joins to the tasks of this one ----------------------------------

void TaskLowering::wait(const Op &op) {
    bool flag = op.kind == OpKind::Wait;
    Value *a = emit.value(kernel.fold(op.expr(flag ? "from" : "index")));
    Value *b = emit.value(kernel.fold(op.expr(flag ? "count" : "total")));
    Value *token =
        emit.build.make(flag ? OpKind::Acquire : OpKind::AcquireJoin, locOf(op), {use(op.operands[0]), a, b},
                        Type::of(TypeKind::Token), {{"scope", Name{flag ? "system" : "device"}}},
                        op.operands[0]->hint + "_seen");
    tokens.push_back({&op, token});
}

void TaskLowering::arrive(const Op &op) {
    Value *i = emit.value(kernel.fold(op.expr("index"))), *total = emit.value(kernel.fold(op.expr("total")));
    Op *made = emit.build.op(OpKind::ArriveJoin, locOf(op), {use(op.operands[0]), i, total},
                             {{"scope", Name{"device"}}});
    Value *last = made->addResult(Type::scalar(Elem::Bool), "last");
    if (op.blocks.empty() || op.body().ops.empty()) return;
    Op *then = emit.build.op(OpKind::If, locOf(op), {last});
    Emitter::Nested nested(emit, then->addBlock());
    block(op.body());
}

void TaskLowering::notify(const Op &op) {
    Num to = kernel.fold(op.expr("to")), count = kernel.fold(op.expr("count")),
        word = kernel.fold(op.expr("index"));
    auto release = [&](Value *peer) {
        emit.build.op(OpKind::Release, locOf(op), {use(op.operands[0]), peer, emit.value(word)},
                      {{"scope", Name{"system"}}});
    };
    if (count.isConst(1)) return release(emit.value(to));
    emit.value(word); // outside of the loop
    Value *lo = emit.value(to), *hi = emit.value(emit.add(to, count)), *one = emit.value(1);
    Op *loop = emit.build.op(OpKind::Loop, locOf(op), {lo, hi, one});
    Block &body = loop->addBlock();
    Value *peer = body.addArg(Type::scalar(Elem::I64), "peer");
    Emitter::Nested nested(emit, body);
    release(peer);
    emit.build.op(OpKind::Yield, {});
}

} // namespace tdl::kernel
