#include "tile/verify.h"
#include "ir/verify.h"
#include <algorithm>
#include <map>
#include <set>

namespace tdl::tile {
namespace {

using namespace ir;

/// What may stand directly in a block: of the module, of a kernel, of a stage or of a loop.
enum class Place { Module, Kernel, Stage, Loop };

bool mayStand(OpKind k, Place p) {
    switch (k) {
    case OpKind::Kernel: return p == Place::Module;
    case OpKind::Tensor:
    case OpKind::Param:
    case OpKind::Require:
    case OpKind::Stage: return p == Place::Kernel;
    case OpKind::Whole: return p == Place::Stage;
    case OpKind::Yield: return p == Place::Loop;
    default: return p == Place::Stage || p == Place::Loop;
    }
}

class KernelVerifier {
public:
    KernelVerifier(const Op &k, Diagnostics &d) : kernel(k), diags(d) {}

    bool run() {
        for (const std::string &s : kernel.names("sizes")) {
            sizes.insert(s);
            declare(kernel, s);
        }
        for (const Bind &b : kernel.binds("tiles")) {
            tiles.insert(b.name);
            if (b.value < 1)
                fail(kernel, Diag::TileLoop, b.name,
                     fmt::format("tile constant is {}, not 1 or more", b.value));
        }
        bool inStages = false;
        for (auto &op : kernel.body().ops) {
            if (!placed(*op, Place::Kernel)) continue;
            if (op->kind == OpKind::Stage)
                inStages = true;
            else if (inStages)
                fail(*op, Diag::TilePlace, op->info().text, "behind a stage");
            switch (op->kind) {
            case OpKind::Tensor: tensor(*op); break;
            case OpKind::Param: declare(*op, op->name()); break;
            case OpKind::Require: names(*op, op->expr("cond"), false); break;
            case OpKind::Stage: stage(*op); break;
            default: break;
            }
        }
        return ok;
    }

private:
    const Op &kernel;
    Diagnostics &diags;
    std::set<std::string> sizes, tiles;
    std::map<std::string, const Op *> declared, axes; // by name; loops and whole extents
    std::set<const Op *> written, writtenHere;        // tensors: by earlier stages, by this one
    bool ok = true;

    template <class... A> Diagnostics::Builder fail(const Op &op, Diag kind, A &&...args) {
        ok = false;
        return diags.report(placeOf(op), kind, std::forward<A>(args)...);
    }

    bool placed(const Op &op, Place p) {
        if (mayStand(op.kind, p)) return true;
        constexpr std::string_view where[] = {"at the top of a module", "in the block of a kernel",
                                              "in the block of a stage", "in a loop"};
        fail(op, Diag::TilePlace, op.info().text, where[static_cast<size_t>(p)]);
        return false;
    }

    void declare(const Op &op, const std::string &name) {
        auto [it, fresh] = declared.emplace(name, &op);
        if (!fresh) fail(op, Diag::TileDeclaredTwice, name).note(placeOf(*it->second), "first declared here");
    }

    void axis(const Op &op, const std::string &name) {
        auto [it, fresh] = axes.emplace(name, &op);
        if (!fresh) fail(op, Diag::TileAxisName, name).note(placeOf(*it->second), "first introduced here");
    }

    void names(const Op &op, const Expr &e, bool by) {
        for (const std::string &s : e.symbols())
            if (s != "ranks" && !sizes.contains(s) && !(by && tiles.contains(s)))
                fail(op, Diag::TileName, s, e.str(), by ? ", `ranks` or a tile constant" : " or `ranks`");
    }

    void tensor(const Op &op) {
        declare(op, op.name());
        const std::string &mode = op.name("mode");
        if (mode != "in" && mode != "out" && mode != "inout" && mode != "local")
            fail(op, Diag::TileTensor, op.name(),
                 fmt::format("has mode `{}`, not in, out, inout or local", mode));
        auto dist = std::count_if(op.dims().begin(), op.dims().end(), [](const Dim &d) { return d.dist; });
        if (dist > 1) fail(op, Diag::TileTensor, op.name(), "has more than one distributed dimension");
        if (dist > 0 && op.has("uniform"))
            fail(op, Diag::TileTensor, op.name(), "is both uniform and distributed");
        for (const Dim &d : op.dims()) names(op, d.extent, false);
        if (mode == "in" || mode == "inout") written.insert(&op);
    }

    void spec(const Op &op, const LoopSpec &l) {
        axis(op, l.name);
        names(op, l.extent, false);
        if (l.sliced) {
            names(op, l.lo, false);
            names(op, l.hi, false);
        }
        if (l.isRange) {
            names(op, l.by, true);
            if (l.by.isConst() && l.by.value() < 1)
                fail(op, Diag::TileLoop, l.name, fmt::format("ranges of at most {} indices", l.by.value()));
        }
    }

    // ---- Stages
    // ------------------------------------------------------------------------------------------------------
    void stage(const Op &op) {
        const auto &loops = op.loops();
        const auto &args = op.body().args;
        bool distributed = false;
        for (size_t i = 0; i < loops.size(); ++i) {
            spec(op, loops[i]);
            distributed |= loops[i].dist;
            Type want = loops[i].isRange ? Type::range(loops[i].name) : Type::scalar(Elem::I64);
            if (i < args.size() && args[i]->type != want)
                fail(op, Diag::TileStageArgs, op.symbol,
                     fmt::format("argument {} is {}, not {}", i, args[i]->type.str(), want.str()));
        }
        if (args.size() != loops.size())
            fail(op, Diag::TileStageArgs, op.symbol,
                 fmt::format("{} arguments for {} loops", args.size(), loops.size()));
        writtenHere.clear();
        block(op.body(), Place::Stage, distributed ? "in a stage over blocks of ranks" : "");
        written.insert(writtenHere.begin(), writtenHere.end());
    }

    // `alone`: why ranks are not all here together, empty if they are.
    void block(const Block &b, Place p, std::string_view alone) {
        for (auto &op : b.ops) {
            if (!placed(*op, p)) continue;
            switch (op->kind) {
            case OpKind::Whole:
                axis(*op, op->name("axis"));
                names(*op, op->expr("extent"), false);
                break;
            case OpKind::ExprOp: names(*op, op->expr("value"), false); break;
            case OpKind::ReduceRanks:
                if (!alone.empty()) fail(*op, Diag::TileReduceRanks, alone);
                break;
            case OpKind::Reduce:
                if (op->name("kind").starts_with("arg") && op->names("over").size() != 1)
                    fail(*op, Diag::TileArgReduce, op->name("kind"), op->names("over").size());
                break;
            case OpKind::Load: load(*op); break;
            case OpKind::Store: store(*op); break;
            case OpKind::For: loop(*op, alone); break;
            default: break;
            }
        }
    }

    void loop(const Op &op, std::string_view alone) {
        const LoopSpec &l = op.loop();
        spec(op, l);
        size_t own = 0;
        if (op.has("slice")) {
            own = 2;
            if (l.sliced) fail(op, Diag::TileLoop, l.name, "has a slice both as expressions and as operands");
        }
        if (op.has("within")) {
            ++own;
            if (l.dist) fail(op, Diag::TileLoop, l.name, "runs over a range and is distributed");
        }
        for (size_t i = 0; i < own; ++i) {
            bool range = op.has("within") && i + 1 == own;
            const Type &t = op.operands[i]->type;
            if (range ? !t.isRange() : t != Type::scalar(Elem::I64))
                fail(op, Diag::TileLoop, l.name,
                     fmt::format("operand {} is {}, not {}", i, t.str(), range ? "a range" : "an i64"));
        }
        const Attr *order = op.find("order");
        std::string_view kind = order ? std::string_view(op.name("order")) : "";
        if (order && kind != "accumulate" && kind != "recurrence" && kind != "any")
            fail(op, Diag::TileLoop, l.name,
                 fmt::format("order is `{}`, not accumulate, recurrence or any", kind));
        if (!order && !op.results.empty())
            fail(op, Diag::TileLoop, l.name, "carries values and needs an order");
        bool together = !l.isRange && !l.dist && l.extent.isConst() && !op.has("slice") &&
                        !op.has("within") && (!l.sliced || (l.lo.isConst() && l.hi.isConst())) &&
                        kind != "any";
        if (alone.empty() && !together) alone = "in a loop that is not a scalar one over a constant extent";
        block(op.body(), Place::Loop, alone);
    }

    // ---- Memory
    // ------------------------------------------------------------------------------------------------------
    void access(const Op &op, size_t at) {
        const Op &t = *op.operands[at]->def;
        std::set<std::string> seen;
        for (size_t i = at + 1; i < op.operands.size(); ++i) {
            const Type &index = op.operands[i]->type;
            if (index.isRange() && !seen.insert(index.axes[0]).second)
                fail(op, Diag::TileAxisAgain, index.axes[0], t.name());
        }
    }

    void load(const Op &op) {
        access(op, 0);
        const Op &t = *op.operands[0]->def;
        if (!written.contains(&t))
            fail(op, Diag::TileReadUnwritten, t.name(), t.name("mode")).note(placeOf(t), "declared here");
    }

    void store(const Op &op) {
        access(op, 1);
        const Op &t = *op.operands[1]->def;
        for (std::string_view a : {"at", "own"})
            if (op.has(a)) fail(op, Diag::TilePlace, a, "in a store of tile IR");
        if (t.name("mode") == "in") fail(op, Diag::TileStoreIn, t.name()).note(placeOf(t), "declared here");
        writtenHere.insert(&t);
    }
};

} // namespace

bool verify(const Module &m, Diagnostics &d) {
    if (!verifyStructure(m, d)) return false;
    bool ok = true;
    for (auto &op : m.top.ops) {
        if (op->kind == OpKind::Kernel) {
            ok &= KernelVerifier(*op, d).run();
        } else {
            d.report(placeOf(*op), Diag::TilePlace, op->info().text, "at the top of a module");
            ok = false;
        }
    }
    return ok;
}

} // namespace tdl::tile
