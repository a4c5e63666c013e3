#include "interp/run.h"
#include "interp/memory.h"
#include "support/convert.h"
#include "support/mix.h"
#include <algorithm>

namespace tdl::interp {
namespace {

using ir::Block;
using ir::LoopSpec;
using ir::Op;
using ir::OpKind;

/// Ranks [first, last) that execute a block in step. `alone`: the rank, if it is one of an instance that has
/// more, or one that has a distributed stage loop to itself. `parted`: ranks of one team that are out of
/// step, because a loop has other bounds on each; what they store is not the same everywhere.
struct Team {
    int64_t first, last;
    int32_t alone = -1;
    bool parted = false;
    int64_t size() const { return last - first; }
};

struct Span {
    int64_t begin, end;
    friend bool operator==(const Span &, const Span &) = default;
};

ir::Expr::Env environment(const Op &kernel, const Launch &l) {
    std::map<std::string, int64_t, std::less<>> values(l.sizes.begin(), l.sizes.end());
    values["ranks"] = l.ranks;
    for (const ir::Bind &b : kernel.binds("tiles")) values[b.name] = b.value;
    return [values = std::move(values)](std::string_view name) -> std::optional<int64_t> {
        auto it = values.find(name);
        if (it == values.end()) return std::nullopt;
        return it->second;
    };
}

class Runner {
public:
    Runner(const Op &k, Launch &l, const Options &o, Diagnostics &d)
        : kernel(k), launch(l), options(o), env(environment(k, l)), random(o.seed), checker(d, o.check),
          memory(k, l, env, checker), values(static_cast<size_t>(l.ranks)) {}

    bool run() {
        for (auto &op : kernel.body().ops) {
            if (op->kind == OpKind::Param) {
                Elem e = op->result()->type.elem;
                const Scalar &s = launch.scalars.at(op->name());
                double f = std::visit([](auto v) { return static_cast<double>(v); }, s);
                int64_t i =
                    std::holds_alternative<int64_t>(s) ? std::get<int64_t>(s) : intFromFloat(Elem::I64, f);
                for (int64_t r = 0; r < launch.ranks; ++r)
                    set(r, *op, 0, scalar(e, roundTo(e, f), wrapTo(e, i)));
            }
            if (op->kind == OpKind::Stage) stage(*op);
        }
        memory.finish();
        return !checker.failed();
    }

private:
    const Op &kernel;
    Launch &launch;
    const Options &options;
    ir::Expr::Env env;
    Random random;
    Checker checker;
    Memory memory;
    std::vector<std::unordered_map<const ir::Value *, Item>> values; // by rank
    int32_t instance = 0, phase = 0;

    int64_t eval(const ir::Expr &e) const { return e.evaluate(env).value_or(0); }
    const Item &get(int64_t rank, const ir::Value *v) { return values[static_cast<size_t>(rank)].at(v); }
    const Tile &tile(int64_t rank, const ir::Value *v) { return *std::get<TileRef>(get(rank, v)); }
    const Range &range(int64_t rank, const ir::Value *v) { return std::get<Range>(get(rank, v)); }
    int64_t integer(int64_t rank, const ir::Value *v) { return tile(rank, v).i[0]; }
    void set(int64_t rank, const ir::Value *v, Item item) {
        values[static_cast<size_t>(rank)][v] = std::move(item);
    }
    void set(int64_t rank, const Op &op, size_t n, Item item) { set(rank, op.result(n), std::move(item)); }
    void set(int64_t rank, const Op &op, Tile t) { set(rank, op, 0, std::make_shared<Tile>(std::move(t))); }

    // ---- Loops
    // -------------------------------------------------------------------------------------------------------
    /// The indices of a loop whose range or slice operands, if any, have been put into `within` and `lo`,
    /// `hi`.
    Span indices(const LoopSpec &l, int64_t rank, const Range *within, std::optional<Span> slice) {
        Span s{0, eval(l.extent)};
        if (l.dist)
            s = {eval(blockBegin(l.extent, ir::Expr(rank))), eval(blockEnd(l.extent, ir::Expr(rank)))};
        if (within) s = {within->begin, within->end};
        if (l.sliced) slice = Span{eval(l.lo), eval(l.hi)};
        if (slice) s = {std::max(s.begin, slice->begin), std::min(s.end, slice->end)};
        return s;
    }

    /// Cuts indices into ranges of at most `by`, or into single ones.
    std::vector<Span> cut(const LoopSpec &l, Span s) {
        std::vector<Span> parts;
        int64_t by = l.isRange ? std::max<int64_t>(1, eval(l.by)) : 1;
        for (int64_t x = s.begin; x < s.end;) {
            int64_t n = options.cuts == Cuts::Random ? 1 + random.below(by) : by;
            parts.push_back({x, std::min(s.end, x + n)});
            x = parts.back().end;
        }
        return parts;
    }

    void arrange(std::vector<Span> &parts) {
        if (options.order == Order::Descending) std::reverse(parts.begin(), parts.end());
        if (options.order == Order::Shuffled)
            for (size_t n = parts.size(); n > 1; --n)
                std::swap(parts[n - 1], parts[static_cast<size_t>(random.below(static_cast<int64_t>(n)))]);
    }

    Item turn(const LoopSpec &l, Span part) {
        if (l.isRange) return Range{l.name, part.begin, part.end, part.begin};
        return scalar(part.begin);
    }

    // ---- Stages
    // ------------------------------------------------------------------------------------------------------
    void stage(const Op &op) {
        memory.beginStage(op);
        bool distributed =
            std::any_of(op.loops().begin(), op.loops().end(), [](const LoopSpec &l) { return l.dist; });
        std::vector<Coordinate> at;
        if (!distributed) return instances(op, {0, launch.ranks}, at);
        for (int64_t r = 0; r < launch.ranks; ++r) instances(op, {r, r + 1, static_cast<int32_t>(r)}, at);
    }

    void instances(const Op &op, Team team, std::vector<Coordinate> &at) {
        size_t depth = at.size();
        if (depth == op.loops().size()) {
            instance = checker.addInstance(at);
            return block(op.body(), team);
        }
        const LoopSpec &l = op.loops()[depth];
        for (Span part : cut(l, indices(l, team.first, nullptr, std::nullopt))) {
            for (int64_t r = team.first; r < team.last; ++r)
                set(r, op.body().args[depth].get(), turn(l, part));
            at.push_back({l.name, part.begin, part.end, l.isRange});
            instances(op, team, at);
            at.pop_back();
        }
    }

    void loop(const Op &op, Team team) {
        const LoopSpec &l = op.loop();
        std::vector<Span> spans;
        for (int64_t r = team.first; r < team.last; ++r) {
            size_t n = 0;
            std::optional<Span> slice;
            if (op.has("slice")) {
                slice = Span{integer(r, op.operands[0]), integer(r, op.operands[1])};
                n = 2;
            }
            spans.push_back(indices(l, r, op.has("within") ? &range(r, op.operands[n]) : nullptr, slice));
        }
        bool same = std::all_of(spans.begin(), spans.end(), [&](const Span &s) { return s == spans[0]; });
        if (team.size() == 1 || (same && !l.dist)) return turns(op, team, spans[0]);
        ++phase; // ranks on their own from here ...
        for (int64_t r = team.first; r < team.last; ++r)
            turns(op, {r, r + 1, static_cast<int32_t>(r), team.parted || !l.dist},
                  spans[static_cast<size_t>(r - team.first)]);
        ++phase; // ... to here
    }

    void turns(const Op &op, Team team, Span span) {
        const LoopSpec &l = op.loop();
        const Block &body = op.body();
        size_t own = op.operands.size() - op.results.size();
        std::vector<Span> parts = cut(l, span);
        if (op.has("order") && op.name("order") != "recurrence") arrange(parts);
        for (int64_t r = team.first; r < team.last; ++r)
            for (size_t n = 0; n < op.results.size(); ++n) set(r, op, n, get(r, op.operands[own + n]));
        for (Span part : parts) {
            for (int64_t r = team.first; r < team.last; ++r) {
                set(r, body.args[0].get(), turn(l, part));
                for (size_t n = 0; n < op.results.size(); ++n)
                    set(r, body.args[1 + n].get(), get(r, op.result(n)));
            }
            block(body, team);
            for (int64_t r = team.first; r < team.last; ++r)
                for (size_t n = 0; n < op.results.size(); ++n)
                    set(r, op, n, get(r, body.ops.back()->operands[n]));
        }
    }

    // ---- Operations
    // --------------------------------------------------------------------------------------------------
    void block(const Block &b, Team team) {
        for (auto &op : b.ops) {
            switch (op->kind) {
            case OpKind::For: loop(*op, team); break;
            case OpKind::Store: store(*op, team); break;
            case OpKind::ReduceRanks: {
                std::vector<const Tile *> all;
                for (int64_t r = team.first; r < team.last; ++r) all.push_back(&tile(r, op->operands[0]));
                auto result = std::make_shared<const Tile>(reduceRanks(*op, all, options.rounding));
                for (int64_t r = team.first; r < team.last; ++r) set(r, *op, 0, result);
                break;
            }
            case OpKind::Yield: break;
            default:
                for (int64_t r = team.first; r < team.last; ++r) value(*op, r, team);
            }
        }
    }

    void value(const Op &op, int64_t r, Team team) {
        auto operand = [&](size_t n) { return op.operands[n]; };
        if (ir::isElementwise(op.kind)) {
            std::vector<const Tile *> in;
            for (const ir::Value *v : op.operands) in.push_back(&tile(r, v));
            return set(r, op, elementwise(op, in, options.rounding));
        }
        switch (op.kind) {
        case OpKind::Const: {
            Elem e = op.result()->type.elem;
            const ir::Attr &v = *op.find("value");
            if (isFloat(e)) return set(r, op, 0, scalar(e, roundTo(e, std::get<double>(v)), 0));
            return set(r, op, 0, scalar(e, 0, wrapTo(e, std::get<int64_t>(v))));
        }
        case OpKind::ExprOp: return set(r, op, 0, scalar(eval(op.expr("value"))));
        case OpKind::Whole: {
            int64_t n = std::max<int64_t>(0, eval(op.expr("extent")));
            return set(r, op, 0, Range{op.name("axis"), 0, n, 0});
        }
        case OpKind::Shift: {
            Range s = range(r, operand(0));
            int64_t by = integer(r, operand(1));
            return set(r, op, 0, Range{s.axis, s.begin + by, s.end + by, s.origin});
        }
        case OpKind::Begin: return set(r, op, 0, scalar(range(r, operand(0)).begin));
        case OpKind::End: return set(r, op, 0, scalar(range(r, operand(0)).end));
        case OpKind::Index: return set(r, op, interp::indices(range(r, operand(0))));
        case OpKind::Broadcast: {
            std::vector<Range> along;
            for (size_t n = 1; n < op.operands.size(); ++n) along.push_back(range(r, operand(n)));
            return set(r, op, broadcast(op, tile(r, operand(0)), along));
        }
        case OpKind::Dot:
            return set(r, op, dot(op, tile(r, operand(0)), tile(r, operand(1)), options.rounding));
        case OpKind::Reduce: return set(r, op, reduce(op, tile(r, operand(0)), options.rounding));
        case OpKind::Load: {
            checker.access({instance, team.alone, phase, &op});
            const Tile *otherwise = op.has("or") ? &tile(r, op.operands.back()) : nullptr;
            return set(r, op, memory.load(op, r, indicesOf(op, r, 1, otherwise ? 1 : 0), otherwise));
        }
        default: return; // declarations; the verifier lets nothing else stand here
        }
    }

    std::vector<Item> indicesOf(const Op &op, int64_t r, size_t from, size_t behind) {
        std::vector<Item> out;
        for (size_t n = from; n + behind < op.operands.size(); ++n) out.push_back(get(r, op.operands[n]));
        return out;
    }

    // A private tensor gets the value of each rank. To any other all ranks store the same, which happens
    // once.
    void store(const Op &op, Team team) {
        const Tensor &t = memory.tensor(*op.operands[1]->def);
        int64_t last = t.isPrivate() ? team.last : team.first + 1;
        if (checker.enabled() && !t.isPrivate()) {
            if (team.parted) checker.notUniform(t, op, "a loop around it has other bounds on other ranks");
            for (int64_t r = team.first + 1; r < team.last; ++r) sameEverywhere(op, t, team.first, r);
        }
        for (int64_t r = team.first; r < last; ++r) {
            checker.access({instance, team.alone, phase, &op});
            memory.store(op, r, indicesOf(op, r, 2, 0), tile(r, op.operands[0]));
        }
    }

    void sameEverywhere(const Op &op, const Tensor &t, int64_t a, int64_t b) {
        for (size_t n = 2; n < op.operands.size(); ++n) {
            const Item &x = get(a, op.operands[n]), &y = get(b, op.operands[n]);
            auto *rx = std::get_if<Range>(&x);
            auto *ry = std::get_if<Range>(&y);
            bool same = rx ? rx->begin == ry->begin && rx->end == ry->end
                           : sameBits(*std::get<TileRef>(x), *std::get<TileRef>(y));
            if (!same)
                return checker.notUniform(
                    t, op, fmt::format("index {} differs between ranks {} and {}", n - 2, a, b));
        }
        const Tile &x = tile(a, op.operands[0]), &y = tile(b, op.operands[0]);
        if (sameBits(x, y)) return;
        for (size_t p = 0; p < std::max(x.f.size(), x.i.size()); ++p) {
            std::string u = x.f.empty() ? std::to_string(x.i[p]) : fmt::format("{}", x.f[p]);
            std::string v = x.f.empty() ? std::to_string(y.i[p]) : fmt::format("{}", y.f[p]);
            if (u != v)
                return checker.notUniform(
                    t, op, fmt::format("the value is {} on rank {} and {} on rank {}", u, a, v, b));
        }
    }
};

} // namespace

Tensor *Launch::find(std::string_view name) {
    for (Tensor &t : tensors)
        if (t.name == name) return &t;
    return nullptr;
}

bool prepare(const Op &kernel, Launch &l, Diagnostics &d) {
    bool ok = true;
    auto bad = [&](const Op &op, std::string what) {
        d.report(op.loc.valid() ? op.loc : op.text, Diag::RunArgument, kernel.symbol, what);
        ok = false;
    };
    if (l.ranks < 1) bad(kernel, fmt::format("{} ranks", l.ranks));
    for (const std::string &s : kernel.names("sizes")) {
        auto it = l.sizes.find(s);
        if (it == l.sizes.end())
            bad(kernel, fmt::format("no value for size `{}`", s));
        else if (it->second < 0)
            bad(kernel, fmt::format("size `{}` is {}", s, it->second));
    }
    if (!ok) return false;
    ir::Expr::Env env = environment(kernel, l);
    l.tensors.clear();
    for (auto &op : kernel.body().ops) {
        if (op->kind == OpKind::Param && !l.scalars.contains(op->name()))
            bad(*op, fmt::format("no value for parameter `{}`", op->name()));
        if (op->kind == OpKind::Require && op->expr("cond").evaluate(env).value_or(0) == 0) {
            std::string with;
            for (const std::string &s : op->expr("cond").symbols())
                with += fmt::format("{}{} = {}", with.empty() ? "" : ", ", s, env(s).value_or(0));
            d.report(op->loc.valid() ? op->loc : op->text, Diag::RunRequire, op->str("text"), with);
            ok = false;
        }
        if (op->kind != OpKind::Tensor) continue;
        auto t = declare(*op, l.ranks, env);
        if (!t)
            bad(*op, fmt::format("tensor `{}` has a negative extent", op->name()));
        else if (op->name("mode") != "local") {
            t->poison();
            l.tensors.push_back(std::move(*t));
        }
    }
    return ok;
}

bool run(const Op &kernel, Launch &l, const Options &options, Diagnostics &d) {
    return Runner(kernel, l, options, d).run();
}

} // namespace tdl::interp
