// Products. With rows and columns: the block computes a piece of the result at a time, sums in registers, operands through
// shared memory in slabs, converted to the type of the sum; otherwise the loops of a reduction.
//
//     %acc + dot(%a: bf16[i, k], %b: bf16[j, k] over k)
//     for i by 128: for j by 128: { for k by 16: { stage a[k][i], b[k][j]; barrier; 8 x 8 sums += a[k][..] * b[k][..]; barrier }
//                                   acc[i, j] += sums }
//
// Rows and columns beyond the lengths are computed from whatever the slab holds and not stored.
#include "codegen/nvptx/fold.h"
#include <algorithm>

namespace tdl::codegen::nvptx {
using namespace llvm;
using ir::OpKind;

namespace {

/// acc + x * y with roundings of the compiler's choice.
Value *multiplyAdd(IRBuilderBase &b, Value *acc, Value *x, Value *y) {
    if (!acc->getType()->isFPOrFPVectorTy()) return b.CreateAdd(acc, b.CreateMul(x, y));
    return b.CreateIntrinsic(Intrinsic::fmuladd, {acc->getType()}, {x, y, acc});
}

} // namespace

void ProgramEmitter::dot(const ir::Op &op, int slot) {
    bool tiles = placement->products.contains(&op);
    if (slot >= 0 && tiles) fill(slot, elements.constant(op.result()->type.elem, int64_t{0}));
    multiply(op, slot, tiles);
}

void ProgramEmitter::multiply(const ir::Op &op, int slot, bool add) {
    if (auto p = placement->products.find(&op); p != placement->products.end()) return product(op, p->second, slot);
    const ir::Value *x = op.operands[0], *y = op.operands[1];
    Elem from = x->type.elem, to = op.result()->type.elem;
    const ir::Value *wide = x->type.axes.size() >= y->type.axes.size() ? x : y;
    auto inner = storage().inner.find(wide);
    Fold f;
    f.result = op.result();
    f.over = op.names("over");
    f.inner = inner == storage().inner.end() ? "" : inner->second;
    f.slot = slot;
    f.add = add;
    f.start = {elements.constant(to, int64_t{0})};
    f.take = [&](Nest &nest, const State &s) {
        Value *p = nest.eval(x), *q = nest.eval(y);
        nest.enterInnermost();
        return State{multiplyAdd(b, s[0], elements.convert(p, from, to), elements.convert(q, from, to))};
    };
    f.join = [&](const State &s, const State &t) { return State{elements.apply(OpKind::Add, to, s[0], t[0])}; };
    f.finish = [](const State &s) { return s[0]; };
    fold(f);
}

// One operand's slab [depth][pitch] for rows from .. and k from ..: element (r, k) goes to k * pitch + r.
void ProgramEmitter::stage(const ir::Value *x, const std::string &row, const std::string &over, Value *base, int pitch, const Part &rows,
                           const Part &ks, Elem to, Nest &around) {
    bool overFast = storage().inner.at(x) == over;
    std::vector<std::string> order = overFast ? std::vector<std::string>{row, over} : std::vector<std::string>{over, row};
    int64_t span = pitch - 4;
    Nest nest(*this, sharedOut(order, wholeBlock(), {{row, rows}, {over, ks}}, {{over, 16}, {row, span}}), &around);
    Value *v = nest.eval(x);
    nest.enterInnermost();
    Value *k = b.CreateSub(nest.index(over), ks.from), *r = b.CreateSub(nest.index(row), rows.from);
    Value *at = b.CreateGEP(memoryType(context, to), base, b.CreateAdd(b.CreateMul(k, i64(pitch)), r));
    store(elements.convert(v, x->type.elem, to), at, to);
    nest.close();
}

void ProgramEmitter::product(const ir::Op &op, const BlockProduct &p, int slot) {
    Region region(*this);
    const SlotMemory &c = slots[static_cast<size_t>(slot)];
    Elem e = c.elem;
    Type *t = memoryType(context, e);
    auto bytes = static_cast<int64_t>(elemBytes(e));
    Value *slabA = sharedAt(kScratchBytes), *slabB = sharedAt(kScratchBytes + p.depth * p.pitchA() * bytes);
    Value *ty = b.CreateLShr(thread, i64(4)), *tx = b.CreateAnd(thread, i64(15));
    // rows of a thread: groups of up to four neighbours, so that slabs are read in vectors
    auto group = [](int n) { return std::min(n, 4); };
    auto placeOf = [&](Value *me, int n, int i) { // of the i-th of n
        int g = group(n);
        return b.CreateAdd(b.CreateMul(me, i64(g)), i64(i / g * g * BlockProduct::kGrid + i % g));
    };

    Nest outer(*this, inOrder(p.loops));
    Value *corner = outer.slotAddress(c);
    outer.enterInnermost();
    auto strideOf = [&](const std::string &a) { return c.strides[static_cast<size_t>(std::find(c.axes.begin(), c.axes.end(), a) - c.axes.begin())]; };
    Value *rowStride = strideOf(p.row), *columnStride = strideOf(p.column);
    Value *rows = axis(p.row).length, *columns = axis(p.column).length, *steps = axis(p.over).length;
    outer.here([&] {
        counted(i64(0), rows, i64(p.tileRows()), [&](Value *i0) {
            counted(i64(0), columns, i64(p.tileColumns()), [&](Value *j0) {
                auto upTo = [&](Value *from, int64_t n, Value *length) {
                    return Part{from, b.CreateBinaryIntrinsic(Intrinsic::smin, b.CreateAdd(from, i64(n)), length)};
                };
                Part rowPart = upTo(i0, p.tileRows(), rows), columnPart = upTo(j0, p.tileColumns(), columns);
                auto count = static_cast<size_t>(p.rows), width = static_cast<size_t>(p.columns);
                std::vector<AllocaInst *> sums;
                for (size_t n = 0; n < count * width; ++n) {
                    sums.push_back(local(t, "sum"));
                    b.CreateStore(Constant::getNullValue(t), sums.back());
                }
                counted(i64(0), steps, i64(p.depth), [&](Value *k0) {
                    Part ks = upTo(k0, p.depth, steps);
                    ptx(Ptx::BarSync); // the last slab has been read
                    stage(p.a, p.row, p.over, slabA, p.pitchA(), rowPart, ks, e, outer);
                    stage(p.b, p.column, p.over, slabB, p.pitchB(), columnPart, ks, e, outer);
                    ptx(Ptx::BarSync);
                    counted(i64(0), b.CreateSub(ks.to, k0), i64(1), [&](Value *k) {
                        auto fetch = [&](Value *slab, int pitch, Value *me, int n) {
                            std::vector<Value *> v;
                            int g = group(n);
                            auto *vector = FixedVectorType::get(t, static_cast<unsigned>(g));
                            for (int first = 0; first < n; first += g) {
                                Value *at = b.CreateGEP(t, slab, b.CreateAdd(b.CreateMul(k, i64(pitch)), placeOf(me, n, first)));
                                Value *x = b.CreateAlignedLoad(vector, at, Align(static_cast<uint64_t>(std::min<int64_t>(g * bytes, 16))));
                                for (int q = 0; q < g; ++q) v.push_back(b.CreateExtractElement(x, static_cast<uint64_t>(q)));
                            }
                            return v;
                        };
                        auto x = fetch(slabA, p.pitchA(), ty, p.rows), y = fetch(slabB, p.pitchB(), tx, p.columns);
                        for (size_t r = 0; r < count; ++r)
                            for (size_t q = 0; q < width; ++q) {
                                AllocaInst *s = sums[r * width + q];
                                b.CreateStore(multiplyAdd(b, b.CreateLoad(t, s), x[r], y[q]), s);
                            }
                    });
                });
                for (int r = 0; r < p.rows; ++r)
                    for (int q = 0; q < p.columns; ++q) {
                        Value *i = b.CreateAdd(i0, placeOf(ty, p.rows, r)), *j = b.CreateAdd(j0, placeOf(tx, p.columns, q));
                        Value *inside = b.CreateAnd(b.CreateICmpSLT(i, rows), b.CreateICmpSLT(j, columns));
                        when(inside, [&] {
                            Value *at = b.CreateGEP(t, corner, b.CreateAdd(b.CreateMul(i, rowStride), b.CreateMul(j, columnStride)));
                            Value *sum = b.CreateLoad(t, sums[static_cast<size_t>(r * p.columns + q)]);
                            store(elements.apply(OpKind::Add, e, load(at, e), sum), at, e);
                        });
                    }
            });
        });
    });
    outer.close();
    hazards.reads(c.resource);
    hazards.writes(c.resource);
}

} // namespace tdl::codegen::nvptx
