#include "sema/facts.h"
#include <algorithm>
#include <set>

namespace tdl::sema {
namespace {

using ir::Expr;
using ir::ExprKind;

constexpr size_t kMostTerms = 64; // of a polynomial
constexpr size_t kMostFacts = 64; // about its atoms; pairs of them are tried

Polynomial constant(int64_t v) {
    Polynomial p;
    if (v != 0) p.terms[{}] = v;
    return p;
}

void add(Polynomial &p, const std::vector<std::string> &atoms, int64_t factor) {
    int64_t &c = p.terms[atoms];
    if (__builtin_add_overflow(c, factor, &c)) p.sound = false;
    if (c == 0) p.terms.erase(atoms);
}

Polynomial sum(Polynomial a, const Polynomial &b, int64_t sign) {
    a.sound &= b.sound;
    for (auto &[atoms, c] : b.terms) {
        int64_t factor;
        if (__builtin_mul_overflow(c, sign, &factor))
            a.sound = false;
        else
            add(a, atoms, factor);
    }
    if (a.terms.size() > kMostTerms) a.sound = false;
    return a;
}

Polynomial product(const Polynomial &a, const Polynomial &b) {
    Polynomial p;
    p.sound = a.sound && b.sound && a.terms.size() * b.terms.size() <= kMostTerms;
    if (!p.sound) return p;
    for (auto &[x, c] : a.terms)
        for (auto &[y, d] : b.terms) {
            std::vector<std::string> atoms = x;
            atoms.insert(atoms.end(), y.begin(), y.end());
            std::sort(atoms.begin(), atoms.end());
            int64_t factor;
            if (__builtin_mul_overflow(c, d, &factor))
                p.sound = false;
            else
                add(p, atoms, factor);
        }
    return p;
}

std::string text(const Polynomial &p) {
    std::string s;
    for (auto &[atoms, c] : p.terms) {
        s += std::to_string(c);
        for (const std::string &a : atoms) s += "*" + a;
        s += ";";
    }
    return s;
}

/// Brings expressions into normal form and learns what it can about the atoms that it meets.
class Normal {
public:
    std::vector<Polynomial> facts; // each >= 0

    Polynomial operator()(const Expr &e) {
        switch (e.kind()) {
        case ExprKind::Const: return constant(e.value());
        case ExprKind::Sym: return symbol(e.name());
        case ExprKind::Add: return sum((*this)(e.lhs()), (*this)(e.rhs()), 1);
        case ExprKind::Sub: return sum((*this)(e.lhs()), (*this)(e.rhs()), -1);
        case ExprKind::Mul: return product((*this)(e.lhs()), (*this)(e.rhs()));
        case ExprKind::Not: {
            Polynomial a = (*this)(e.lhs());
            return atom("!(" + text(a) + ")", true, a.sound);
        }
        default: return opaque(e.kind(), (*this)(e.lhs()), (*this)(e.rhs()));
        }
    }

    bool nonNegative(const Polynomial &p) const {
        return p.sound && std::all_of(p.terms.begin(), p.terms.end(), [&](auto &t) {
                   return t.second > 0 && std::all_of(t.first.begin(), t.first.end(),
                                                      [&](auto &a) { return positive.contains(a); });
               });
    }

    /// Is p >= 0, by itself or as a sum of a fact (or two) and something that is?
    bool shown(const Polynomial &p) const {
        if (nonNegative(p)) return true;
        for (const Polynomial &f : facts) {
            Polynomial rest = sum(p, f, -1);
            if (nonNegative(rest)) return true;
            for (const Polynomial &g : facts)
                if (nonNegative(sum(rest, g, -1))) return true;
        }
        return false;
    }

private:
    std::set<std::string> positive;             // atoms that are >= 0
    std::map<std::string, std::string> numbers; // short names of atoms, so that names in names stay short

    Polynomial atom(const std::string &meaning, bool notNegative, bool sound = true) {
        std::string name = numbers.emplace(meaning, "#" + std::to_string(numbers.size())).first->second;
        if (notNegative) positive.insert(name);
        Polynomial p;
        p.terms[{std::move(name)}] = 1;
        p.sound = sound;
        return p;
    }

    // `ranks` is 1 and something.
    Polynomial symbol(const std::string &name) {
        if (name != "ranks") return atom(name, true);
        return sum(atom("ranks - 1", true), constant(1), 1);
    }

    static std::optional<int64_t> value(const Polynomial &p) {
        if (!p.sound || p.terms.size() > 1) return std::nullopt;
        if (p.terms.empty()) return 0;
        if (!p.terms.begin()->first.empty()) return std::nullopt;
        return p.terms.begin()->second;
    }

    Polynomial opaque(ExprKind k, Polynomial a, Polynomial b) {
        auto x = value(a), y = value(b);
        if (x && y) return constant(ir::apply(k, *x, *y));
        bool division = k == ExprKind::Div || k == ExprKind::Ceil;
        if (division && y && *y > 0 &&
            std::all_of(a.terms.begin(), a.terms.end(), [&](auto &t) { return t.second % *y == 0; })) {
            for (auto &[atoms, c] : a.terms) c /= *y;
            return a;
        }
        std::string left = text(a), right = text(b);
        if ((k == ExprKind::Min || k == ExprKind::Max) && right < left) {
            std::swap(a, b);
            std::swap(left, right);
        }
        std::string name = std::string(ir::spelling(k)) + "(" + left + ", " + right + ")";
        bool sound = a.sound && b.sound;
        if (!sound) return atom(name, false, false);
        bool up = nonNegative(a), down = nonNegative(b), divides = nonNegative(sum(b, constant(1), -1));
        auto make = [&](bool notNegative) { return atom(name, notNegative); };
        auto learn = [&](const Polynomial &greater, const Polynomial &less) {
            if (facts.size() < kMostFacts) facts.push_back(sum(greater, less, -1));
        };
        switch (k) {
        case ExprKind::Div:
        case ExprKind::Ceil: {
            Polynomial q = make(up && divides);
            if (!up || !divides) return q;
            Polynomial back = product(q, b), slack = sum(b, constant(1), -1);
            if (k == ExprKind::Div) {
                learn(a, back);
                learn(a, q);
                learn(sum(back, slack, 1), a);
            } else {
                learn(back, a);
                learn(a, q);
                learn(sum(a, slack, 1), back);
            }
            return q;
        }
        case ExprKind::Mod: {
            Polynomial m = make(up && divides);
            if (!up || !divides) return m;
            learn(sum(b, constant(1), -1), m);
            learn(a, m);
            return m;
        }
        case ExprKind::Min: {
            Polynomial m = make(up && down);
            learn(a, m);
            learn(b, m);
            return m;
        }
        case ExprKind::Max: {
            Polynomial m = make(up || down);
            learn(m, a);
            learn(m, b);
            return m;
        }
        default: return make(true); // a truth value
        }
    }
};

} // namespace

void Facts::assume(const Expr &c) {
    switch (c.kind()) {
    case ExprKind::And:
        assume(c.lhs());
        assume(c.rhs());
        return;
    case ExprKind::Eq:
        known.push_back(c.lhs() - c.rhs());
        known.push_back(c.rhs() - c.lhs());
        return;
    case ExprKind::Le: known.push_back(c.rhs() - c.lhs()); return;
    case ExprKind::Ge: known.push_back(c.lhs() - c.rhs()); return;
    case ExprKind::Lt: known.push_back(c.rhs() - c.lhs() - 1); return;
    case ExprKind::Gt: known.push_back(c.lhs() - c.rhs() - 1); return;
    default: return;
    }
}

bool Facts::atLeast(const Expr &a, const Expr &b) const {
    if (a == b) return true;
    Normal normal;
    Polynomial difference = sum(normal(a), normal(b), -1);
    if (normal.nonNegative(difference)) return true;
    for (const Expr &e : known) normal.facts.push_back(normal(e));
    return normal.shown(difference);
}

bool Facts::equal(const Expr &a, const Expr &b) const {
    if (a == b) return true;
    Normal normal;
    Polynomial difference = sum(normal(a), normal(b), -1);
    if (difference.sound && difference.terms.empty()) return true;
    return !known.empty() && atLeast(a, b) && atLeast(b, a);
}

} // namespace tdl::sema
