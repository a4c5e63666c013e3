// Who writes an element, and who may read it: within a stage it is written by one instance, once, and if it
// is written it is read there by that instance only, before. Reported is what is certain; the rest is left to
// --check.
//
//     for i in M by 64, j in N by 64 { Y[i] = .. }     every `j` would write the same elements of `Y`
//     for i in M { X[i] = X[i - 1] or 0 }              `X` is read where another instance writes it
#include "sema/analysis.h"
#include "sema/shape.h"
#include <algorithm>

namespace tdl::sema {

namespace {

using ir::Block;
using ir::Expr;
using ir::Op;
using ir::OpKind;
using ir::Value;

struct Access {
    const Op *op;
    bool store;
    const Tensor *tensor;
    std::vector<const Value *> indices;
    std::vector<IndexShape> shapes;
    std::vector<const Value *> loops; // that bind something around it, outermost first
};

/// Of two indices of one dimension: are they equal, do both reach some element, or none?
enum class Relation : uint8_t {
    Same,
    Overlap,
    Ahead,
    Disjoint,
    Unknown
}; // Ahead: the second reads further on

class Writers {
public:
    explicit Writers(Context &c) : ctx(c) {}

    void run(const Op &s) {
        stage = &s;
        accesses.clear();
        std::vector<const Value *> loops;
        for (auto &a : s.body().args) loops.push_back(a.get());
        collect(s.body(), loops);
        for (size_t i = 0; i < accesses.size(); ++i) {
            if (!accesses[i].store || !everyLoopCounts(accesses[i])) continue;
            for (size_t j = 0; j < accesses.size(); ++j) {
                if (i == j || accesses[i].tensor != accesses[j].tensor) continue;
                if (!accesses[j].store)
                    read(accesses[i], accesses[j]);
                else if (i < j)
                    twoStores(accesses[i], accesses[j]);
            }
        }
    }

private:
    Context &ctx;
    const Op *stage = nullptr;
    std::vector<Access> accesses; // in program order

    void collect(const Block &b, std::vector<const Value *> &loops) {
        for (auto &op : b.ops) {
            if (op->kind == OpKind::For) {
                loops.push_back(op->body().args[0].get());
                collect(op->body(), loops);
                loops.pop_back();
            }
            if (op->kind != OpKind::Load && op->kind != OpKind::Store) continue;
            size_t first = op->kind == OpKind::Store ? 2 : 1;
            Access a{op.get(), op->kind == OpKind::Store, &ctx.tensorOf(op->operands[first - 1]), {}, {},
                     loops};
            for (size_t i = 0; i < a.tensor->dims.size(); ++i) {
                a.indices.push_back(op->operands[first + i]);
                a.shapes.push_back(shapeOf(a.indices.back()));
            }
            accesses.push_back(std::move(a));
        }
    }

    const std::string &labelOf() const { return stage->symbol; }
    Loc placeOf(const Value *loop) const { return ctx.axes.at(loopOf(loop).spec->name).loc; }
    std::string nameOf(const Value *loop) const { return ctx.axisSource(loopOf(loop).spec->name); }

    // At most one turn (on a rank, of a tensor of its own).
    bool once(const Value *loop, const Tensor &t) const {
        const ir::LoopSpec &l = *loopOf(loop).spec;
        if (ctx.facts.atLeast(1, l.extent)) return true;
        return l.dist && t.isPrivate() && ctx.facts.equal(l.extent, Expr::sym("ranks"));
    }

    bool everyLoopCounts(const Access &a) {
        for (const Value *loop : a.loops) {
            auto feeds = [&](const Value *v) { return dependsOn(v, loop); };
            if (once(loop, *a.tensor) || std::any_of(a.indices.begin(), a.indices.end(), feeds)) continue;
            auto said = ctx.report(a.op->loc, Diag::SameElement, nameOf(loop), a.tensor->name);
            said.note(placeOf(loop), fmt::format("`{}` is no index of the store", nameOf(loop)));
            if (!loopOf(loop).header())
                said.note(hint(a.op->loc), "accumulate in a tile and store it behind the loop");
            return false;
        }
        return true;
    }

    Relation relation(const Access &a, const Access &b, size_t d) const {
        const IndexShape &x = a.shapes[d], &y = b.shapes[d];
        if (a.indices[d] == b.indices[d]) return Relation::Same;
        if (x.kind == IndexShape::Other || y.kind == IndexShape::Other) return Relation::Unknown;
        bool own = a.tensor->isPrivate();
        if (x.kind == IndexShape::Constant && y.kind == IndexShape::Constant) {
            if (ctx.facts.equal(x.offset, y.offset)) return Relation::Same;
            bool apart =
                ctx.facts.atLeast(x.offset, y.offset + 1) || ctx.facts.atLeast(y.offset, x.offset + 1);
            return apart ? Relation::Disjoint : Relation::Unknown;
        }
        if (x.kind == IndexShape::Axis && y.kind == IndexShape::Axis && x.root == y.root) {
            if (ctx.facts.equal(x.offset, y.offset)) return Relation::Same;
            // `Y[i]` and `Y[i + 4]` for i in 4: moved by all that the loop runs over.
            Expr extent = x.root->def ? x.root->def->expr("extent") : loopOf(x.root).spec->extent;
            if (ctx.facts.atLeast(x.offset, y.offset + extent) ||
                ctx.facts.atLeast(y.offset, x.offset + extent))
                return Relation::Disjoint;
            return ctx.facts.atLeast(y.offset, x.offset + 1) ? Relation::Ahead : Relation::Overlap;
        }
        auto whole = [&](const IndexShape &s) {
            return s.kind == IndexShape::Axis && s.offset.isConst(0) &&
                   covers(ctx.facts, s.root, a.tensor->dims[d].extent, own);
        };
        return whole(x) || whole(y) ? Relation::Overlap : Relation::Unknown;
    }

    void twoStores(const Access &a, const Access &b) {
        for (size_t d = 0; d < a.indices.size(); ++d) {
            Relation r = relation(a, b, d);
            if (r == Relation::Disjoint || r == Relation::Unknown) return;
        }
        ctx.report(b.op->loc, Diag::TwoStores, a.tensor->name, labelOf())
            .note(a.op->loc, "the other store is here");
    }

    void read(const Access &w, const Access &r) {
        bool others = false, otherTurn = false, ahead = false;
        for (size_t d = 0; d < w.indices.size(); ++d) {
            Relation rel = relation(w, r, d);
            if (rel == Relation::Disjoint || rel == Relation::Unknown) return;
            if (rel == Relation::Same) continue;
            const Value *root = w.shapes[d].kind == IndexShape::Axis ? w.shapes[d].root : nullptr;
            if (!sameInstance(w.shapes[d], r.shapes[d])) others = true;
            bool shared = root && std::find(r.loops.begin(), r.loops.end(), root) != r.loops.end();
            if (rel == Relation::Ahead && shared)
                ahead = true;
            else if (shared)
                otherTurn = true;
        }
        if (others) {
            ctx.report(r.op->loc, Diag::ReadsOthers, w.tensor->name, labelOf())
                .note(w.op->loc, "written here")
                .note(hint(r.op->loc), "read it in a later stage, or write to another tensor");
        } else if (otherTurn || (!ahead && behind(*r.op, *w.op))) {
            ctx.report(r.op->loc, Diag::ReadsAfter, w.tensor->name)
                .note(w.op->loc, "written here")
                .note(hint(r.op->loc), "use the value that was stored, or read it in a later stage");
        }
    }

    // Is what the indices have in common of one instance? Not if they follow a header loop differently.
    static bool sameInstance(const IndexShape &a, const IndexShape &b) {
        const Value *x = a.root ? headerOf(a.root) : nullptr, *y = b.root ? headerOf(b.root) : nullptr;
        return x == y && (!x || (a.offset.isConst(0) && b.offset.isConst(0)));
    }

    // Does `a` run behind `b`, in the block that has both?
    static bool behind(const Op &a, const Op &b) {
        std::vector<const Op *> above;
        for (const Op *p = &b; p->kind != OpKind::Stage; p = p->parent->parent) above.push_back(p);
        for (const Op *p = &a; p->kind != OpKind::Stage; p = p->parent->parent)
            for (const Op *q : above)
                if (p->parent == q->parent) {
                    for (auto &op : p->parent->ops) {
                        if (op.get() == q) return true;
                        if (op.get() == p) return false;
                    }
                }
        return false;
    }
};

} // namespace

void checkWriters(Context &ctx, const Op &kernel) {
    Writers writers(ctx);
    for (auto &op : kernel.body().ops)
        if (op->kind == OpKind::Stage) writers.run(*op);
}

} // namespace tdl::sema
