// Axes, indices, loads and stores. An index is a range (moved by a number or not), a whole extent by its
// name, or an integer; it must be shown to lie inside its dimension unless `or` says what is outside.
//
//     A[i - 1, D] or 0     %D = whole(axis = D, extent = D) : range<D>          at the top of the stage, once
//                          %0 = shift %i, -1 : range<i>
//                          %1 = load %A[%0, %D], const 0 (or) : f32[i, D]
#include "sema/lower.h"
#include "syntax/print.h"
#include <algorithm>

namespace tdl::sema {

using ir::OpKind;
using ir::Type;

Term wholeAxis(Context &ctx, Symbol &s, Loc loc) {
    Term &t = ctx.wholeAxes[s.name];
    if (t.is(TermKind::Range)) return t;
    ir::Expr extent = s.term.symbol();
    std::string axis = ctx.freshAxis(s.name);
    auto op = std::make_unique<ir::Op>(OpKind::Whole, loc);
    op->set("axis", ir::Name{axis});
    op->set("extent", extent);
    op->parent = ctx.top;
    t.kind = TermKind::Range;
    t.loc = loc;
    t.value = op->addResult(Type::range(axis), axis);
    t.bounds = {{ir::Expr(0)}, {extent}};
    ctx.axes[axis] = {s.name, loc, t.value};
    ctx.top->ops.insert(ctx.top->ops.begin() + static_cast<std::ptrdiff_t>(ctx.wholes++), std::move(op));
    return t;
}

namespace {

bool takesWhole(const Symbol &s) {
    bool named = s.kind == SymbolKind::Size || s.kind == SymbolKind::Let || s.kind == SymbolKind::Const;
    return named && s.term.isSymbolic();
}

} // namespace

const Term *axis(Context &ctx, const ast::Name &n) {
    if (n.text == "ranks") {
        ctx.report(n.loc, Diag::RanksAxis).note(hint(n.loc), "write `for p in ranks` and use `p`");
        return nullptr;
    }
    Symbol *s = ctx.scopes.find(n.text);
    if (!s) {
        ctx.report(n.loc, Diag::UnknownName, n.text);
        return nullptr;
    }
    if (s->broken || s->term.isError()) {
        ctx.whole = false;
        return nullptr;
    }
    if (takesWhole(*s)) {
        wholeAxis(ctx, *s, n.loc);
        return &ctx.wholeAxes[n.text];
    }
    if (s->kind == SymbolKind::Loop && s->term.is(TermKind::Range)) return &s->term;
    ctx.report(n.loc, Diag::NotAxis, n.text,
               s->kind == SymbolKind::Loop ? "a loop index without `by`" : describe(s->kind))
        .note(s->loc, "declared here");
    return nullptr;
}

namespace {

struct Place {
    const Tensor *tensor = nullptr;
    std::vector<ir::Value *> indices;
    std::vector<std::string> axes;
};

Term moved(Context &ctx, Loc loc, Term range, ast::BinaryOp op, const Term &by) {
    bool back = op == ast::BinaryOp::Sub;
    range.loc = loc;
    if (by.isSymbolic()) {
        range.expr = plus(range.expr, back ? ir::Expr(0) - by.symbol() : by.symbol());
        return range;
    }
    ir::Value *n = toElem(ctx, by, Elem::I64);
    if (back) n = ctx.emit(OpKind::Neg, loc, {n}, n->type);
    range.value = ctx.emit(OpKind::Shift, loc, {range.value, n}, range.value->type);
    range.bounds = back ? Bounds{} : range.bounds.plus(boundsOf(by));
    return range;
}

bool isScalarInt(const Term &t) {
    return t.isSymbolic() || (t.is(TermKind::Value) && t.value->type.isScalar() && isInt(t.value->type.elem));
}

// Sums and differences of a range and integers stay a range; all else is an ordinary expression.
Term indexTerm(Context &ctx, const ast::Expr &e) {
    const auto *c = ast::get<ast::Chain>(e);
    if (!c || ast::level(c->ops[0]) != ast::level(ast::BinaryOp::Add)) return expression(ctx, e);
    Term t = indexTerm(ctx, *c->operands[0]);
    for (size_t i = 0; i < c->ops.size(); ++i) {
        const ast::Expr &operand = *c->operands[i + 1];
        Term u = indexTerm(ctx, operand);
        if (t.is(TermKind::Range) && isScalarInt(u))
            t = moved(ctx, e.loc, t, c->ops[i], u);
        else if (u.is(TermKind::Range) && isScalarInt(t) && c->ops[i] == ast::BinaryOp::Add)
            t = moved(ctx, e.loc, u, ast::BinaryOp::Add, t);
        else
            t = binary(ctx, e.loc, c->ops[i], asValue(ctx, *c->operands[0], t), asValue(ctx, operand, u));
    }
    return t;
}

// The whole of a dimension, if the index is the name of its extent.
Term wholeIndex(Context &ctx, const ast::Expr &e, const ir::Expr &extent) {
    const auto *n = ast::get<ast::NameRef>(e);
    Symbol *s = n ? ctx.scopes.find(n->name) : nullptr;
    if (s && takesWhole(*s) && ctx.facts.equal(s->term.symbol(), extent)) return wholeAxis(ctx, *s, e.loc);
    if (n && n->name == "ranks" && ctx.facts.equal(ir::Expr::sym("ranks"), extent)) {
        ctx.report(e.loc, Diag::RanksAxis).note(hint(e.loc), "write `for p in ranks` and use `p`");
        return Term::error(e.loc);
    }
    return indexTerm(ctx, e);
}

std::string shortest(const std::vector<ir::Expr> &bounds) {
    std::string s = bounds[0].str();
    for (const ir::Expr &e : bounds)
        if (e.str().size() < s.size()) s = e.str();
    return s;
}

bool inside(Context &ctx, const Tensor &t, const ir::Expr &extent, const ast::Expr &e, const Term &index,
            bool store) {
    Bounds b = index.is(TermKind::Range) ? index.bounds.moved(index.expr) : boundsOf(index);
    bool low = std::any_of(b.low.begin(), b.low.end(), [&](auto &x) { return ctx.facts.atLeast(x, 0); });
    bool high =
        std::any_of(b.high.begin(), b.high.end(), [&](auto &x) { return ctx.facts.atLeast(extent, x); });
    if (low && high) return true;
    auto said = ctx.report(e.loc, Diag::NotInside, print(e), extent.str(), t.name);
    if (b.low.empty() || b.high.empty())
        said.note(index.loc, "how far it goes is decided by data");
    else if (!low)
        said.note(index.loc, fmt::format("it may be as low as `{}`", shortest(b.low)));
    else
        said.note(index.loc, fmt::format("`{}` may be less than `{}`", extent.str(), shortest(b.high)));
    if (!store)
        said.note(hint(e.loc), fmt::format("write `{}[...] or v`, where v is the value outside", t.name));
    if (index.isSymbolic() && low)
        said.note(hint(e.loc),
                  fmt::format("`require {} >= {}` would say what is known", extent.str(), shortest(b.high)));
    return false;
}

std::optional<Place> place(Context &ctx, const Tensor &t, Loc loc, const std::vector<ast::ExprPtr> &indices,
                           bool store, bool mayLeave) {
    if (indices.size() != t.dims.size()) {
        ctx.report(loc, Diag::IndexCount, t.name, t.dims.size(), indices.size()).note(t.loc, "declared here");
        for (const auto &e : indices) expression(ctx, *e);
        return std::nullopt;
    }
    Place p;
    p.tensor = &t;
    bool ok = true;
    for (size_t d = 0; d < indices.size(); ++d) {
        const ast::Expr &e = *indices[d];
        const ir::Expr &extent = t.dims[d].extent;
        Term index = wholeIndex(ctx, e, extent);
        if (!index.is(TermKind::Range)) index = asValue(ctx, e, index);
        if (index.isError()) {
            ok = false;
            continue;
        }
        index.loc = e.loc;
        if (index.is(TermKind::Range)) {
            const std::string &axis = index.value->type.axes[0];
            if (std::find(p.axes.begin(), p.axes.end(), axis) != p.axes.end()) {
                ctx.report(e.loc, Diag::AxisTwice, ctx.axisSource(axis), t.name);
                ok = false;
                continue;
            }
            p.axes.push_back(axis);
        } else if (!isScalarInt(index)) {
            bool gather = isInt(elemOf(index));
            if (gather)
                ctx.report(e.loc, Diag::NotBuilt, "an index tile (gather)");
            else
                ctx.report(e.loc, Diag::WantsInteger, "an index", elemName(elemOf(index)));
            ok = false;
            continue;
        }
        if (!mayLeave && !inside(ctx, t, extent, e, index, store)) {
            ok = false;
            continue;
        }
        ir::Value *v = index.is(TermKind::Range) ? index.value : toElem(ctx, index, Elem::I64);
        if (index.is(TermKind::Range) && !index.expr.isConst(0))
            v = ctx.emit(OpKind::Shift, e.loc, {v, toElem(ctx, Term::size(e.loc, index.expr), Elem::I64)},
                         v->type);
        p.indices.push_back(v);
    }
    if (!ok) return std::nullopt;
    return p;
}

ir::Value *loadAt(Context &ctx, const Place &p, Loc loc, ir::Value *otherwise) {
    std::vector<ir::Value *> operands{p.tensor->value};
    operands.insert(operands.end(), p.indices.begin(), p.indices.end());
    auto axes = p.axes;
    std::vector<std::pair<std::string_view, ir::Attr>> attrs;
    if (otherwise) {
        operands.push_back(otherwise);
        axes = ir::unionAxes(axes, otherwise->type.axes);
        attrs.push_back({"or", ir::Flag{}});
    }
    return ctx.emit(OpKind::Load, loc, operands, Type::tile(p.tensor->elem, axes), attrs);
}

bool storeConverts(const Term &t, Elem to) {
    Elem from = elemOf(t);
    if (t.isInt() && isFloat(to)) return true;
    return elemClass(from) == elemClass(to);
}

// C[i, j] += e reads what is there, once.
Term accumulated(Context &ctx, const Place &p, const ast::Target &target, ast::AssignOp op, const Term &v) {
    if (op == ast::AssignOp::Set || v.isError()) return v;
    Term old = Term::of(target.loc, loadAt(ctx, p, target.loc, nullptr));
    if (op == ast::AssignOp::Add) return binary(ctx, v.loc, ast::BinaryOp::Add, old, v);
    return least(ctx, v.loc, old, v, op == ast::AssignOp::Max);
}

} // namespace

Term load(Context &ctx, const ast::Index &index, Loc loc, const ast::Expr *otherwise) {
    Term base = expression(ctx, *index.base);
    if (!base.is(TermKind::Tensor)) {
        if (!base.isError()) ctx.report(index.base->loc, Diag::NotIndexable, print(*index.base));
        return Term::error(loc);
    }
    const Tensor &t = *base.tensor;
    auto p = place(ctx, t, loc, index.indices, false, otherwise != nullptr);
    ir::Value *outside = nullptr;
    if (otherwise) {
        Term v = value(ctx, *otherwise);
        if (v.isError()) return v;
        if (!widens(v, t.elem)) {
            ctx.report(v.loc, Diag::Narrowing, t.name, elemName(t.elem), elemName(elemOf(v)))
                .note(t.loc, "declared here");
            return Term::error(loc);
        }
        if (!literalFits(ctx, v, t.elem)) return Term::error(loc);
        outside = toElem(ctx, v, t.elem);
    }
    if (!p) return Term::error(loc);
    return Term::of(loc, loadAt(ctx, *p, loc, outside));
}

void store(Context &ctx, const ast::Target &target, ast::AssignOp op, const ast::Expr &e) {
    Symbol *s = ctx.scopes.find(target.name.text);
    Term v = value(ctx, e);
    if (!s || s->kind != SymbolKind::Tensor) {
        if (!s)
            ctx.report(target.name.loc, Diag::UnknownName, target.name.text);
        else if (!s->broken)
            ctx.report(target.name.loc, Diag::NotIndexable, target.name.text).note(s->loc, "declared here");
        return;
    }
    if (s->broken) {
        ctx.whole = false;
        return;
    }
    const Tensor &t = *s->term.tensor;
    auto p = place(ctx, t, target.loc, target.indices, true, false);
    if (t.mode == "in") {
        ctx.report(target.loc, Diag::StoreToIn, t.name).note(t.loc, "declared here");
        return;
    }
    if (!p) return;
    v = accumulated(ctx, *p, target, op, v);
    if (v.isError()) return;
    if (!storeConverts(v, t.elem)) {
        ctx.report(v.loc, Diag::StoreType, t.name, elemName(t.elem), elemName(elemOf(v)))
            .note(t.loc, "declared here");
        return;
    }
    if (!literalFits(ctx, v, t.elem)) return;
    for (const std::string &a : axesOf(v))
        if (std::find(p->axes.begin(), p->axes.end(), a) == p->axes.end()) {
            ctx.report(v.loc, Diag::AxisDropped, ctx.axisSource(a), t.name).note(target.loc, "stored here");
            return;
        }
    std::vector<ir::Value *> operands{toElem(ctx, v, t.elem), t.value};
    operands.insert(operands.end(), p->indices.begin(), p->indices.end());
    ir::Builder(*ctx.block).op(OpKind::Store, target.loc, operands);
}

} // namespace tdl::sema
