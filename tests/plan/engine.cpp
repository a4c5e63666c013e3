#include "engine.h"
#include "interp/arith.h"
#include "support/convert.h"
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

namespace tdl::test {

using namespace ir;
using interp::Axis;
using interp::Range;
using interp::Tile;
using interp::TileRef;

namespace {
constexpr auto kRounding = interp::Rounding::EachStep;

int64_t blockSize(int64_t extent, int64_t ranks) {
    return std::max<int64_t>(1, ir::apply(ExprKind::Ceil, extent, ranks));
}

/// Calls f(index per dimension) for all points of a box.
template <class F> void points(const std::vector<int64_t> &lo, const std::vector<int64_t> &hi, F &&f) {
    std::vector<int64_t> at = lo;
    for (size_t d = 0; d < lo.size(); ++d)
        if (lo[d] >= hi[d]) return;
    while (true) {
        f(at);
        size_t d = lo.size();
        while (d > 0 && ++at[d - 1] == hi[d - 1]) --d, at[d] = lo[d];
        if (d == 0) return;
    }
}
} // namespace

Engine::Engine(const Op &p, interp::Launch &l) : plan(p), launch(l), tasks(plan::tasksOf(p)) {
    for (auto &[name, v] : launch.sizes) symbols[name] = v;
    for (const Bind &b : plan.binds("tiles")) symbols[b.name] = b.value;
    symbols["ranks"] = launch.ranks;
    queues.resize(static_cast<size_t>(launch.ranks));
    storage.resize(queues.size());
    words.resize(queues.size());
    for (int64_t r = 0; r < launch.ranks; ++r) {
        setRank(r);
        for (auto &op : plan.body().ops) {
            auto me = static_cast<size_t>(r);
            if (op->kind == OpKind::Tensor || op->kind == OpKind::Buffer)
                load(r, *op, storage[me][op->result()]);
            if (op->kind == OpKind::Flag || op->kind == OpKind::Join)
                words[me][op->result()].assign(static_cast<size_t>(eval(op->expr("words"))), 0);
        }
    }
    for (auto &op : plan.body().ops)
        if (op->kind == OpKind::Param) {
            const interp::Scalar &s = launch.scalars.at(op->name());
            Elem e = op->result()->type.elem;
            values[op->result()] = isFloat(e) ? interp::scalar(e, roundTo(e, std::get<double>(s)), 0)
                                              : interp::scalar(e, 0, std::get<int64_t>(s));
        }
}

int64_t Engine::eval(const Expr &e) const {
    auto v = e.evaluate([&](std::string_view s) -> std::optional<int64_t> {
        auto it = symbols.find(std::string(s));
        return it == symbols.end() ? std::nullopt : std::optional(it->second);
    });
    REQUIRE_MESSAGE(v, e.str());
    return *v;
}

// A rank's part of an argument, with its contents; anything else undefined.
void Engine::load(int64_t rank, const Op &decl, Storage &s) {
    const interp::Tensor *t = decl.kind == OpKind::Tensor ? launch.find(decl.name()) : nullptr;
    int dist = decl.kind == OpKind::Tensor ? plan::distDim(decl) : -1;
    auto extents = plan::extentsOf(decl);
    for (size_t d = 0; d < extents.size(); ++d) {
        int64_t e = eval(extents[d]), b = blockSize(e, launch.ranks);
        bool split = dist == static_cast<int>(d);
        s.origin.push_back(decl.kind == OpKind::Buffer ? eval(decl.exprs("origin")[d])
                           : split                     ? rank * b
                                                       : 0);
        s.dims.push_back(split ? b : e);
        s.bounds.push_back(decl.has("bounds")            ? eval(decl.exprs("bounds")[d])
                           : decl.kind == OpKind::Tensor ? e
                                                         : -1);
    }
    size_t n = 1;
    for (int64_t d : s.dims) n *= static_cast<size_t>(d);
    Elem elem = decl.result()->type.elem;
    if (isFloat(elem))
        s.f.assign(n, NAN);
    else
        s.i.assign(n, 0x5a);
    if (!t || decl.name("mode") == "out") return;
    std::vector<int64_t> hi;
    for (size_t d = 0; d < s.dims.size(); ++d) hi.push_back(std::min(s.origin[d] + s.dims[d], t->extents[d]));
    points(s.origin, hi, [&](const std::vector<int64_t> &at) {
        size_t here = 0, there = 0;
        for (size_t d = 0; d < at.size(); ++d) {
            here = here * static_cast<size_t>(s.dims[d]) + static_cast<size_t>(at[d] - s.origin[d]);
            there = there * static_cast<size_t>(t->extents[d]) + static_cast<size_t>(at[d]);
        }
        there += static_cast<size_t>(t->base(rank));
        if (isFloat(elem))
            s.f[here] = t->f[there];
        else
            s.i[here] = t->i[there];
    });
}

void Engine::writeBack() {
    for (auto &op : plan.body().ops) {
        if (op->kind != OpKind::Tensor || op->name("mode") == "in" || op->name("mode") == "local") continue;
        interp::Tensor &t = *launch.find(op->name());
        for (int64_t r = 0; r < launch.ranks; ++r) {
            const Storage &s = storage[static_cast<size_t>(r)].at(op->result());
            std::vector<int64_t> hi;
            for (size_t d = 0; d < s.dims.size(); ++d)
                hi.push_back(std::min(s.origin[d] + s.dims[d], t.extents[d]));
            points(s.origin, hi, [&](const std::vector<int64_t> &at) {
                size_t here = 0, there = 0;
                for (size_t d = 0; d < at.size(); ++d) {
                    here = here * static_cast<size_t>(s.dims[d]) + static_cast<size_t>(at[d] - s.origin[d]);
                    there = there * static_cast<size_t>(t.extents[d]) + static_cast<size_t>(at[d]);
                }
                there += static_cast<size_t>(t.base(r));
                bool again = t.uniform && r > 0;
                if (isFloat(t.elem)) {
                    if (again &&
                        !(t.f[there] == s.f[here] || (std::isnan(t.f[there]) && std::isnan(s.f[here]))))
                        differing = t.name;
                    t.f[there] = s.f[here];
                } else {
                    if (again && t.i[there] != s.i[here]) differing = t.name;
                    t.i[there] = s.i[here];
                }
            });
        }
    }
}

void Engine::place(const Agent &a) {
    setRank(a.rank);
    const auto &coords = a.task->names("coords");
    int64_t rest = a.ticket;
    for (size_t i = coords.size(); i-- > 0;) {
        int64_t n = eval(a.task->exprs("counts")[i]);
        symbols[coords[i]] = rest % n;
        rest /= n;
    }
}

bool Engine::draw(Agent &a) {
    Queue &q = queues[static_cast<size_t>(a.rank)];
    setRank(a.rank);
    while (q.task < tasks.size()) {
        int64_t n = 1;
        for (const Expr &c : tasks[q.task]->exprs("counts")) n *= eval(c);
        if (q.ticket < n) {
            a.task = tasks[q.task];
            a.ticket = q.ticket++;
            return true;
        }
        ++q.task;
        q.ticket = 0;
    }
    return false;
}

bool Engine::ready(const Agent &a) {
    place(a);
    auto &mine = words[static_cast<size_t>(a.rank)];
    for (auto &op : a.task->body().ops) {
        if (op->kind == OpKind::WaitJoin &&
            mine.at(op->operands[0]).at(static_cast<size_t>(eval(op->expr("index")))) <
                eval(op->expr("total")))
            return false;
        if (op->kind != OpKind::Wait || op->operands[0]->def->name("kind") == "done") continue;
        int64_t from = eval(op->expr("from")), count = eval(op->expr("count"));
        for (int64_t w = from; w < from + count; ++w)
            if (!mine.at(op->operands[0]).at(static_cast<size_t>(w))) return false;
    }
    return true;
}

bool Engine::run(uint64_t seed, int agents) {
    std::mt19937_64 random(seed);
    std::vector<Agent> all;
    for (int64_t r = 0; r < launch.ranks; ++r)
        for (int n = 0; n < agents; ++n) all.push_back({r});
    while (true) {
        std::vector<Agent *> able;
        bool busy = false;
        for (Agent &a : all) {
            if (!a.task && !draw(a)) continue;
            busy = true;
            if (ready(a)) able.push_back(&a);
        }
        if (!busy) break;
        if (able.empty()) return false;
        Agent &a = *able[random() % able.size()];
        execute(a);
        a.task = nullptr;
    }
    writeBack();
    return true;
}

void Engine::execute(const Agent &a) {
    place(a);
    block(a.task->body());
}

void Engine::arrive(const Op &op) {
    int64_t &count = words[static_cast<size_t>(symbols.at("rank"))]
                         .at(op.operands[0])
                         .at(static_cast<size_t>(eval(op.expr("index"))));
    if (++count != eval(op.expr("total")) || op.blocks.empty()) return;
    for (auto &inner : op.body().ops) {
        if (inner->kind == OpKind::Arrive) {
            arrive(*inner);
            continue;
        }
        int64_t to = eval(inner->expr("to")), n = eval(inner->expr("count"));
        for (int64_t r = to; r < to + n; ++r)
            words.at(static_cast<size_t>(r))
                .at(inner->operands[0])
                .at(static_cast<size_t>(eval(inner->expr("index")))) = 1;
    }
}

void Engine::block(const Block &b) {
    for (auto &p : b.ops) {
        const Op &op = *p;
        auto set = [&](Item i) { values[op.result()] = std::move(i); };
        auto tiles = [&](Tile t) { set(std::make_shared<const Tile>(std::move(t))); };
        if (isElementwise(op.kind) || op.kind == OpKind::Cast) {
            std::vector<const Tile *> in;
            for (const Value *v : op.operands) in.push_back(&tile(v));
            tiles(interp::elementwise(op, in, kRounding));
            continue;
        }
        switch (op.kind) {
        case OpKind::Const: {
            Elem e = op.result()->type.elem;
            const Attr &v = *op.find("value");
            set(isFloat(e) ? interp::scalar(e, roundTo(e, std::get<double>(v)), 0)
                           : interp::scalar(e, 0, std::get<int64_t>(v)));
            break;
        }
        case OpKind::ExprOp: set(interp::scalar(eval(op.expr("value")))); break;
        case OpKind::Whole:
            set(Range{op.name("axis"), 0, std::max<int64_t>(0, eval(op.expr("extent"))), 0});
            break;
        case OpKind::RangeOp: {
            int64_t lo = eval(op.expr("lo")), hi = std::max(lo, eval(op.expr("hi")));
            set(Range{op.name("axis"), lo, hi, lo});
            break;
        }
        case OpKind::Shift: {
            Range r = range(op.operands[0]);
            int64_t n = integer(op.operands[1]);
            set(Range{r.axis, r.begin + n, r.end + n, r.origin});
            break;
        }
        case OpKind::Begin: set(interp::scalar(range(op.operands[0]).begin)); break;
        case OpKind::End: set(interp::scalar(range(op.operands[0]).end)); break;
        case OpKind::Index: tiles(interp::indices(range(op.operands[0]))); break;
        case OpKind::Broadcast: {
            std::vector<Range> along;
            for (size_t n = 1; n < op.operands.size(); ++n) along.push_back(range(op.operands[n]));
            tiles(interp::broadcast(op, tile(op.operands[0]), along));
            break;
        }
        case OpKind::Dot:
            tiles(interp::dot(op, tile(op.operands[0]), tile(op.operands[1]), kRounding));
            break;
        case OpKind::Reduce: tiles(interp::reduce(op, tile(op.operands[0]), kRounding)); break;
        case OpKind::Load: load(op); break;
        case OpKind::Store: store(op); break;
        case OpKind::For: loop(op); break;
        case OpKind::Arrive: arrive(op); break;
        default: break;
        }
    }
}

void Engine::loop(const Op &op) {
    const LoopSpec &l = op.loop();
    int64_t rank = symbols.at("rank"), extent = eval(l.extent), lo = 0, hi = extent;
    if (l.dist) {
        int64_t b = blockSize(extent, launch.ranks);
        lo = std::min(extent, rank * b);
        hi = std::min(extent, lo + b);
    }
    size_t own = op.has("slice") ? 2 : 0;
    if (op.has("within")) lo = range(op.operands[own]).begin, hi = range(op.operands[own]).end, ++own;
    if (op.has("slice"))
        lo = std::max(lo, integer(op.operands[0])), hi = std::min(hi, integer(op.operands[1]));
    if (l.sliced) lo = std::max(lo, eval(l.lo)), hi = std::min(hi, eval(l.hi));
    std::vector<Item> carried;
    for (size_t i = own; i < op.operands.size(); ++i) carried.push_back(values.at(op.operands[i]));
    int64_t step = l.isRange ? eval(l.by) : 1;
    for (int64_t at = lo; at < hi; at += step) {
        if (l.isRange)
            values[op.body().args[0].get()] = Range{l.name, at, std::min(at + step, hi), at};
        else
            values[op.body().args[0].get()] = interp::scalar(at);
        for (size_t c = 0; c < carried.size(); ++c) values[op.body().args[c + 1].get()] = carried[c];
        block(op.body());
        for (size_t c = 0; c < carried.size(); ++c) carried[c] = values.at(op.body().ops.back()->operands[c]);
    }
    for (size_t c = 0; c < carried.size(); ++c) values[op.results[c].get()] = carried[c];
}

void Engine::load(const Op &op) {
    const Value *memory = op.operands[0];
    Storage &s = storage[static_cast<size_t>(symbols.at("rank"))].at(memory);
    Tile out;
    out.elem = op.result()->type.elem;
    std::vector<int64_t> lo, hi;
    for (size_t d = 0; d < s.dims.size(); ++d) {
        const Value *v = op.operands[1 + d];
        bool isRange = v->type.isRange();
        lo.push_back(isRange ? range(v).begin : integer(v));
        hi.push_back(isRange ? range(v).end : integer(v) + 1);
        if (isRange) out.axes.push_back({range(v).axis, range(v).count(), range(v).origin});
    }
    const Tile *outside = op.has("or") ? &tile(op.operands.back()) : nullptr;
    REQUIRE(!(outside && !outside->axes.empty())); // a scalar, here
    points(lo, hi, [&](const std::vector<int64_t> &at) {
        size_t here = 0;
        bool inside = true;
        for (size_t d = 0; d < at.size(); ++d) {
            if (s.bounds[d] >= 0) inside &= at[d] >= 0 && at[d] < s.bounds[d];
            here = here * static_cast<size_t>(s.dims[d]) + static_cast<size_t>(at[d] - s.origin[d]);
        }
        if (inside)
            for (size_t d = 0; d < at.size(); ++d)
                REQUIRE((at[d] >= s.origin[d] && at[d] < s.origin[d] + s.dims[d]));
        REQUIRE((inside || outside));
        if (isFloat(out.elem))
            out.f.push_back(inside ? s.f.at(here) : outside->f.at(0));
        else
            out.i.push_back(inside ? s.i.at(here) : outside->i.at(0));
    });
    values[op.result()] = std::make_shared<const Tile>(std::move(out));
}

void Engine::store(const Op &op) {
    int64_t rank = symbols.at("rank");
    if (op.has("at")) rank = eval(op.expr("at"));
    const Value *memory = op.operands[1];
    Storage &s = storage.at(static_cast<size_t>(rank)).at(memory);
    const Tile &v = tile(op.operands[0]);
    std::vector<int64_t> lo, hi;
    std::vector<Axis> axes;
    std::vector<size_t> dimOf;
    for (size_t d = 0; d < s.dims.size(); ++d) {
        const Value *i = op.operands[2 + d];
        bool isRange = i->type.isRange();
        lo.push_back(isRange ? range(i).begin : integer(i));
        hi.push_back(isRange ? range(i).end : integer(i) + 1);
        if (isRange) axes.push_back({range(i).axis, range(i).count(), range(i).origin}), dimOf.push_back(d);
    }
    auto strides = interp::stridesAlong(axes, v);
    int dist = op.has("own") ? plan::distDim(*memory->def) : -1;
    points(lo, hi, [&](const std::vector<int64_t> &at) {
        size_t here = 0;
        int64_t from = 0;
        for (size_t a = 0; a < axes.size(); ++a) from += strides[a] * (at[dimOf[a]] - lo[dimOf[a]]);
        for (size_t d = 0; d < at.size(); ++d) {
            bool inside = at[d] >= s.origin[d] && at[d] < s.origin[d] + s.dims[d];
            if (!inside && dist == static_cast<int>(d)) return;
            REQUIRE(inside);
            here = here * static_cast<size_t>(s.dims[d]) + static_cast<size_t>(at[d] - s.origin[d]);
        }
        if (isFloat(v.elem))
            s.f.at(here) = v.f.at(static_cast<size_t>(from));
        else
            s.i.at(here) = v.i.at(static_cast<size_t>(from));
    });
}

} // namespace tdl::test
