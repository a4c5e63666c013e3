// Statements of stages and loops. A variable is whatever value it has now: an assignment only rebinds its
// name; loops make block arguments of the outer variables that they assign (loop.cpp).
//
//     acc: f32[i, j] = 0       %0 = const(value = 0.0) : f32;  %acc = broadcast %0, %i, %j : f32[i, j]
//     h = X[i] + R[i]          %h = add %1, %2 : f32[i]
//     C[i, j] = acc            cast, store
#include "sema/lower.h"
#include "syntax/print.h"
#include <algorithm>

namespace tdl::sema {

namespace {

void giveHint(const Term &t, const std::string &name) {
    if (t.is(TermKind::Value) && t.value->hint.empty()) t.value->hint = name;
}

ir::Type typeOf(const Term &t) {
    return ir::Type::tile(elemOf(t), axesOf(t));
}

// A literal gets a type of its own when it gets a name.
Term settled(Context &ctx, const Term &t) {
    if (t.isInt()) return Term::size(t.loc, t.symbol());
    return t.is(TermKind::Literal) ? Term::of(t.loc, toValue(ctx, t)) : t;
}

void declareVariable(Context &ctx, const ast::Name &name, Term t) {
    t = settled(ctx, t);
    giveHint(t, name.text);
    Symbol *s = ctx.scopes.declare(name, SymbolKind::Variable, t);
    if (s && !t.isError() && !t.is(TermKind::Domain)) s->type = typeOf(t);
}

Term accumulated(Context &ctx, const Term &old, ast::AssignOp op, const Term &v, Loc loc) {
    if (op == ast::AssignOp::Set) return v;
    if (op == ast::AssignOp::Add) return binary(ctx, loc, ast::BinaryOp::Add, old, v);
    return least(ctx, loc, old, v, op == ast::AssignOp::Max);
}

// An error leaves the old value, which has the right type: what follows can be checked.
void assignVariable(Context &ctx, Symbol &s, const ast::Target &target, ast::AssignOp op, const Term &v,
                    Loc loc) {
    if (v.isError()) return;
    if (s.term.is(TermKind::Domain)) {
        ctx.report(target.loc, Diag::NotAssignable, s.name, "what a loop runs over")
            .note(s.loc, "declared here");
        return;
    }
    Term next = accumulated(ctx, s.term, op, v, loc);
    if (next.isError()) return;
    bool scalar = s.type == ir::Type::scalar(Elem::I64);
    if (next.isSymbolic() && scalar) {
        s.term = settled(ctx, next);
        return;
    }
    ir::Value *fitted = fitTile(ctx, next, target.name, s.type);
    if (!fitted) return;
    Bounds bounds = next.bounds;
    s.term = Term::of(target.loc, fitted);
    if (scalar) s.term.bounds = bounds;
    giveHint(s.term, s.name);
}

void assignName(Context &ctx, const ast::Assign &a, Loc loc) {
    const ast::Target &target = a.targets[0];
    Symbol *s = ctx.scopes.peek(target.name.text);
    if (!s) {
        bool loops = ast::get<ast::Shard>(*a.value) || ast::get<ast::Slice>(*a.value);
        Term t = loops ? expression(ctx, *a.value) : value(ctx, *a.value);
        if (a.op != ast::AssignOp::Set) {
            ctx.report(target.loc, Diag::AccumulatesNew, target.name.text)
                .note(hint(target.loc),
                      fmt::format("declare it before: `{}: f32[...] = 0`", target.name.text));
            t = Term::error(target.loc);
        }
        declareVariable(ctx, target.name, t);
        return;
    }
    Term v = value(ctx, *a.value);
    if (s->broken) return;
    if (s->kind == SymbolKind::Variable) return assignVariable(ctx, *s, target, a.op, v, loc);
    auto said = ctx.report(target.loc, Diag::NotAssignable, s->name, describe(s->kind));
    said.note(s->loc, "declared here");
    if (s->kind == SymbolKind::Tensor)
        said.note(hint(target.loc),
                  fmt::format("its elements have an index per dimension: `{}[...] = ...`", s->name));
}

// Only a `fn` gives several values; there are none yet.
void assignSeveral(Context &ctx, const ast::Assign &a, Loc loc) {
    Term v = value(ctx, *a.value);
    if (!v.isError()) ctx.report(loc, Diag::TargetCount, a.targets.size(), print(*a.value));
    for (const ast::Target &t : a.targets)
        if (t.indices.empty() && !ctx.scopes.peek(t.name.text))
            ctx.scopes.declare(t.name, SymbolKind::Variable, Term::error(t.loc));
}

std::optional<ir::Type> tileType(Context &ctx, const ast::Type &type) {
    auto elem = elemType(ctx, type.elem);
    bool ok = elem.has_value();
    if (type.uniform) {
        ctx.report(*type.uniform, Diag::Placement, "uniform", "is for tensors, not for tiles");
        ok = false;
    }
    ir::Type out = ir::Type::scalar(elem.value_or(Elem::F32));
    for (const ast::Dim &d : type.dims) {
        const auto *n = ast::get<ast::NameRef>(*d.extent);
        if (!n || d.binder || d.axis) {
            ctx.report(d.loc, Diag::NotAxis, n && d.axis ? n->name + " @ " + d.axis->text : print(*d.extent),
                       "an expression")
                .note(hint(d.loc), "a tile names its axes: ranges, or sizes that are taken whole");
            ok = false;
            continue;
        }
        const Term *t = axis(ctx, {n->name, d.loc});
        if (!t) {
            ok = false;
            continue;
        }
        if (out.hasAxis(t->value->type.axes[0])) {
            ctx.report(d.loc, Diag::AxisAgain, n->name);
            ok = false;
        }
        out.axes.push_back(t->value->type.axes[0]);
    }
    if (!ok) return std::nullopt;
    return out;
}

void declareTile(Context &ctx, const ast::Decl &d) {
    auto type = tileType(ctx, d.type);
    Term init = value(ctx, *d.init);
    for (const ast::Name &name : d.names) {
        ir::Value *v = type && !init.isError() ? fitTile(ctx, init, name, *type) : nullptr;
        Term t = Term::of(name.loc, v);
        giveHint(t, name.text);
        if (v && *type == ir::Type::scalar(Elem::I64)) t.bounds = boundsOf(init);
        Symbol *s = ctx.scopes.declare(name, SymbolKind::Variable, t);
        if (!s || !type) continue;
        s->type = *type;
    }
}

} // namespace

void statements(Context &ctx, const std::vector<ast::Stmt> &list) {
    struct Visitor {
        Context &ctx;
        Loc loc;
        void operator()(const ast::Decl &d) { declareTile(ctx, d); }
        void operator()(const ast::Assign &a) {
            if (a.targets.size() > 1)
                assignSeveral(ctx, a, loc);
            else if (!a.targets[0].indices.empty())
                store(ctx, a.targets[0], a.op, *a.value);
            else
                assignName(ctx, a, loc);
        }
        void operator()(const ast::For &f) { loop(ctx, f, loc); }
        void operator()(const ast::Return &) { ctx.report(loc, Diag::ReturnOutside); }
        void operator()(const ast::Scatter &) { ctx.report(loc, Diag::NotBuilt, "`scatter`"); }
    };
    for (const ast::Stmt &s : list) std::visit(Visitor{ctx, s.loc}, s.node);
}

} // namespace tdl::sema
