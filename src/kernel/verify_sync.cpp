// Tokens and signals: what other tasks wrote is read behind a wait for them, other ranks' memory is written behind a
// wait for them to have finished with it, and what is published is complete.
#include "kernel/verifier.h"

namespace tdl::kernel {
using namespace ir;

// Gathers what a program does; on the way: where signals stand.
void KernVerifier::collect(const Block &b, const Value *behind, Program &p, bool &signalled) {
    for (auto &op : b.ops) {
        const Value *then = behind;
        switch (op->kind) {
        case OpKind::Read:
        case OpKind::Write:
            if (signalled) fail(*op, Diag::KernelBehindSignal, op->info().text);
            (op->kind == OpKind::Read ? p.reads : p.writes).push_back(op.get());
            break;
        case OpKind::Acquire:
            if (op->operands[0]->def->name("kind") != "done") p.sync.waits.push_back(op->operands[0]);
            signal(*op);
            break;
        case OpKind::AcquireJoin:
            p.sync.waits.push_back(op->operands[0]);
            signal(*op);
            break;
        case OpKind::ArriveJoin:
        case OpKind::Release:
            signalled = true;
            p.sync.signals.push_back({op->operands[0], behind});
            signal(*op);
            break;
        case OpKind::If: {
            const Op *condition = op->operands[0]->def;
            if (condition && condition->kind == OpKind::ArriveJoin) then = condition->operands[0];
            break;
        }
        default: break;
        }
        for (auto &inner : op->blocks) collect(*inner, then, p, signalled);
    }
}

// Scope; and that it happens once: an arrival at the top or where another completed a total, a release only there.
void KernVerifier::signal(const Op &op) {
    bool flag = op.kind == OpKind::Acquire || op.kind == OpKind::Release;
    const char *scope = flag ? "system" : "device";
    if (op.name("scope") != scope) fail(op, Diag::KernelScope, op.info().text, scope, op.name("scope"));
    if (op.kind != OpKind::ArriveJoin && op.kind != OpKind::Release) return;
    const Op *outer = op.parent->parent;
    if (op.kind == OpKind::Release && outer->kind == OpKind::Loop)
        outer = outer->parent->parent; // over peers
    bool completed = outer->kind == OpKind::If && outer->operands[0]->def &&
                     outer->operands[0]->def->kind == OpKind::ArriveJoin;
    if (completed || (op.kind == OpKind::ArriveJoin && outer->kind == OpKind::Program)) return;
    fail(op, Diag::KernelSignalPlace, op.info().text,
         op.kind == OpKind::Release ? "stands where an `arrive_join` has completed its total"
                                    : "happens once per ticket");
}

void KernVerifier::tokens() {
    std::vector<TaskSync> all;
    for (const Program &p : programs) all.push_back(p.sync);
    auto completed = completedBefore(all);
    auto memoryOf = [](const Op &access) { return baseOf(addressOf(access))->operands[0]; };
    for (const Program &p : programs) {
        for (const Op *read : p.reads) {
            const Value *memory = memoryOf(*read);
            if (memory->type.kind != TypeKind::Buffer) continue;
            std::set<size_t> seen;
            for (const Value *v : read->operands)
                if (v->type.kind == TypeKind::Token)
                    seen.insert(completed[v->def->operands[0]].begin(), completed[v->def->operands[0]].end());
            for (size_t w = 0; w < programs.size(); ++w) {
                // Who writes later, does so for other reads.
                if (programs[w].op->integer("level") >= p.op->integer("level") || seen.contains(w)) continue;
                for (const Op *write : programs[w].writes)
                    if (memoryOf(*write) == memory) {
                        fail(*read, Diag::KernelNoToken, memory->def->name(), programs[w].op->symbol);
                        break;
                    }
            }
        }
        for (const Op *write : p.writes) {
            const Op *base = baseOf(addressOf(*write));
            if (isOwn(*base)) continue;
            bool done = false;
            for (const Value *v : write->operands)
                done |= v->type.kind == TypeKind::Token && v->def->kind == OpKind::Acquire &&
                        v->def->operands[0]->def->name("kind") == "done";
            if (!done) fail(*write, Diag::KernelNoDone, base->operands[0]->def->name());
        }
        for (const Op *read : p.reads) {
            const Op *base = baseOf(addressOf(*read));
            if (!isOwn(*base)) fail(*read, Diag::KernelForeign, base->operands[0]->def->name());
        }
    }
}

} // namespace tdl::kernel
