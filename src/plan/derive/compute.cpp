#include "plan/derive/compute.h"
#include <algorithm>
#include <unordered_set>

namespace tdl::plan {

using namespace ir;

namespace {
/// The extent of a whole axis of the stage.
const Op *wholeOp(const Op &stage, const std::string &axis) {
    for (auto &op : stage.body().ops)
        if (op->kind == OpKind::Whole && op->name("axis") == axis) return op.get();
    return nullptr;
}
} // namespace

Slot slotFor(const Op &stage, const Type &value) {
    Slot s;
    std::vector<std::string> rest = value.axes;
    const auto &loops = stage.loops();
    for (size_t i = 0; i < loops.size(); ++i) {
        Interval v = intervalOf(loops[i], false);
        auto it = std::find(rest.begin(), rest.end(), loops[i].name);
        if (!loops[i].isRange) {
            s.dims.push_back({Slot::Dim::Index, i, {}, v});
        } else if (it != rest.end()) {
            rest.erase(it);
            s.dims.push_back({Slot::Dim::Axis, i, loops[i].name, v});
        } else {
            Expr tiles = tilesOf(v, loops[i].by, 0).count;
            s.dims.push_back({Slot::Dim::Tile, i, {}, wholeOf(tiles)});
        }
    }
    for (const std::string &axis : rest) {
        const Op *whole = wholeOp(stage, axis);
        s.dims.push_back(
            {Slot::Dim::Axis, Slot::none, axis, wholeOf(whole ? whole->expr("extent") : Expr(0))});
    }
    return s;
}

Box Slot::box(const Op &stage, const Value *restricted) const {
    Box b;
    for (const Dim &d : dims) {
        bool cut = d.loop != none && stage.body().args[d.loop].get() == restricted;
        b.push_back(cut ? intervalOf(stage.loops()[d.loop], true) : d.interval);
    }
    return b;
}

std::vector<std::string> Slot::axes() const {
    std::vector<std::string> names;
    for (const Dim &d : dims) names.push_back(d.axis);
    return names;
}

void PhaseTask::open(const std::string &name, std::string_view kind) {
    std::vector<Expr> counts;
    for (size_t i = 0; i < stage.loops().size(); ++i) {
        const LoopSpec &l = stage.loops()[i];
        Interval v = intervalOf(l, stage.body().args[i].get() == restricted);
        coords.push_back(w.coord("t" + l.name, coords));
        counts.push_back(tilesOf(v, l.isRange ? l.by : Expr(1), 0).count);
    }
    task_.emplace(w.open(w.fresh(name), kind, stage.loc, coords, std::move(counts)));
}

void PhaseTask::start() {
    map.insert(w.declared().begin(), w.declared().end());
    out.emplace(task_->body);
    // Ranges first; then a loop of at most one turn per scalar, which has none where the extent has no index.
    for (bool ranges : {true, false})
        for (size_t i = 0; i < stage.loops().size(); ++i) {
            const LoopSpec &l = stage.loops()[i];
            if (l.isRange != ranges) continue;
            const Value *arg = stage.body().args[i].get();
            bool cut = arg == restricted;
            Interval v = intervalOf(l, cut);
            if (ranges) {
                Tiles t = tilesOf(v, l.by, Expr::sym(coords[i]));
                map[arg] = out->make(OpKind::RangeOp, stage.loc, {}, arg->type,
                                     {{"axis", Name{l.name}}, {"lo", t.lo}, {"hi", t.hi}}, arg->hint);
                continue;
            }
            LoopSpec one = l;
            one.dist = l.dist || cut;
            one.sliced = true;
            one.lo = v.lo + Expr::sym(coords[i]);
            one.hi = l.sliced ? min(v.hi, one.lo + 1) : one.lo + 1;
            Op *loop = out->op(OpKind::For, stage.loc, {}, {{"loop", one}});
            map[arg] = loop->addBlock().addArg(arg->type, arg->hint);
            out->setBlock(loop->body());
        }
}

Value *PhaseTask::rangeOf(const std::string &axis, Loc loc) {
    for (size_t i = 0; i < stage.loops().size(); ++i)
        if (stage.loops()[i].isRange && stage.loops()[i].name == axis)
            return map.at(stage.body().args[i].get());
    const Op *whole = wholeOp(stage, axis);
    auto it = map.find(whole->result());
    if (it != map.end()) return it->second;
    return map[whole->result()] =
               out->make(OpKind::Whole, loc, {}, whole->result()->type,
                         {{"axis", Name{axis}}, {"extent", whole->expr("extent")}}, whole->result()->hint);
}

std::vector<Value *> PhaseTask::indices(const Slot &s, Loc loc) {
    std::vector<Value *> idx;
    for (const Slot::Dim &d : s.dims) switch (d.kind) {
        case Slot::Dim::Index: idx.push_back(map.at(stage.body().args[d.loop].get())); break;
        case Slot::Dim::Axis: idx.push_back(rangeOf(d.axis, loc)); break;
        case Slot::Dim::Tile: idx.push_back(out->expr(loc, Expr::sym(coords[d.loop]))); break;
        }
    return idx;
}

void PhaseTask::reload(const Value &v, const Slot &s, Loc loc) {
    std::vector<Value *> operands = indices(s, loc);
    operands.insert(operands.begin(), s.memory);
    map[&v] = out->make(OpKind::Load, loc, std::move(operands), v.type, {}, v.hint);
}

void PhaseTask::spill(const Value &v, const Slot &s, Loc loc) {
    std::vector<Value *> operands = indices(s, loc);
    operands.insert(operands.begin(), {map.at(&v), s.memory});
    out->op(OpKind::Store, loc, std::move(operands));
}

void PhaseTask::copy(const Op &op, const Targets &t) {
    if (op.kind == OpKind::Whole && map.contains(op.result())) return; // bound by a spill before it
    copyInto(*out, op, t);
}

void PhaseTask::copyInto(Builder &to, const Op &op, const Targets &t) {
    std::vector<Value *> operands;
    for (const Value *v : op.operands) operands.push_back(map.at(v));
    if (auto g = t.accesses.gathered.find(&op); g != t.accesses.gathered.end())
        operands[0] = t.gathers[g->second];
    if (auto s = t.sends.find(&op); s != t.sends.end()) operands[1] = s->second;
    Op *copy = to.op(op.kind, op.loc, std::move(operands));
    for (auto &[name, value] : op.attrs()) copy->set(name, value);
    if (auto s = t.accesses.stores.find(&op); s != t.accesses.stores.end() && s->second == StoreWay::Own)
        copy->set("own", Flag{});
    for (auto &b : op.blocks) {
        Block &inner = copy->addBlock();
        for (auto &a : b->args) map[a.get()] = inner.addArg(a->type, a->hint);
        Builder in(inner);
        for (auto &o : b->ops) copyInto(in, *o, t);
    }
    for (auto &r : op.results) map[r.get()] = copy->addResult(r->type, r->hint);
}

namespace {
/// Ranges of the header that the phase has no use for.
void dropUnused(Block &task) {
    std::unordered_set<const Value *> used;
    walk(task, [&](const Op &op) { used.insert(op.operands.begin(), op.operands.end()); });
    std::erase_if(task.ops,
                  [&](auto &op) { return op->kind == OpKind::RangeOp && !used.contains(op->result()); });
}
} // namespace

void PhaseTask::close() {
    for (Block *b = &out->block(); b != task_->op->blocks[0].get(); b = b->parent->parent)
        Builder(*b).op(OpKind::Yield, stage.loc);
    dropUnused(*task_->op->blocks[0]);
    w.close(*task_);
}

} // namespace tdl::plan
