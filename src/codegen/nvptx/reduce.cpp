// Reductions. Who computes an element of the result depends on where its operands lie and how many results there are:
//
//     sum(x: f32[i, k] over i), k contiguous     a thread per element of the result, in turn over i
//     sum(x: f32[i, k] over k), k contiguous     a warp per element: lanes take neighbours, then a tree of shuffles
//     sum(x: f32[k] over k)                      the block: as above, then the warps' parts in order
//
// The order is fixed by the lengths, so that results do not differ from run to run.
#include "codegen/nvptx/fold.h"
#include <algorithm>

namespace tdl::codegen::nvptx {
using namespace llvm;
using ir::OpKind;

namespace {

bool contains(const std::vector<std::string> &list, const std::string &a) {
    return std::find(list.begin(), list.end(), a) != list.end();
}
std::vector<std::string> withLast(std::vector<std::string> names, const std::string &last) {
    std::stable_partition(names.begin(), names.end(), [&](const std::string &a) { return a != last; });
    return names;
}

} // namespace

Value *ProgramEmitter::shuffle(Value *v, int distance) {
    Type *type = v->getType();
    auto exchange = [&](Value *x) { return ptx(Ptx::ShuffleXor, {x, b.getInt32(static_cast<uint32_t>(distance))}); };
    unsigned bits = type->getPrimitiveSizeInBits();
    Value *u = type->isIntegerTy() ? v : b.CreateBitCast(v, b.getIntNTy(bits));
    Value *r;
    if (bits == 64) {
        Value *low = exchange(b.CreateTrunc(u, b.getInt32Ty())), *high = exchange(b.CreateTrunc(b.CreateLShr(u, 32), b.getInt32Ty()));
        r = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
    } else {
        r = b.CreateTrunc(exchange(b.CreateZExt(u, b.getInt32Ty())), b.getIntNTy(bits));
    }
    return type->isIntegerTy() ? r : b.CreateBitCast(r, type);
}

State ProgramEmitter::acrossWarp(const Fold &f, State state) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        State other;
        for (Value *v : state) other.push_back(shuffle(v, distance));
        state = f.join(state, other); // the same in both lanes
    }
    return state;
}

State ProgramEmitter::acrossBlock(const Fold &f, State state) {
    state = acrossWarp(f, state);
    auto place = [&](Value *w, size_t i) {
        Value *byte = b.CreateAdd(b.CreateMul(w, i64(16)), i64(kBroadcastBytes + 8 * static_cast<int>(i)));
        return offset(sharedMemory, byte);
    };
    auto inMemory = [&](Value *v) { return v->getType()->isIntegerTy(1) ? b.CreateZExt(v, b.getInt8Ty()) : v; };
    ptx(Ptx::BarSync); // the last result has been read
    when(b.CreateICmpEQ(lane, i64(0)), [&] {
        for (size_t i = 0; i < state.size(); ++i) b.CreateAlignedStore(inMemory(state[i]), place(warp, i), Align(8));
    });
    ptx(Ptx::BarSync);
    State all;
    for (int w = 0; w < kThreads / kWarp; ++w) {
        State part;
        for (size_t i = 0; i < state.size(); ++i) {
            Value *sample = inMemory(state[i]);
            Value *v = b.CreateAlignedLoad(sample->getType(), place(i64(w), i), Align(8));
            part.push_back(sample == state[i] ? v : b.CreateICmpNE(v, ConstantInt::get(v->getType(), 0)));
        }
        all = w == 0 ? part : f.join(all, part);
    }
    return all;
}

void ProgramEmitter::fold(const Fold &f) {
    Region region(*this);
    std::vector<std::string> kept = f.slot < 0 ? std::vector<std::string>{} : slots[static_cast<size_t>(f.slot)].axes;
    std::vector<std::string> over = withLast(f.over, f.inner);
    auto most = [&](const std::vector<std::string> &names) { // elements at most; -1: unknown
        int64_t n = 1;
        for (const std::string &a : names) {
            if (axis(a).cap < 0) return int64_t{-1};
            n *= std::min<int64_t>(axis(a).cap, 1 << 20);
            n = std::min<int64_t>(n, 1 << 20);
        }
        return n;
    };
    int64_t results = most(kept), terms = most(over);
    bool along = contains(f.over, f.inner) && (axis(f.inner).cap < 0 || axis(f.inner).cap >= kWarp / 2);
    bool few = results >= 0 && results <= 64 && (terms < 0 || terms >= kWarp / 2);
    enum { Thread, Warp, Block } who = Thread;
    if (kept.empty()) who = terms >= 0 && terms <= kThreads ? Warp : Block; // of one element all warps compute the same
    else if (along || few) who = results >= 0 && results <= 2 && (terms < 0 || terms > kThreads) ? Block : Warp;

    std::vector<NestLoop> loops;
    if (!kept.empty())
        loops = who == Thread ? sharedOut(kept, wholeBlock()) : who == Warp ? sharedOut(kept, {kThreads / kWarp, warp}) : inOrder(kept);
    for (NestLoop &l : who == Thread ? inOrder(over) : who == Warp ? sharedOut(over, {kWarp, lane}) : sharedOut(over, wholeBlock()))
        loops.push_back(l);

    std::vector<AllocaInst *> states;
    for (Value *v : f.start) states.push_back(local(v->getType(), "acc"));
    auto get = [&] {
        State s;
        for (AllocaInst *a : states) s.push_back(b.CreateLoad(a->getAllocatedType(), a));
        return s;
    };
    auto put = [&](const State &s) {
        for (size_t i = 0; i < s.size(); ++i) b.CreateStore(s[i], states[i]);
    };
    Nest nest(*this, std::move(loops));
    Value *at = f.slot < 0 ? nullptr : nest.slotAddress(slots[static_cast<size_t>(f.slot)]);
    nest.enter(kept.size());
    put(f.start);
    nest.enterInnermost();
    State next = f.take(nest, get());
    put(next);
    nest.leaveTo(kept.size());
    nest.here([&] {
        State s = get();
        if (who != Thread) s = who == Warp ? acrossWarp(f, s) : acrossBlock(f, s);
        Value *r = f.finish(s);
        if (f.slot < 0) {
            scalars[f.result] = r;
            return;
        }
        const SlotMemory &m = slots[static_cast<size_t>(f.slot)];
        auto keep = [&] {
            Value *v = f.add ? elements.apply(OpKind::Add, m.elem, load(at, m.elem), r) : r;
            store(v, at, m.elem);
        };
        if (who == Thread) keep();
        else when(b.CreateICmpEQ(who == Warp ? lane : thread, i64(0)), keep);
        if (f.add) hazards.reads(m.resource);
        hazards.writes(m.resource);
    });
    nest.close();
}

static State extremeOf(ElementBuilder &elements, IRBuilderBase &b, bool isMax, Elem e, const State &x, const State &y);

void ProgramEmitter::reduce(const ir::Op &op, int slot) {
    const ir::Value *x = op.operands[0];
    const std::string &kind = op.name("kind");
    Elem from = x->type.elem, to = op.result()->type.elem;
    Fold f;
    f.result = op.result();
    f.over = op.names("over");
    f.inner = storage().inner.at(x);
    f.slot = slot;
    bool isMax = kind == "max", isMin = kind == "min";
    if (kind == "argmax" || kind == "argmin") {
        if (f.over.size() != 1) return fail(op, "the index of an extreme over several axes is not defined");
        f.start = {Constant::getNullValue(registerType(context, from)), i64(-1)};
        f.join = [&, from](const State &s, const State &t) { return extremeOf(elements, b, kind == "argmax", from, s, t); };
        f.take = [&](Nest &nest, const State &s) {
            Value *v = nest.eval(x);
            nest.enterInnermost();
            return f.join(s, {v, b.CreateAdd(axis(f.over[0]).low, nest.index(f.over[0]))});
        };
        f.finish = [](const State &s) { return s[1]; };
        return fold(f);
    }
    Value *count = i64(1);
    for (const std::string &a : f.over) count = b.CreateMul(count, axis(a).length);
    f.start = {elements.identity(isMax, isMin, to)};
    f.join = [&](const State &s, const State &t) {
        return State{elements.apply(isMax ? OpKind::Max : isMin ? OpKind::Min : OpKind::Add, to, s[0], t[0])};
    };
    f.take = [&](Nest &nest, const State &s) {
        Value *v = nest.eval(x);
        nest.enterInnermost();
        return f.join(s, {elements.convert(v, from, to)});
    };
    f.finish = [&](const State &s) {
        return kind == "mean" ? elements.apply(OpKind::Div, to, s[0], elements.convert(count, Elem::I64, to)) : s[0];
    };
    fold(f);
}

// Of two candidates, the more extreme one, the lower index on ties; NaN counts as more extreme than any number. Index -1:
// no candidate.
static State extremeOf(ElementBuilder &elements, IRBuilderBase &b, bool isMax, Elem e, const State &x, const State &y) {
    Value *better = elements.apply(isMax ? OpKind::Gt : OpKind::Lt, e, y[0], x[0]);
    Value *equal = elements.apply(OpKind::Eq, e, y[0], x[0]);
    if (isFloat(e)) {
        Value *xNaN = elements.apply(OpKind::Ne, e, x[0], x[0]), *yNaN = elements.apply(OpKind::Ne, e, y[0], y[0]);
        better = b.CreateOr(better, b.CreateAnd(yNaN, b.CreateNot(xNaN)));
        equal = b.CreateOr(equal, b.CreateAnd(xNaN, yNaN));
    }
    Value *zero = b.getInt64(0);
    better = b.CreateOr(better, b.CreateAnd(equal, b.CreateICmpSLT(y[1], x[1])));
    better = b.CreateOr(better, b.CreateICmpSLT(x[1], zero));
    better = b.CreateAnd(better, b.CreateICmpSGE(y[1], zero));
    return {b.CreateSelect(better, y[0], x[0]), b.CreateSelect(better, y[1], x[1])};
}

} // namespace tdl::codegen::nvptx
