// Operands and results of the operations that kernel IR has alone; ir/verify.cpp has those that the stages share.
#include "kernel/verifier.h"

namespace tdl::kernel {
using namespace ir;
namespace {
const Type kI64 = Type::scalar(Elem::I64), kBool = Type::scalar(Elem::Bool),
           kToken = Type::of(TypeKind::Token);
}

const Op *baseOf(const Value *ptr) {
    while (ptr && ptr->def && ptr->def->kind == OpKind::At) ptr = ptr->def->operands[0];
    return ptr && ptr->def && ptr->def->kind == OpKind::Base ? ptr->def : nullptr;
}

bool isOwn(const Op &base) {
    const Op *rank = base.operands[1]->def;
    return rank && rank->kind == OpKind::ExprOp && rank->expr("value").isSym("rank");
}

void KernVerifier::operands(const Op &op) {
    auto want = [&](size_t i, bool good, std::string_view what) {
        if (!good) wrong(op, fmt::format("operand {} is a {}, not {}", i, op.operands[i]->type.str(), what));
    };
    auto integers = [&](size_t from) {
        for (size_t i = from; i < op.operands.size(); ++i) want(i, op.operands[i]->type == kI64, "an i64");
    };
    auto first = [&](TypeKind k, std::string_view what) { // addresses apart, a declaration
        want(0, op.operands[0]->type.kind == k && (k == TypeKind::Ptr || op.operands[0]->def), what);
    };
    auto gives = [&](const Type &t) {
        if (op.result()->type != t)
            wrong(op, fmt::format("gives a {}, not a {}", t.str(), op.result()->type.str()));
    };
    switch (op.kind) {
    case OpKind::Span: return integers(0);
    case OpKind::Loop:
        if (op.body().args.empty() || op.body().args[0]->type != kI64)
            wrong(op, "block argument 0 should be its index, an i64");
        for (size_t i = 3; i < op.operands.size(); ++i) want(i, op.operands[i]->type.isTile(), "a tile");
        return;
    case OpKind::Base: return base(op);
    case OpKind::Stride: {
        first(TypeKind::Tensor, "a tensor");
        const Op *t = op.operands[0]->def;
        if (t && t->kind == OpKind::Tensor &&
            (op.integer("dim") < 0 || op.integer("dim") >= static_cast<int64_t>(t->dims().size())))
            wrong(op, fmt::format("`{}` has no dimension {}", t->name(), op.integer("dim")));
        return gives(kI64);
    }
    case OpKind::At:
        first(TypeKind::Ptr, "an address");
        integers(1);
        return gives(op.operands[0]->type);
    case OpKind::Read:
    case OpKind::Write: return access(op);
    case OpKind::Acquire:
        first(TypeKind::Flag, "a flag");
        integers(1);
        return gives(kToken);
    case OpKind::AcquireJoin:
    case OpKind::ArriveJoin:
        first(TypeKind::Join, "a join");
        integers(1);
        return gives(op.kind == OpKind::ArriveJoin ? kBool : kToken);
    case OpKind::Release: first(TypeKind::Flag, "a flag"); return integers(1);
    default: return;
    }
}

void KernVerifier::base(const Op &op) {
    const Value *memory = op.operands[0];
    if (!memory->def || (memory->type.kind != TypeKind::Tensor && memory->type.kind != TypeKind::Buffer))
        return wrong(op, fmt::format("operand 0 is a {}, not a tensor or buffer", memory->type.str()));
    if (op.operands[1]->type != kI64)
        return wrong(op, fmt::format("operand 1 is a {}, not an i64", op.operands[1]->type.str()));
    if (op.result()->type != Type::of(TypeKind::Ptr, memory->type.elem))
        return wrong(op, fmt::format("gives a {}", Type::of(TypeKind::Ptr, memory->type.elem).str()));
    bool shared = memory->def->kind == OpKind::Buffer && memory->def->name("scope") == "protocol";
    if (!shared && !isOwn(op)) fail(op, Diag::KernelForeign, memory->def->name());
}

// [value,] address, a stride per axis, two bounds per clipped axis, [guard], [value outside], tokens
void KernVerifier::access(const Op &op) {
    bool write = op.kind == OpKind::Write;
    const Type &tile = write ? op.operands[0]->type : op.result()->type;
    size_t next = write ? 1 : 0;
    auto take = [&](size_t n, auto &&good, std::string_view what) {
        for (size_t i = 0; i < n; ++i, ++next) {
            if (next >= op.operands.size()) {
                wrong(op, fmt::format("operand {} is missing: {}", next, what));
                return false;
            }
            if (!good(op.operands[next]->type)) {
                wrong(op, fmt::format("operand {} is a {}, but there stands {}", next,
                                      op.operands[next]->type.str(), what));
                return false;
            }
        }
        return true;
    };
    auto integer = [](const Type &t) { return t == kI64; };
    if (!tile.isTile()) return wrong(op, "moves tiles");
    if (!take(
            1, [&](const Type &t) { return t == Type::of(TypeKind::Ptr, tile.elem); },
            fmt::format("an address of {}", elemName(tile.elem))))
        return;
    if (!baseOf(op.operands[next - 1])) return wrong(op, "the address goes back to no `base`");
    if (!take(tile.axes.size(), integer, "a stride per axis, an i64")) return;
    if (op.has("clip")) {
        for (const std::string &a : op.names("clip"))
            if (!tile.hasAxis(a)) wrong(op, fmt::format("clips axis `{}`, which {} has not", a, tile.str()));
        if (!take(2 * op.names("clip").size(), integer, "low and high of a clipped axis, an i64 each"))
            return;
    }
    if (op.has("guard") && !take(1, [](const Type &t) { return t == kBool; }, "the guard, a bool")) return;
    if (!write && (op.has("clip") || op.has("guard")) && !op.has("or"))
        return wrong(op, "needs a value (`or`) for what it does not read");
    if (!write && op.has("or") &&
        !take(
            1,
            [&](const Type &t) {
                bool within = t.isTile() && t.elem == tile.elem;
                for (const std::string &a : t.axes) within &= tile.hasAxis(a);
                return within;
            },
            "the value outside"))
        return;
    take(op.operands.size() - next, [](const Type &t) { return t == kToken; }, "a token");
}

} // namespace tdl::kernel
