// A difference is kept as a polynomial: a sum of products of atoms, an atom being a symbol or anything that is not
// `+ - *`. Equal terms cancel; what remains is bounded by replacing min and max by their operands:
//
//     c min(a, b) <= c a and c b                    for c > 0, likewise max for c < 0: the lesser bound counts
//     c max(a, b) <= the greater of c a and c b     likewise min for c < 0: both bounds are needed
//     min(a, b) - min(c, d) <= max(a - c, b - d)    likewise max; b and d may change places
#include "kernel/bounds.h"
#include <algorithm>
#include <map>

namespace tdl::kernel {
using namespace ir;
namespace {

using Monomial = std::vector<std::string>; // texts of its atoms, sorted
struct Poly {
    std::map<Monomial, int64_t> terms; // no zeros; the empty product is the constant
    std::map<std::string, Expr> atoms;
};

constexpr int kSteps = 200; // a limit of work, for expressions nobody writes
constexpr size_t kTerms = 64;

void add(Poly &p, const Poly &q, int64_t factor) {
    for (auto &[m, c] : q.terms) {
        int64_t sum = apply(ExprKind::Add, p.terms[m], apply(ExprKind::Mul, c, factor));
        if (sum)
            p.terms[m] = sum;
        else
            p.terms.erase(m);
    }
    p.atoms.insert(q.atoms.begin(), q.atoms.end());
}

Poly poly(const Expr &e) {
    Poly p;
    switch (e.kind()) {
    case ExprKind::Const:
        if (e.value()) p.terms[{}] = e.value();
        return p;
    case ExprKind::Add:
    case ExprKind::Sub:
        p = poly(e.lhs());
        add(p, poly(e.rhs()), e.kind() == ExprKind::Add ? 1 : -1);
        return p;
    case ExprKind::Mul: {
        Poly a = poly(e.lhs()), b = poly(e.rhs());
        if (a.terms.size() * b.terms.size() > kTerms) break;
        for (auto &[m, c] : a.terms)
            for (auto &[n, d] : b.terms) {
                Monomial both = m;
                both.insert(both.end(), n.begin(), n.end());
                std::sort(both.begin(), both.end());
                Poly one;
                one.terms[both] = apply(ExprKind::Mul, c, d);
                add(p, one, 1);
            }
        p.atoms.insert(a.atoms.begin(), a.atoms.end());
        p.atoms.insert(b.atoms.begin(), b.atoms.end());
        return p;
    }
    default: break;
    }
    p.terms[{e.str()}] = 1;
    p.atoms.emplace(e.str(), e);
    return p;
}

class Search {
public:
    explicit Search(const Known &k) : known(k) {}

    std::optional<Expr> bound(const Poly &p) {
        std::optional<Expr> best = closed(p);
        if ((best && best->isConst()) || --steps < 0 || p.terms.size() > kTerms) return best;
        auto lesser = [&](std::optional<Expr> b) {
            if (b && (!best || better(*b, *best))) best = b;
        };
        for (auto &[m, c] : p.terms) {
            const Expr *e = choice(p, m);
            if (!e) continue;
            bool isMin = e->kind() == ExprKind::Min;
            auto a = bound(replaced(p, m, e->lhs())), b = bound(replaced(p, m, e->rhs()));
            if (isMin == (c > 0)) {
                lesser(a);
                lesser(b);
            } else {
                lesser(greater(a, b));
            }
            for (auto &[n, d] : p.terms) {
                const Expr *f = choice(p, n);
                if (!f || f->kind() != e->kind() || c <= 0 || d != -c) continue;
                Poly rest = p;
                rest.terms.erase(m);
                rest.terms.erase(n);
                auto pair = [&, c = c, d = d](const Expr &x, const Expr &y) {
                    Poly q = rest;
                    add(q, poly(x), c);
                    add(q, poly(y), d);
                    return bound(q);
                };
                lesser(greater(pair(e->lhs(), f->lhs()), pair(e->rhs(), f->rhs())));
                lesser(greater(pair(e->lhs(), f->rhs()), pair(e->rhs(), f->lhs())));
            }
        }
        return best;
    }

private:
    const Known &known;
    int steps = kSteps;

    // The polynomial itself, if nothing in it is unknown.
    std::optional<Expr> closed(const Poly &p) const {
        Expr positive = 0, negative = 0;
        for (auto &[m, c] : p.terms) {
            Expr term = c < 0 ? -c : c;
            for (const std::string &a : m) {
                const Expr &atom = p.atoms.at(a);
                for (const std::string &s : atom.symbols())
                    if (!known(s)) return std::nullopt;
                term = term * atom;
            }
            (c < 0 ? negative : positive) = (c < 0 ? negative : positive) + term;
        }
        return positive - negative;
    }
    // A lesser constant, a constant rather than an expression, a shorter expression.
    static bool better(const Expr &a, const Expr &b) {
        if (a.isConst() && b.isConst()) return a.value() < b.value();
        if (a.isConst() || b.isConst()) return a.isConst();
        return a.str().size() < b.str().size();
    }
    /// a is max(c, ..) and b a constant of at most c.
    static bool covers(const Expr &a, const Expr &b) {
        if (!b.isConst() || a.kind() != ExprKind::Max) return false;
        return (a.lhs().isConst() && a.lhs().value() >= b.value()) ||
               (a.rhs().isConst() && a.rhs().value() >= b.value());
    }
    static std::optional<Expr> greater(const std::optional<Expr> &a, const std::optional<Expr> &b) {
        if (!a || !b) return std::nullopt;
        if (covers(*a, *b)) return a;
        return covers(*b, *a) ? b : max(*a, *b);
    }
    /// The min or max that is the whole monomial.
    static const Expr *choice(const Poly &p, const Monomial &m) {
        if (m.size() != 1) return nullptr;
        const Expr &e = p.atoms.at(m[0]);
        return e.kind() == ExprKind::Min || e.kind() == ExprKind::Max ? &e : nullptr;
    }
    static Poly replaced(const Poly &p, const Monomial &m, const Expr &e) {
        Poly out = p;
        out.terms.erase(m);
        add(out, poly(e), p.terms.at(m));
        return out;
    }
};

Poly difference(const Expr &a, const Expr &b) {
    Poly p = poly(a);
    add(p, poly(b), -1);
    return p;
}

} // namespace

std::optional<Expr> upperBound(const Expr &hi, const Expr &lo, const Known &known) {
    Poly p = difference(hi, lo);
    auto nothing = [](std::string_view) { return false; };
    if (auto constant = Search(nothing).bound(p)) return constant;
    return Search(known).bound(p);
}

bool neverExceeds(const Expr &a, const Expr &b) {
    auto bound = upperBound(a, b, [](std::string_view) { return false; });
    return bound && bound->value() <= 0;
}

} // namespace tdl::kernel
