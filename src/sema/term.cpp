// Makes terms.
#include "sema/term.h"

namespace tdl::sema {

ir::Expr plus(const ir::Expr &e, const ir::Expr &n) {
    using ir::ExprKind;
    if (!n.isConst()) return e + n;
    int64_t v = n.value();
    bool sum = e.kind() == ExprKind::Add, difference = e.kind() == ExprKind::Sub;
    if ((sum || difference) && e.rhs().isConst()) {
        int64_t old = e.rhs().value();
        v = ir::apply(sum ? ExprKind::Add : ExprKind::Sub, v, old);
        return plus(e.lhs(), v);
    }
    return v < 0 && v != INT64_MIN ? e - -v : e + v;
}

Bounds Bounds::moved(const ir::Expr &by) const {
    Bounds out = *this;
    for (ir::Expr &e : out.low) e = sema::plus(e, by);
    for (ir::Expr &e : out.high) e = sema::plus(e, by);
    return out;
}

Bounds Bounds::plus(const Bounds &o) const {
    constexpr size_t most = 8; // of what is known of each side, a few facts are enough
    Bounds out;
    for (size_t i = 0; i < low.size() * o.low.size() && i < most; ++i)
        out.low.push_back(sema::plus(low[i / o.low.size()], o.low[i % o.low.size()]));
    for (size_t i = 0; i < high.size() * o.high.size() && i < most; ++i)
        out.high.push_back(sema::plus(sema::plus(high[i / o.high.size()], o.high[i % o.high.size()]), -1));
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
    return {{t.symbol()}, {plus(t.symbol(), 1)}};
}

} // namespace tdl::sema
