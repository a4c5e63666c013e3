#include "interp/memory.h"
#include "support/convert.h"
#include <set>

namespace tdl::interp {
namespace {

using ir::Op;
using ir::OpKind;

template <class F> void eachOp(const ir::Block &b, F &&f) {
    for (auto &op : b.ops) {
        f(*op);
        for (auto &inner : op->blocks) eachOp(*inner, f);
    }
}

TileRef asTile(const Item &index) {
    if (auto *r = std::get_if<Range>(&index)) return std::make_shared<Tile>(indices(*r));
    return std::get<TileRef>(index);
}

} // namespace

Memory::Memory(const Op &kernel, Launch &l, const ir::Expr::Env &env, Checker &c) : checker(c) {
    for (auto &op : kernel.body().ops) {
        if (op->kind != OpKind::Tensor) continue;
        Slot s;
        s.decl = op.get();
        const std::string &mode = op->name("mode");
        if (mode == "local") {
            locals.push_back(*declare(*op, l.ranks, env));
            s.now = &locals.back();
        } else {
            s.now = l.find(op->name());
        }
        if (mode == "local" || mode == "out") {
            s.now->poison();
            checker.startUndefined(*s.now);
        }
        order.push_back(op.get());
        slots.emplace(op.get(), std::move(s));
    }
}

void Memory::beginStage(const Op &stage) {
    std::set<const Op *> loaded, stored;
    eachOp(stage.body(), [&](const Op &op) {
        if (op.kind == OpKind::Load) loaded.insert(op.operands[0]->def);
        if (op.kind == OpKind::Store) stored.insert(op.operands[1]->def);
    });
    std::vector<const Tensor *> watched;
    for (const Op *decl : order) {
        Slot &s = slots.at(decl);
        s.isCopied = loaded.contains(decl) && stored.contains(decl);
        s.beforeF = s.isCopied ? s.now->f : std::vector<double>{};
        s.beforeI = s.isCopied ? s.now->i : std::vector<int64_t>{};
        if (stored.contains(decl)) watched.push_back(s.now);
    }
    checker.beginStage(stage, watched);
}

// For each position of a tile with `axes` the number of the element that the indices lead to, -1 where one is
// outside.
std::vector<int64_t> Memory::places(const Tensor &t, const std::vector<Axis> &axes,
                                    const std::vector<Item> &index, const Op &op, bool mayLieOutside) {
    Tile shape;
    shape.axes = axes;
    std::vector<int64_t> out(static_cast<size_t>(shape.count()), 0);
    int64_t stride = 1;
    for (size_t d = index.size(); d-- > 0; stride *= t.extents[d]) {
        TileRef values = asTile(index[d]);
        int64_t *to = out.data(), extent = t.extents[d];
        rows<1>(axes, {stridesAlong(axes, *values)}, [&](int64_t n, auto at, auto step) {
            for (int64_t x = 0; x < n; ++x, ++to) {
                int64_t v = values->i[static_cast<size_t>(at[0] + x * step[0])];
                if (v < 0 || v >= extent) {
                    if (!mayLieOutside) checker.outside(t, d, v, op);
                    *to = -1;
                } else if (*to >= 0) {
                    *to += v * stride;
                }
            }
        });
    }
    return out;
}

Tile Memory::load(const Op &op, int64_t rank, const std::vector<Item> &index, const Tile *otherwise) {
    Slot &s = slots.at(op.operands[0]->def);
    const Tensor &t = *s.now;
    std::vector<std::vector<Axis>> shapes;
    for (const Item &i : index) shapes.push_back(asTile(i)->axes);
    if (otherwise) shapes.push_back(otherwise->axes);
    std::vector<const std::vector<Axis> *> like;
    for (auto &a : shapes) like.push_back(&a);
    Tile out = makeTile(op.result()->type, like);
    std::vector<int64_t> from = places(t, out.axes, index, op, otherwise != nullptr);
    int64_t base = t.base(rank);
    auto fill = [&](auto &to, const auto &memory, const auto *other, auto poison) {
        for (size_t p = 0; p < to.size(); ++p)
            if (from[p] < 0) {
                to[p] = poison;
            } else {
                to[p] = memory[static_cast<size_t>(base + from[p])];
                if (checker.enabled()) checker.read(t, base + from[p]);
            }
        if (!other) return;
        size_t p = 0;
        rows<1>(out.axes, {stridesAlong(out.axes, *otherwise)}, [&](int64_t n, auto at, auto step) {
            for (int64_t x = 0; x < n; ++x, ++p)
                if (from[p] < 0) to[p] = (*other)[static_cast<size_t>(at[0] + x * step[0])];
        });
    };
    if (isFloat(t.elem))
        fill(out.f, s.isCopied ? s.beforeF : t.f, otherwise ? &otherwise->f : nullptr, std::nan(""));
    else
        fill(out.i, s.isCopied ? s.beforeI : t.i, otherwise ? &otherwise->i : nullptr, int64_t{0});
    return out;
}

void Memory::store(const Op &op, int64_t rank, const std::vector<Item> &index, const Tile &value) {
    Tensor &t = *slots.at(op.operands[1]->def).now;
    std::vector<Axis> axes;
    for (const Item &i : index) {
        TileRef values = asTile(i);
        for (const Axis &a : values->axes) {
            bool known = false;
            for (const Axis &b : axes) known |= b.name == a.name;
            if (!known) axes.push_back(a);
        }
    }
    std::vector<int64_t> to = places(t, axes, index, op, false);
    int64_t base = t.base(rank);
    size_t p = 0;
    rows<1>(axes, {stridesAlong(axes, value)}, [&](int64_t n, auto at, auto step) {
        for (int64_t x = 0; x < n; ++x, ++p) {
            if (to[p] < 0) continue;
            auto from = static_cast<size_t>(at[0] + x * step[0]);
            if (checker.enabled()) checker.write(t, base + to[p]);
            auto place = static_cast<size_t>(base + to[p]);
            if (isFloat(t.elem))
                t.f[place] = roundTo(t.elem, value.f[from]);
            else
                t.i[place] = wrapTo(t.elem, value.i[from]);
        }
    });
}

void Memory::finish() {
    for (const Op *decl : order)
        if (decl->name("mode") == "out") checker.end(*slots.at(decl).now, *decl);
}

} // namespace tdl::interp
