// Makes terms.
#include "sema/term.h"

namespace tdl::sema {

Bounds Bounds::moved(const ir::Expr &by) const {
    Bounds out = *this;
    for (ir::Expr &e : out.low) e = e + by;
    for (ir::Expr &e : out.high) e = e + by;
    return out;
}

Term Term::error(Loc l) {
    Term t;
    t.loc = l;
    return t;
}

Term Term::literal(Loc l, Number n) {
    Term t;
    t.kind = TermKind::Literal;
    t.loc = l;
    t.number = n;
    return t;
}

Term Term::size(Loc l, ir::Expr e, int weight) {
    Term t;
    t.kind = TermKind::Size;
    t.loc = l;
    t.expr = std::move(e);
    t.weight = weight;
    return t;
}

Term Term::of(Loc l, ir::Value *v) {
    Term t;
    t.kind = v ? TermKind::Value : TermKind::Error;
    t.loc = l;
    t.value = v;
    return t;
}

Bounds boundsOf(const Term &t) {
    if (!t.isSymbolic()) return t.kind == TermKind::Value ? t.bounds : Bounds{};
    return {{t.symbol()}, {t.symbol() + 1}};
}

} // namespace tdl::sema
