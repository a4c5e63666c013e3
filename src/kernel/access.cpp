// Loads and stores: the address of the first element, a stride per axis, and which part of the indices is touched.
//
//     store %v, %C[%i, %j](own)   C: [M @ ranks, N]    -->   at %C_base, (i.begin - rank * B) * stride 0 + j.begin
//                                                            write %v, %ptr, %stride0, 1, %mine_lo, %mine_hi(clip = [i])
#include "ir/verify.h"
#include "kernel/bounds.h"
#include "kernel/lowering.h"
#include "plan/plan.h"

namespace tdl::kernel {
using namespace ir;
namespace {

/// The rank whose memory an access touches.
Expr rankOf(const KernelLowering &k, const Op &op) {
    return op.has("at") ? k.fold(op.expr("at")) : plan::thisRank();
}

/// Can be shown: no index of the range lies outside.
bool inside(const RangeOf &r, const Expr &lo, const Expr &hi) {
    if (!r.lo.isExpr() || !r.hi.isExpr() || !r.shift.isExpr()) return false;
    return neverExceeds(r.hi.expr + r.shift.expr, hi) && neverExceeds(lo, r.lo.expr + r.shift.expr);
}

} // namespace

// Bases and strides at the top of the program, for each memory and rank once, in the order of the accesses.
void TaskLowering::collectStorage(const Block &b) {
    for (auto &op : b.ops) {
        if (op->kind == OpKind::Load || op->kind == OpKind::Store) {
            const Value *memory = op->operands[op->kind == OpKind::Store ? 1 : 0];
            Expr rank = rankOf(kernel, *op);
            bool known = false;
            for (const Storage &s : storages) known |= s.memory == memory && s.rank == rank;
            if (!known) {
                const Memory &m = kernel.memories.at(memory);
                Storage s{memory, rank, nullptr, {}};
                s.base =
                    emit.build.make(OpKind::Base, {}, {m.decl, emit.value(rank)},
                                    Type::of(TypeKind::Ptr, m.decl->type.elem), {}, m.decl->hint + "_base");
                Expr dense = 1;
                for (size_t i = m.dims.size(); i-- > 0;) {
                    s.strides.insert(s.strides.begin(), dense);
                    dense = m.dims[i] * dense;
                }
                for (size_t i = 0; m.tensor && i + 1 < m.dims.size(); ++i)
                    s.strides[i] =
                        emit.build.make(OpKind::Stride, {}, {m.decl}, Type::scalar(Elem::I64),
                                        {{"dim", static_cast<int64_t>(i)}}, m.decl->hint + "_stride");
                storages.push_back(std::move(s));
            }
        }
        for (auto &inner : op->blocks) collectStorage(*inner);
    }
}

const TaskLowering::Storage &TaskLowering::storageOf(const Op &op, size_t memory) const {
    Expr rank = rankOf(kernel, op);
    for (const Storage &s : storages)
        if (s.memory == op.operands[memory] && s.rank == rank) return s;
    return storages.front(); // collectStorage made one for every access
}

std::optional<TaskLowering::Place> TaskLowering::place(const Op &op, size_t memory) {
    const Memory &m = kernel.memories.at(op.operands[memory]);
    const Storage &s = storageOf(op, memory);
    Place p;
    Num offset = 0;
    for (size_t d = 0; d < m.dims.size(); ++d) {
        const Value *v = op.operands[memory + 1 + d];
        Expr origin = plan::onRank(m.origin[d], s.rank);
        // Outside of this part of the dimension nothing is touched.
        bool clips = op.has("or") || (op.has("own") && m.dist[d]);
        if (v->type.isRange()) {
            const RangeOf &r = ranges.at(v);
            offset = emit.add(offset, emit.mul(emit.sub(r.begin(emit), origin), s.strides[d]));
            p.strides.emplace_back(v->type.axes[0], s.strides[d]);
            if (clips && !inside(r, m.lo[d], m.hi[d]))
                p.clip.push_back({v->type.axes[0], {emit.sub(m.lo[d], r.shift), emit.sub(m.hi[d], r.shift)}});
            continue;
        }
        if (!v->type.isScalar()) {
            kernel.diags.report(placeOf(op), Diag::KernelGather, op.info().text);
            return std::nullopt;
        }
        Num x = number(v);
        if (v->type.elem != Elem::I64)
            x = emit.build.make(OpKind::Cast, {}, {emit.value(x)}, Type::scalar(Elem::I64));
        offset = emit.add(offset, emit.mul(emit.sub(x, origin), s.strides[d]));
        if (clips) p.guard = emit.both(p.guard, emit.within(x, m.lo[d], m.hi[d]));
    }
    p.ptr = s.base;
    if (!offset.isConst(0))
        p.ptr = emit.build.make(OpKind::At, {}, {s.base, emit.value(offset)}, s.base->type);
    return p;
}

// Strides in the order of `axes` (0 along axes that index no dimension), then clip bounds and guard.
void TaskLowering::finish(Op &op, const Place &p, const std::vector<std::string> &axes) {
    for (const std::string &a : axes) {
        Num stride = 0;
        for (auto &[axis, n] : p.strides)
            if (axis == a) stride = n;
        op.operands.push_back(emit.value(stride));
    }
    std::vector<std::string> clip;
    for (auto &[axis, bounds] : p.clip) {
        clip.push_back(axis);
        op.operands.push_back(emit.value(bounds.first));
        op.operands.push_back(emit.value(bounds.second));
    }
    if (!clip.empty()) op.set("clip", std::move(clip));
    if (p.guard) {
        op.operands.push_back(p.guard);
        op.set("guard", Flag{});
    }
}

// A wait guards what the tasks that are complete behind it have touched; `done` words guard stores to other ranks.
void TaskLowering::addTokens(Op &op, const Op &access, const Value *memory, bool writes) {
    for (const Token &t : tokens) {
        const Value *signal = t.wait->operands[0];
        bool guards = false;
        if (t.wait->kind == OpKind::Wait && signal->def->name("kind") == "done") {
            guards = access.has("at");
        } else if (auto it = kernel.completed.find(signal); it != kernel.completed.end()) {
            for (size_t i : it->second)
                guards |= kernel.writes[i].contains(memory) || (writes && kernel.reads[i].contains(memory));
        }
        if (guards) op.operands.push_back(t.value);
    }
}

void TaskLowering::load(const Op &op) {
    auto p = place(op, 0);
    if (!p) return;
    auto read = std::make_unique<Op>(OpKind::Read, locOf(op));
    read->operands.push_back(p->ptr);
    finish(*read, *p, op.result()->type.axes);
    if (!p->clip.empty() || p->guard) {
        read->operands.push_back(use(op.operands.back()));
        read->set("or", Flag{});
    }
    addTokens(*read, op, op.operands[0], false);
    Value *result = read->addResult(op.result()->type, op.result()->hint);
    emit.build.block().append(std::move(read));
    values.emplace(op.result(), result);
}

void TaskLowering::store(const Op &op) {
    auto p = place(op, 1);
    if (!p) return;
    // A store may add axes: the value repeats along them.
    Value *v = use(op.operands[0]);
    Type type = v->type;
    std::vector<Value *> repeat{v};
    for (size_t i = 2; i < op.operands.size(); ++i) {
        const Value *r = op.operands[i];
        if (!r->type.isRange() || type.hasAxis(r->type.axes[0])) continue;
        type.axes.push_back(r->type.axes[0]);
        repeat.push_back(ranges.at(r).span);
    }
    if (repeat.size() > 1) v = emit.build.make(OpKind::Broadcast, locOf(op), repeat, type);
    auto write = std::make_unique<Op>(OpKind::Write, locOf(op));
    write->operands = {v, p->ptr};
    finish(*write, *p, type.axes);
    addTokens(*write, op, op.operands[1], true);
    emit.build.block().append(std::move(write));
}

} // namespace tdl::kernel
