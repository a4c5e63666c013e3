#include "plan/derive/transfer.h"
#include <algorithm>

namespace tdl::plan {

using namespace ir;

Chunks chunksOf(Writer &w, const Box &box, std::vector<std::string> before) {
    Chunks out;
    out.coords = std::move(before);
    size_t n = box.size();
    for (size_t i = 0; i < n; ++i) {
        if (box[i].length.isConst(1)) {
            out.tiles.push_back({1, box[i].lo, box[i].hi});
            continue;
        }
        std::string coord = w.coord("c", out.coords);
        out.tiles.push_back(tilesOf(box[i], w.chunk(i, n), Expr::sym(coord)));
        out.counts.push_back(out.tiles.back().count);
        out.coords.push_back(std::move(coord));
    }
    return out;
}

std::vector<Value *> rangesOf(Task &t, Loc loc, const Chunks &c, const std::vector<std::string> &axes) {
    std::vector<Value *> ranges;
    std::vector<std::string> used;
    for (size_t i = 0; i < c.tiles.size(); ++i) {
        std::string axis = i < axes.size() && !axes[i].empty() ? axes[i] : fmt::format("x{}", i);
        while (std::find(used.begin(), used.end(), axis) != used.end()) axis += "_";
        used.push_back(axis);
        ranges.push_back(t.body.make(OpKind::RangeOp, loc, {}, Type::range(axis),
                                     {{"axis", Name{axis}}, {"lo", c.tiles[i].lo}, {"hi", c.tiles[i].hi}},
                                     axis));
    }
    return ranges;
}

void copyChunk(Task &t, Loc loc, Value *from, Value *to, const std::vector<Value *> &ranges,
               const std::vector<Value *> &head, const Expr *at) {
    Type type = Type::scalar(from->type.elem);
    for (const Value *r : ranges) type.axes.push_back(r->type.axes[0]);
    std::vector<Value *> source{from};
    source.insert(source.end(), ranges.begin(), ranges.end());
    Value *v = t.body.make(OpKind::Load, loc, std::move(source), type);
    std::vector<Value *> target{v, to};
    target.insert(target.end(), head.begin(), head.end());
    target.insert(target.end(), ranges.begin(), ranges.end());
    Op *store = t.body.op(OpKind::Store, loc, std::move(target));
    if (at) store->set("at", *at);
}

void waitForAll(Writer &w, Task &t, Loc loc, Value *flag) {
    if (w.awaited.insert(flag).second)
        t.body.op(OpKind::Wait, loc, {flag}, {{"from", Expr(0)}, {"count", ranks()}});
}

Value *emit(Writer &w, const Transfer &x) {
    Value *here = w.flag(w.fresh(x.name + "_here"), x.loc);
    Value *sent = w.join(w.fresh(x.name + "_sent"), x.loc, ranks());
    std::string p = w.coord("p", {});
    Expr d = (thisRank() + 1 + Expr::sym(p)) % ranks();
    Chunks chunks = chunksOf(w, x.box(d), {p});
    std::vector<Expr> counts{ranks()};
    counts.insert(counts.end(), chunks.counts.begin(), chunks.counts.end());

    Task t = w.open(w.fresh("push_" + x.name), "transfer", x.loc, chunks.coords, std::move(counts));
    t.body.op(OpKind::Wait, x.loc, {w.doneFlag()}, {{"from", d}, {"count", Expr(1)}});
    std::vector<Value *> ranges = rangesOf(t, x.loc, chunks, x.axes);
    std::vector<Value *> head;
    if (x.bySource) head.push_back(t.body.expr(x.loc, thisRank()));
    copyChunk(t, x.loc, x.from, x.to, ranges, head, &d);

    Op *last = t.body.op(OpKind::Arrive, x.loc, {sent},
                         {{"index", Expr::sym(p)}, {"total", product(chunks.counts)}});
    Builder then(last->addBlock());
    then.op(OpKind::Notify, x.loc, {here}, {{"to", d}, {"count", Expr(1)}, {"index", thisRank()}});
    w.close(t, then, ranks());
    return here;
}

} // namespace tdl::plan
