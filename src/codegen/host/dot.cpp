// Products. With rows and columns: copies of the operands in the type of the sum, then register tiles over
// them; otherwise (a product with a vector) the loops of a reduction.
//
//     %acc + dot(%a: bf16[i, k], %b: bf16[j, k] over k)      a' = f32[i, k]; b' = transpose f32[j, k]
//                                                            for 32 j: for 8 i: { 16 sums in registers over
//                                                            k; acc += sums }
#include "codegen/host/nest.h"
#include <algorithm>

namespace tdl::codegen {
using namespace llvm;
using ir::OpKind;

namespace {

/// acc + x * y in an order and with roundings of the compiler's choice.
Value *multiplyAdd(IRBuilderBase &b, Value *acc, Value *x, Value *y) {
    if (!acc->getType()->isFPOrFPVectorTy()) return b.CreateAdd(acc, b.CreateMul(x, y));
    return b.CreateIntrinsic(Intrinsic::fmuladd, {acc->getType()}, {x, y, acc});
}

} // namespace

void ProgramEmitter::dot(const ir::Op &op, int slot) {
    bool tiles = storage.products.contains(&op);
    if (slot >= 0 && tiles) fill(slot, elements.constant(op.result()->type.elem, int64_t{0}));
    multiply(op, slot, tiles);
}

void ProgramEmitter::multiply(const ir::Op &op, int slot, bool add) {
    if (auto p = storage.products.find(&op); p != storage.products.end()) return product(p->second, slot);
    const ir::Value *x = op.operands[0], *y = op.operands[1];
    Elem from = x->type.elem, to = op.result()->type.elem;
    auto inner = storage.inner.find(x->type.axes.size() >= y->type.axes.size() ? x : y);
    ReduceLoops loops{op.names("over"),
                      inner == storage.inner.end() ? "" : inner->second,
                      op.result(),
                      slot,
                      to,
                      elements.constant(to, int64_t{0}),
                      add};
    loops.take = [&](Nest &nest, Value *acc) {
        Value *p = nest.eval(x), *q = nest.eval(y);
        nest.enterInnermost();
        p = elements.convert(p, from, to), q = elements.convert(q, from, to);
        if (!isFloat(to)) return multiplyAdd(b, acc, p, q);
        FastMathFlags free;
        free.setAllowReassoc();
        free.setAllowContract();
        IRBuilderBase::FastMathFlagGuard guard(b);
        b.setFastMathFlags(free);
        return b.CreateFAdd(acc, b.CreateFMul(p, q));
    };
    reduceNest(loops);
}

void ProgramEmitter::product(const Product &p, int slot) {
    Nest outer(*this, p.loops);
    BasicBlock *next = outer.open();
    Value *all = axis(p.over).length;
    auto sum = [&](const Part &part) {
        Value *steps = b.CreateSub(part.to, part.from);
        copyOperand(p.b, p.turned >= 0 ? p.turned : p.bSlot, p, part, outer);
        if (p.turned >= 0) transpose(p.turned, p.bSlot, axis(p.column).length, steps);
        Nest rows(*this, p.rowLoops, {}, &outer);
        const SlotMemory &c = slots[static_cast<size_t>(slot)];
        Value *base =
            rows.address(c.base, memoryType(context, c.elem), c.axes, c.strides); // before the nest is opened
        BasicBlock *nextRows = rows.open();
        copyOperand(p.a, p.aSlot, p, part, rows);
        registerTiles(p, slot, base, steps);
        b.CreateBr(nextRows);
        rows.close();
    };
    if (p.block == 0)
        sum({i64(0), all});
    else
        countedLoop(all, p.block, [&](Value *from) {
            sum({from, b.CreateBinaryIntrinsic(Intrinsic::smin, all, b.CreateAdd(from, i64(p.block)))});
        });
    b.CreateBr(next);
    outer.close();
}

// Part of an operand into its slot, where that part begins at 0.
void ProgramEmitter::copyOperand(const ir::Value *x, int slot, const Product &p, const Part &part,
                                 Nest &around) {
    const SlotMemory &m = slots[static_cast<size_t>(slot)];
    Type *t = memoryType(context, m.elem);
    Value *stride = m.axes[0] == p.over ? m.strides[0] : m.strides[1];
    Value *base = p.block == 0 ? m.base : b.CreateGEP(t, m.base, b.CreateNeg(b.CreateMul(part.from, stride)));
    Nest nest(*this, m.axes, {{p.over, part}}, &around);
    Value *at = nest.address(base, t, m.axes, m.strides);
    Value *v = nest.eval(x);
    nest.enterInnermost();
    store(elements.convert(v, x->type.elem, m.elem), at, m.elem, m.scope);
    nest.close();
}

void ProgramEmitter::countedLoop(Value *end, int64_t step, const std::function<void(Value *)> &body) {
    BasicBlock *before = b.GetInsertBlock(), *head = newBlock("tiles"), *inside = newBlock("tile"),
               *after = newBlock("tiled");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    PHINode *i = b.CreatePHI(b.getInt64Ty(), 2);
    i->addIncoming(i64(0), before);
    b.CreateCondBr(b.CreateICmpSLT(i, end), inside, after);
    b.SetInsertPoint(inside);
    body(i);
    i->addIncoming(b.CreateNSWAdd(i, i64(step)), b.GetInsertBlock());
    b.CreateBr(head);
    b.SetInsertPoint(after);
}

// Square blocks of vectors, exchanging halves, quarters, .. of pairs of rows. Blocks at the ends take along
// what lies beyond the lengths: slots are rounded up to whole blocks, and nobody looks there.
void ProgramEmitter::transpose(int from, int to, Value *rows, Value *columns) {
    const SlotMemory &x = slots[static_cast<size_t>(from)], &y = slots[static_cast<size_t>(to)];
    Type *t = memoryType(context, x.elem);
    int lanes = registerTile(plan.target, x.elem).lanes;
    auto *vector = FixedVectorType::get(t, static_cast<unsigned>(lanes));
    Align align(static_cast<uint64_t>(lanes * elemBytes(x.elem)));
    countedLoop(rows, lanes, [&](Value *i) {
        countedLoop(columns, lanes, [&](Value *k) {
            std::vector<Value *> row;
            for (int r = 0; r < lanes; ++r) {
                Value *at = b.CreateAdd(b.CreateMul(b.CreateAdd(i, i64(r)), x.strides[0]), k);
                auto *v = b.CreateAlignedLoad(vector, b.CreateGEP(t, x.base, at), align);
                tag(v, x.scope);
                row.push_back(v);
            }
            for (int s = lanes / 2; s > 0; s /= 2)
                for (int r = 0; r < lanes; ++r) {
                    if (r & s) continue;
                    std::vector<int> low, high;
                    for (int p = 0; p < lanes; ++p) {
                        low.push_back(p & s ? lanes + p - s : p);
                        high.push_back(p & s ? lanes + p : p + s);
                    }
                    Value *u = row[static_cast<size_t>(r)], *v = row[static_cast<size_t>(r + s)];
                    row[static_cast<size_t>(r)] = b.CreateShuffleVector(u, v, low);
                    row[static_cast<size_t>(r + s)] = b.CreateShuffleVector(u, v, high);
                }
            for (int r = 0; r < lanes; ++r) {
                Value *at = b.CreateAdd(b.CreateMul(b.CreateAdd(k, i64(r)), y.strides[0]), i);
                tag(b.CreateAlignedStore(row[static_cast<size_t>(r)], b.CreateGEP(t, y.base, at), align),
                    y.scope);
            }
        });
    });
}

// base[i, j] += a[i, k] * b[k, j] for tiles of i and j that fit the registers. As above, tiles at the ends
// compute more than there is: the result's slot has room for it.
void ProgramEmitter::registerTiles(const Product &p, int slot, Value *base, Value *steps) {
    const SlotMemory &c = slots[static_cast<size_t>(slot)], &x = slots[static_cast<size_t>(p.aSlot)],
                     &y = slots[static_cast<size_t>(p.bSlot)];
    RegisterTile tile = registerTile(plan.target, c.elem);
    Type *t = memoryType(context, c.elem);
    auto *vector = FixedVectorType::get(t, static_cast<unsigned>(tile.lanes));
    Align align(static_cast<uint64_t>(tile.lanes * elemBytes(c.elem)));
    size_t rowAt = static_cast<size_t>(std::find(c.axes.begin(), c.axes.end(), p.row) - c.axes.begin());
    Value *rowStride = c.strides[rowAt];
    bool rowFast = x.axes[1] == p.row;
    Value *rows =
        b.CreateSelect(b.CreateICmpSGT(steps, i64(0)), axis(p.row).length, i64(0)); // nothing to add
    auto count = static_cast<size_t>(tile.rows), width = static_cast<size_t>(tile.vectors);

    countedLoop(axis(p.column).length, tile.columns(), [&](Value *j) {
        countedLoop(rows, tile.rows, [&](Value *i) {
            BasicBlock *before = b.GetInsertBlock(), *body = newBlock("multiply"), *after = newBlock("sums");
            Value *firstA = b.CreateGEP(t, x.base, rowFast ? i : b.CreateMul(i, x.strides[0])),
                  *firstB = b.CreateGEP(t, y.base, j);
            Value *corner = b.CreateGEP(t, base, b.CreateAdd(b.CreateMul(i, rowStride), j));
            b.CreateBr(body);
            b.SetInsertPoint(body);
            auto phi = [&](Type *type, Value *start) {
                PHINode *n = b.CreatePHI(type, 2);
                n->addIncoming(start, before);
                return n;
            };
            PHINode *k = phi(b.getInt64Ty(), i64(0)), *a = phi(b.getPtrTy(), firstA),
                    *bb = phi(b.getPtrTy(), firstB);
            std::vector<PHINode *> sums;
            for (size_t n = 0; n < count * width; ++n)
                sums.push_back(phi(vector, Constant::getNullValue(vector)));
            std::vector<Value *> columns;
            for (size_t v = 0; v < width; ++v) {
                auto *load = b.CreateAlignedLoad(
                    vector, b.CreateConstGEP1_64(t, bb, v * static_cast<size_t>(tile.lanes)), align);
                tag(load, y.scope);
                columns.push_back(load);
            }
            for (size_t r = 0; r < count; ++r) {
                Value *at = rowFast
                                ? b.CreateConstGEP1_64(t, a, r)
                                : b.CreateGEP(t, a, b.CreateMul(i64(static_cast<int64_t>(r)), x.strides[0]));
                Value *element =
                    b.CreateVectorSplat(static_cast<unsigned>(tile.lanes), load(at, x.elem, x.scope));
                for (size_t v = 0; v < width; ++v) {
                    PHINode *s = sums[r * width + v];
                    s->addIncoming(multiplyAdd(b, s, element, columns[v]), body);
                }
            }
            Value *next = b.CreateNSWAdd(k, i64(1));
            k->addIncoming(next, body);
            a->addIncoming(b.CreateGEP(t, a, rowFast ? x.strides[0] : i64(1)), body);
            bb->addIncoming(b.CreateGEP(t, bb, y.strides[0]), body);
            b.CreateCondBr(b.CreateICmpSLT(next, steps), body, after);
            b.SetInsertPoint(after);
            for (size_t r = 0; r < count; ++r)
                for (size_t v = 0; v < width; ++v) {
                    Value *line =
                        b.CreateGEP(t, corner, b.CreateMul(i64(static_cast<int64_t>(r)), rowStride));
                    Value *at = b.CreateConstGEP1_64(t, line, v * static_cast<size_t>(tile.lanes));
                    auto *old = b.CreateAlignedLoad(vector, at, align);
                    tag(old, c.scope);
                    Value *sum = sums[r * width + v]->getIncomingValueForBlock(body);
                    Value *total = isFloat(c.elem) ? b.CreateFAdd(old, sum) : b.CreateAdd(old, sum);
                    tag(b.CreateAlignedStore(total, at, align), c.scope);
                }
        });
    });
}

} // namespace tdl::codegen
