// Waits and notifies are calls of the runtime (abi.h), which the compiler does not look into: no access moves
// across. A wait that reports an aborted launch ends the program without arriving.
#include "codegen/host/program.h"

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

Value *ProgramEmitter::callRuntime(const char *name, Type *result, std::vector<Value *> args) {
    std::vector<Type *> types;
    for (Value *v : args) types.push_back(v->getType());
    FunctionCallee f = plan.module.getOrInsertFunction(name, FunctionType::get(result, types, false));
    cast<Function>(f.getCallee())->setDoesNotThrow();
    return b.CreateCall(f, args);
}

int64_t ProgramEmitter::site(const ir::Op &op) {
    plan.sites.push_back({static_cast<int>(index), op.loc});
    return static_cast<int64_t>(plan.sites.size()) - 1;
}

void ProgramEmitter::leaveIf(Value *aborted) {
    BasicBlock *next = newBlock("go");
    b.CreateCondBr(b.CreateICmpNE(aborted, b.getInt32(0)), leave, next);
    b.SetInsertPoint(next);
}

void ProgramEmitter::acquire(const ir::Op &op) {
    Value *at = i64(site(op)), *first = scalar(op.operands[1]), *amount = scalar(op.operands[2]);
    const ir::Value *what = op.operands[0];
    if (op.kind == OpKind::AcquireJoin)
        return leaveIf(callRuntime("tdl_wait_join", b.getInt32Ty(),
                                   {frame, i64(plan.joins.at(what)), first, amount, at, ticket}));
    // words first .. first + amount, one wait each
    bool done = what->def->name("kind") == "done";
    Value *expected = done ? b.CreateSub(epoch, i64(1)) : epoch;
    Value *end = b.CreateAdd(first, amount);
    BasicBlock *before = b.GetInsertBlock(), *head = newBlock("words"), *wait = newBlock("wait"),
               *after = newBlock("here");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    PHINode *word = b.CreatePHI(b.getInt64Ty(), 2);
    word->addIncoming(first, before);
    b.CreateCondBr(b.CreateICmpSLT(word, end), wait, after);
    b.SetInsertPoint(wait);
    leaveIf(callRuntime("tdl_wait_flag", b.getInt32Ty(),
                        {frame, i64(plan.flags.at(what)), word, expected, at, ticket}));
    word->addIncoming(b.CreateAdd(word, i64(1)), b.GetInsertBlock());
    b.CreateBr(head);
    b.SetInsertPoint(after);
}

void ProgramEmitter::arrive(const ir::Op &op) {
    Value *last = callRuntime(
        "tdl_arrive", b.getInt32Ty(),
        {frame, i64(plan.joins.at(op.operands[0])), scalar(op.operands[1]), scalar(op.operands[2])});
    scalars[op.result()] = b.CreateICmpNE(last, b.getInt32(0));
}

void ProgramEmitter::release(const ir::Op &op) {
    callRuntime("tdl_notify", b.getVoidTy(),
                {frame, scalar(op.operands[1]), i64(plan.flags.at(op.operands[0])), scalar(op.operands[2])});
}

} // namespace tdl::codegen
