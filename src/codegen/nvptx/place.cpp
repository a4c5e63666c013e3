// Where the tiles of a program live, and how its products are computed.
//
//     small tiles of constant size   shared memory, the smallest first
//     other tiles with a slot        the block's workspace in global memory
//     dot with rows and columns      a grid of 16 x 16 threads, 1 to 8 rows and columns each, slabs through shared memory
#include "codegen/common/element.h"
#include "codegen/nvptx/plan.h"
#include <algorithm>

namespace tdl::codegen::nvptx {
using ir::Op;
using ir::OpKind;

namespace {

constexpr int64_t kSharedSlots = 24 * 1024, kLargestShared = 12 * 1024; // bytes: several blocks share a multiprocessor

/// Sums per thread along an axis that is at most `length` long.
int perThread(const ir::Expr &length, int most) {
    int n = 1;
    while (n < most && (!length.isConst() || n * BlockProduct::kGrid < length.value())) n *= 2;
    return n;
}

std::optional<BlockProduct> chooseProduct(const Op &dot, const Storage &storage, const LengthOf &lengthOf) {
    DotAxes axes = dotAxes(dot);
    if (axes.rows.empty() || axes.columns.empty() || axes.over.empty()) return std::nullopt;
    BlockProduct p;
    p.a = dot.operands[0], p.b = dot.operands[1];
    // neighbours in memory go to neighbouring threads
    std::string last = storage.inner.at(dot.result());
    if (std::find(axes.rows.begin(), axes.rows.end(), last) != axes.rows.end()) {
        std::swap(axes.rows, axes.columns);
        std::swap(p.a, p.b);
    }
    auto take = [](std::vector<std::string> &list, const std::string &wanted) {
        auto it = std::find(list.begin(), list.end(), wanted);
        if (it == list.end()) it = std::prev(list.end());
        std::string name = *it;
        list.erase(it);
        return name;
    };
    p.column = take(axes.columns, last);
    p.row = take(axes.rows, "");
    p.over = take(axes.over, storage.inner.at(p.b));
    for (auto *list : {&axes.both, &axes.over, &axes.rows, &axes.columns})
        p.loops.insert(p.loops.end(), list->begin(), list->end());
    int bytes = elemBytes(dot.result()->type.elem), most = bytes > 4 ? 4 : 8;
    p.rows = perThread(lengthOf(dot, p.row), most);
    p.columns = perThread(lengthOf(dot, p.column), most);
    return p;
}

} // namespace

std::optional<Placement> place(const Op &program, Diagnostics &diags) {
    Placement out;
    std::vector<const Op *> dots;
    std::function<void(const ir::Block &)> collect = [&](const ir::Block &b) {
        for (auto &op : b.ops) {
            if (op->kind == OpKind::Dot) dots.push_back(op.get());
            for (auto &inside : op->blocks) collect(*inside);
        }
    };
    collect(program.body());
    auto products = [&](const Op &, Storage &s, const LengthOf &lengthOf) {
        for (const Op *dot : dots)
            if (auto p = chooseProduct(*dot, s, lengthOf)) out.products[dot] = std::move(*p);
    };
    auto storage = assignStorage(program, products, diags);
    if (!storage) return std::nullopt;
    out.storage = std::move(*storage);

    int64_t panels = 0;
    for (auto &[dot, p] : out.products)
        panels = std::max<int64_t>(panels, static_cast<int64_t>(p.depth) * (p.pitchA() + p.pitchB()) * elemBytes(dot->result()->type.elem));
    panels = (panels + 15) / 16 * 16;
    auto bytesOf = [&](size_t i) {
        ir::Expr n = slotBytes(out.storage.slots[i]);
        return n.isConst() ? n.value() : INT64_MAX;
    };
    std::vector<size_t> order(out.storage.slots.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return bytesOf(x) < bytesOf(y); });
    out.shared.assign(order.size(), -1);
    int64_t used = 0;
    for (size_t i : order) {
        int64_t n = bytesOf(i);
        if (n > kLargestShared || used + n > kSharedSlots) break;
        out.shared[i] = static_cast<int>(kScratchBytes + panels + used);
        used += n;
    }
    out.sharedBytes = static_cast<int>(panels + used);
    return out;
}

} // namespace tdl::codegen::nvptx
