// Which products are computed by register tiles, with which operand's rows, and where their operands are
// copied to.
#include "codegen/host/storage.h"
#include "codegen/host/target.h"
#include <algorithm>

namespace tdl::codegen {
using ir::Op;
using ir::OpKind;
using ir::Value;

// Enough sums in flight to hide the latency of multiply-add (8 at two a cycle), the rest for operands.
RegisterTile registerTile(const Target &t, Elem e) {
    int lanes = std::max(1, t.vectorBytes / elemBytes(e));
    if (t.vectorRegisters >= 32) return {8, 2, lanes};
    return {t.vectorBytes >= 32 ? 6 : 4, 2, lanes};
}

namespace {

constexpr int64_t kDepth = 256; // summed indices of a panel

class Chooser {
public:
    Chooser(const Target &t, Storage &s, const LengthOf &l) : target(t), storage(s), lengthOf(l) {}

    void block(const ir::Block &b) {
        for (auto &op : b.ops) {
            for (auto &inside : op->blocks) block(*inside);
            for (const Value *v : op->operands) {
                auto known = fusedInto.find(v);
                if (known != fusedInto.end()) consumer(*known->second, *op, v);
            }
            if (op->kind == OpKind::Add)
                for (const Value *v : op->operands)
                    if (storage.fused.contains(v)) fusedInto[op->result()] = v->def;
            if (op->kind != OpKind::Dot || op->result()->type.axes.empty()) continue;
            if (storage.has(op->result())) choose(*op, {storage.slotOf.at(op->result())});
        }
    }

private:
    const Target &target;
    Storage &storage;
    const LengthOf &lengthOf;
    std::unordered_map<const Value *, const Op *> fusedInto; // sum -> dot

    // A fused product goes where the sum goes: its own slot, or that of what a loop carries.
    void consumer(const Op &dot, const Op &user, const Value *sum) {
        if (storage.products.contains(&dot)) return;
        if (storage.has(sum)) return choose(dot, {storage.slotOf.at(sum)});
        size_t i = static_cast<size_t>(std::find(user.operands.begin(), user.operands.end(), sum) -
                                       user.operands.begin());
        if (user.kind == OpKind::Loop) return choose(dot, {storage.slotOf.at(user.result(i - 3))});
        if (user.kind != OpKind::Yield) return;
        const Op *loop = user.parent->parent;
        std::vector<int> slots{storage.slotOf.at(loop->result(i))};
        for (const YieldStep &s : storage.yields[loop])
            if (s.index == i && s.temp >= 0) slots.push_back(s.temp);
        choose(dot, slots);
    }

    void choose(const Op &dot, const std::vector<int> &into) {
        DotAxes axes = dotAxes(dot);
        if (axes.rows.empty() || axes.columns.empty() || axes.over.empty()) return;
        Product p;
        p.a = dot.operands[0], p.b = dot.operands[1];
        // the fastest axis of the result are the columns
        std::string last = storage.slots[static_cast<size_t>(into[0])].axes.back();
        auto holds = [&](const std::vector<std::string> &list) {
            return std::find(list.begin(), list.end(), last) != list.end();
        };
        if (holds(axes.rows)) {
            std::swap(axes.rows, axes.columns);
            std::swap(p.a, p.b);
        } else if (!holds(axes.columns)) {
            return; // an axis of both operands: no register tile has contiguous columns
        }
        p.column = last;
        p.row = axes.rows.back();
        std::string inner = storage.inner.at(p.b);
        bool turned = std::find(axes.over.begin(), axes.over.end(), inner) != axes.over.end();
        p.over = turned ? inner : axes.over.back();
        p.loops = axes.both;
        for (const std::string &a : axes.over)
            if (a != p.over) p.loops.push_back(a);
        for (const std::string &a : axes.columns)
            if (a != p.column) p.loops.push_back(a);
        p.rowLoops.assign(axes.rows.begin(), axes.rows.end() - 1);

        RegisterTile tile = registerTile(target, dot.result()->type.elem);
        for (int slot : into) {
            Slot &s = storage.slots[static_cast<size_t>(slot)];
            s.spread = true;
            for (size_t i = 0; i < s.axes.size(); ++i)
                if (s.axes[i] == p.row)
                    s.multiples[i] = tile.rows;
                else if (s.axes[i] == p.column)
                    s.multiples[i] = std::max<int64_t>(tile.columns(), lineElements(s.elem));
        }
        // what is summed at a time should fit the first cache
        ir::Expr depth = lengthOf(dot, p.over);
        if (!depth.isConst() || depth.value() > kDepth) {
            p.block = kDepth;
            depth = ir::Expr(kDepth); // also where there is less: rows then lie constants apart
        }
        auto length = [&](const std::string &axis) { return axis == p.over ? depth : lengthOf(dot, axis); };
        auto add = [&](const std::string &outer, int64_t outerMultiple, const std::string &fast,
                       int64_t fastMultiple) {
            storage.slots.push_back({dot.result()->type.elem,
                                     {outer, fast},
                                     {length(outer), length(fast)},
                                     {outerMultiple, fastMultiple},
                                     true});
            return static_cast<int>(storage.slots.size()) - 1;
        };
        int64_t line = lineElements(dot.result()->type.elem);
        bool rowFast = storage.inner.at(p.a) == p.row;
        p.aSlot = rowFast ? add(p.over, 1, p.row, std::max<int64_t>(line, tile.rows))
                          : add(p.row, tile.rows, p.over, line);
        p.bSlot = add(p.over, tile.lanes, p.column, std::max<int64_t>(tile.columns(), line));
        if (turned) p.turned = add(p.column, tile.lanes, p.over, line);
        storage.products[&dot] = std::move(p);
    }
};

} // namespace

void choosePanels(const Op &program, const Target &target, Storage &storage, const LengthOf &lengthOf) {
    Chooser(target, storage, lengthOf).block(program.body());
}

} // namespace tdl::codegen
