#include "plan/derive/writer.h"
#include <algorithm>

namespace tdl::plan {

using namespace ir;

Writer::Writer(const Op &kernel, std::string name, const Options &o)
    : options(o), plan(std::make_unique<Op>(OpKind::Plan, kernel.loc)) {
    plan->symbol = kernel.symbol;
    plan->set("name", Name{std::move(name)});
    for (const char *a : {"sizes", "tiles", "doc"})
        if (const Attr *v = kernel.find(a)) plan->set(a, *v);
    symbols = {"rank", "ranks"};
    for (const std::string &s : kernel.names("sizes")) symbols.insert(s);
    for (const Bind &b : kernel.binds("tiles")) symbols.insert(b.name);
    taken = symbols;
    Block &top = plan->addBlock();
    for (auto &op : kernel.body().ops) {
        if (op->kind == OpKind::Stage) continue;
        if (op->kind != OpKind::Require) taken.insert(op->name());
        top.append(clone(*op, map))->text = {};
    }
    done = Builder(top).make(OpKind::Flag, kernel.loc, {}, Type::of(TypeKind::Flag),
                             {{"name", Name{fresh("done")}}, {"kind", Name{"done"}}, {"words", ranks()}},
                             "done");
}

std::string Writer::fresh(const std::string &hint) {
    std::string name = hint;
    for (int i = 1; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", hint, i);
    return name;
}

std::string Writer::coord(const std::string &hint, const std::vector<std::string> &used) const {
    std::string name = hint;
    for (int i = 1; symbols.contains(name) || std::find(used.begin(), used.end(), name) != used.end(); ++i)
        name = fmt::format("{}_{}", hint, i);
    return name;
}

Expr Writer::constant(const std::string &hint, int64_t value) {
    auto [it, isNew] = constants.try_emplace(hint);
    if (isNew) {
        it->second = fresh(hint);
        symbols.insert(it->second);
        auto tiles = plan->binds("tiles");
        tiles.push_back({it->second, value});
        plan->set("tiles", std::move(tiles));
    }
    return Expr::sym(it->second);
}

Expr Writer::chunk(size_t dim, size_t dims) {
    if (dims == 1) return constant("chunk", options.chunkFlat);
    if (dim + 1 == dims) return constant("chunk_last", options.chunkLast);
    if (dim + 2 == dims) return constant("chunk_rows", options.chunkRows);
    return 1;
}

Writer::Staged *Writer::staged(const Value *tensor, const Box &box) {
    for (StagedBox &s : stagedBoxes)
        if (s.tensor == tensor && s.box == box) return &s.staged;
    return nullptr;
}
void Writer::stage(const Value *tensor, const Box &box, Staged s) {
    stagedBoxes.push_back({tensor, box, s});
}
void Writer::forget(const Value *tensor) {
    std::erase_if(stagedBoxes, [&](const StagedBox &s) { return s.tensor == tensor; });
}

Value *Writer::buffer(const std::string &name, Loc loc, Elem elem, std::string_view scope, const Box &box) {
    std::vector<Expr> dims, origin;
    for (const Interval &v : box) {
        dims.push_back(v.length);
        origin.push_back(v.lo);
    }
    return Builder(plan->body())
        .make(OpKind::Buffer, loc, {}, Type::of(TypeKind::Buffer, elem),
              {{"name", Name{name}}, {"scope", Name{std::string(scope)}}, {"dims", dims}, {"origin", origin}},
              name);
}

Value *Writer::flag(const std::string &name, Loc loc) {
    return Builder(plan->body())
        .make(OpKind::Flag, loc, {}, Type::of(TypeKind::Flag),
              {{"name", Name{name}}, {"kind", Name{"data"}}, {"words", ranks()}}, name);
}

Value *Writer::join(const std::string &name, Loc loc, Expr words) {
    return Builder(plan->body())
        .make(OpKind::Join, loc, {}, Type::of(TypeKind::Join),
              {{"name", Name{name}}, {"words", std::move(words)}}, name);
}

Task Writer::open(const std::string &name, std::string_view kind, Loc loc, std::vector<std::string> coords,
                  std::vector<Expr> counts) {
    auto op = std::make_unique<Op>(OpKind::Task, loc);
    op->symbol = name;
    op->set("kind", Name{std::string(kind)});
    op->set("level", ++level);
    op->set("coords", std::move(coords));
    op->set("counts", std::move(counts));
    Block &b = op->addBlock();
    Task t{tasks.append(std::move(op)), Builder(b)};
    if (last)
        t.body.op(OpKind::WaitJoin, loc, {last->operands[0]},
                  {{"index", last->expr("index")}, {"total", last->expr("total")}});
    return t;
}

void Writer::arriveAt(Task &t, Builder &b, Expr total) {
    Value *end = join(fresh(t.op->symbol + "_end"), t.op->loc, 1);
    last = b.op(OpKind::Arrive, t.op->loc, {end}, {{"index", Expr(0)}, {"total", std::move(total)}});
}

void Writer::close(Task &t) {
    arriveAt(t, t.body, ticketsOf(*t.op));
}
void Writer::close(Task &t, Builder &b, Expr total) {
    arriveAt(t, b, std::move(total));
}

std::unique_ptr<Op> Writer::finish() {
    if (!last) {
        Task t = open(fresh("nothing"), "compute", plan->loc, {}, {});
        close(t);
    }
    Builder(last->addBlock())
        .op(OpKind::Notify, last->loc, {done}, {{"to", Expr(0)}, {"count", ranks()}, {"index", thisRank()}});
    for (auto &t : tasks.ops) plan->body().append(std::move(t));
    tasks.ops.clear();
    return std::move(plan);
}

bool isPositive(const Expr &e) {
    switch (e.kind()) {
    case ExprKind::Const: return e.value() >= 1;
    case ExprKind::Sym: return e.isSym("ranks");
    case ExprKind::Max: return isPositive(e.lhs()) || isPositive(e.rhs());
    case ExprKind::Ceil: return isPositive(e.lhs()); // by a tile constant
    default: return false;
    }
}

Tiles tilesOf(const Interval &v, const Expr &by, const Expr &coord) {
    Expr lo = v.lo + coord * by, count = ceilDiv(v.length, by);
    return {isPositive(count) ? count : max(Expr(1), count), lo, min(v.hi, lo + by)};
}

} // namespace tdl::plan
