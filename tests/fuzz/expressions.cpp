// Expressions whose axes are among those that are wanted. Loads make the tensors they need: an `in` tensor of any placement, unless one
// with suitable extents is there.
#include "generator.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tdl::fuzz {

using std::set;
using std::string;

string inBrackets(const Value &v) { return v.atom ? v.text : "(" + v.text + ")"; }

namespace {

constexpr double kMost = 1 << 21;

Value unite(const Value &a, const Value &b) {
    Value v;
    v.differs = a.differs || b.differs;
    v.bound = {std::max(a.bound.most, b.bound.most), std::max(a.bound.digits, b.bound.digits)};
    v.atom = false;
    v.literal = a.literal && b.literal;
    return v;
}

} // namespace

Value Generator::clamped(Class, Value v) {
    v.text = fmt::format("min(max({}, -2), 2)", v.text);
    v.bound.most = 2;
    v.atom = true;
    return v;
}

Value Generator::sized(Class cls, Value v) {
    double most = exact ? kMost : 64;
    if (cls == Class::Int) most = kMost;
    return v.bound.most * std::ldexp(1, v.bound.digits) > most ? clamped(cls, v) : v;
}

Value Generator::literal(Class cls) {
    Value v;
    v.literal = cls != Class::Bool;
    v.bound.most = 3;
    if (cls == Class::Bool) {
        v.text = chance(50) ? "true" : "false";
    } else if (cls == Class::Float && chance(25)) {
        v.text = chance(50) ? "0.5" : "0.25";
        v.bound = {0.5, 2};
    } else {
        v.text = std::to_string(below(4));
    }
    return v;
}

string Generator::index(const Binding &b, bool &needsOr) {
    if (!b.whole && chance(12)) {
        needsOr = true;
        return fmt::format("{} {} {}", b.name, chance(50) ? "-" : "+", 1 + below(3));
    }
    if (!b.range && chance(8)) {
        needsOr = true;
        return fmt::format("{} {} {}", b.name, chance(50) ? "*" : "%", 2 + below(2));
    }
    return b.name;
}

Value Generator::load(Class cls, const set<string> &axes, const string &must) {
    // What may be an index: scalars, and the ranges among the axes that are wanted.
    std::vector<Binding> usable;
    for (const Binding &b : scope)
        if (!b.range || axes.contains(b.name)) usable.push_back(b);
    auto isClass = [&](const Tensor &t) { return cls == Class::Bool ? t.elem == "bool" : cls == Class::Int ? t.elem == "i32" || t.elem == "i64" : t.elem != "bool" && t.elem[0] != 'i'; };
    bool same = sameOnly && !alone;

    std::vector<size_t> known;
    for (size_t n = 0; n < tensors.size(); ++n) {
        const Tensor &t = tensors[n];
        if (!t.defined || written.contains(n) || !isClass(t) || (same && !t.shared())) continue;
        known.push_back(n);
    }
    Tensor t;
    size_t number = tensors.size();
    std::vector<string> indices;
    bool needsOr = false, differs = false, found = false;
    for (int tries = 0; tries < 4 && !found && !known.empty() && (chance(60) || tensors.size() > 8); ++tries) {
        number = pick(known);
        t = tensors[number];
        indices.clear();
        needsOr = differs = false;
        set<string> used;
        found = true;
        for (size_t e : t.extents) {
            std::vector<Binding> fit;
            for (const Binding &b : usable)
                if (b.extent == e && !used.contains(b.name)) fit.push_back(b);
            if (fit.empty() && chance(40))
                for (const Binding &b : usable)
                    if (!b.whole && !used.contains(b.name)) fit.push_back(b), needsOr = true;
            if (chance(4)) { // a row that data choose
                Value v = leaf(Class::Int, {});
                if (!v.literal) {
                    indices.push_back(v.text);
                    differs |= v.differs;
                    needsOr = true;
                    continue;
                }
            }
            if (fit.empty() || chance(5)) {
                indices.push_back(extents[e].name == "ranks" ? "0" : std::to_string(below(3)));
                needsOr |= extents[e].name != "ranks";
                continue;
            }
            Binding b = pick(fit);
            needsOr |= b.extent != e;
            indices.push_back(index(b, needsOr));
            differs |= b.differs;
            if (b.range) used.insert(b.name);
        }
        found &= must.empty() || used.contains(must);
    }
    if (!found) {
        if (tensors.size() > 9 && must.empty()) return literal(cls);
        t = Tensor{};
        number = tensors.size();
        t.name = "X" + std::to_string(tensors.size());
        t.elem = cls == Class::Bool ? "bool" : cls == Class::Int ? (chance(80) ? "i32" : "i64") : pick(std::vector<string>{"f32", "f32", "bf16", "f16"});
        t.mode = "in";
        t.bound.most = exact ? 1 : 2;
        if (cls == Class::Int) t.bound.most = 4;
        indices.clear();
        needsOr = differs = false;
        std::vector<Binding> order = usable;
        for (size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[static_cast<size_t>(below(static_cast<int64_t>(n)))]);
        for (const Binding &b : order)
            if (b.name == must || (indices.size() < 3 && chance(70))) {
                indices.push_back(index(b, needsOr));
                differs |= b.differs;
                t.extents.push_back(b.extent);
            }
        if (indices.empty()) {
            t.extents.push_back(static_cast<size_t>(below(static_cast<int64_t>(extents.size()))));
            bool ranks = extents[t.extents[0]].name == "ranks";
            indices.push_back(ranks ? "0" : std::to_string(below(3)));
            needsOr = !ranks;
        }
        int64_t place = below(10);
        if (place < 5 || (same && place < 8))
            t.dist = static_cast<int>(below(static_cast<int64_t>(t.extents.size())));
        else
            t.uniform = place < 7 || same;
        tensors.push_back(t);
    }
    read.insert(number);
    Value v;
    for (const string &i : indices) v.text += (v.text.empty() ? "" : ", ") + i;
    v.text = fmt::format("{}[{}]", t.name, v.text);
    v.bound = t.bound;
    v.differs = differs || (!t.shared() && !alone);
    if (needsOr) {
        v.text = cls == Class::Bool ? v.text + " or false" : fmt::format("{} or {}", v.text, below(3));
        v.bound.most = std::max(v.bound.most, 2.0);
        v.atom = false;
        v.text = "(" + v.text + ")";
        v.atom = true;
    }
    if (t.elem == "i64") v.text = fmt::format("({} as i32)", v.text);
    return v;
}

Value Generator::leaf(Class cls, const set<string> &axes) {
    std::vector<const Variable *> suitable;
    for (const Variable &x : variables)
        if (x.cls == cls && std::includes(axes.begin(), axes.end(), x.axes.begin(), x.axes.end()) && !(x.differs && sameOnly && !alone)) suitable.push_back(&x);
    if (!suitable.empty() && chance(45)) {
        const Variable &x = *pick(suitable);
        return {x.name, x.bound, x.differs, true, false};
    }
    if (cls == Class::Int && chance(30)) { // an index or a size as a value
        std::vector<const Binding *> indices;
        for (const Binding &b : scope)
            if (!b.whole && (!b.range || axes.contains(b.name)) && !(b.differs && sameOnly && !alone)) indices.push_back(&b);
        if (!indices.empty() && chance(80)) {
            const Binding &b = *pick(indices);
            return {fmt::format("({} as i32)", b.name), {kLongest * 2, 0}, b.differs, true, false};
        }
        return {fmt::format("({} as i32)", pick(extents).name), {kLongest * 2, 0}, false, true, false};
    }
    if (cls == Class::Float && chance(6)) {
        if (parameters.size() < 2) parameters.push_back("c" + std::to_string(parameters.size()));
        return {pick(parameters), {2, exact ? 0 : 10}, false, true, false};
    }
    return chance(80) ? load(cls, axes, "") : literal(cls);
}

Value Generator::arithmetic(Class cls, const set<string> &axes, int depth) {
    Value a = expression(cls, axes, depth - 1), b = expression(cls, axes, depth - 1);
    Value v = unite(a, b);
    switch (below(cls == Class::Int ? 7 : 5)) {
    case 0:
    case 1:
        v.text = fmt::format("{} + {}", inBrackets(a), inBrackets(b));
        v.bound.most = a.bound.most + b.bound.most;
        break;
    case 2:
        v.text = fmt::format("{} - {}", inBrackets(a), inBrackets(b));
        v.bound.most = a.bound.most + b.bound.most;
        break;
    case 3:
        v.text = fmt::format("{} * {}", inBrackets(a), inBrackets(b));
        v.bound = {a.bound.most * b.bound.most, a.bound.digits + b.bound.digits};
        break;
    case 4:
        v.text = fmt::format("{}({}, {})", chance(50) ? "max" : "min", a.text, b.text);
        v.atom = true;
        break;
    default:
        v.text = fmt::format("{} {} {}", inBrackets(a), chance(50) ? "/" : "%", inBrackets(b));
        v.bound.most = a.bound.most;
        break;
    }
    return sized(cls, v);
}

Value Generator::elementary(const set<string> &axes, int depth) {
    Value a = expression(Class::Float, axes, depth - 1);
    if (a.literal) a.text = fmt::format("({} as f32)", inBrackets(a)), a.atom = true, a.literal = false;
    switch (below(6)) {
    case 0: a.text = fmt::format("exp(min({}, 1))", a.text), a.bound.most = 3; break;
    case 1: a.text = fmt::format("tanh({})", a.text), a.bound.most = 1; break;
    case 2: a.text = fmt::format("rsqrt(abs({}) + 1)", a.text), a.bound.most = 1; break;
    case 3: a.text = fmt::format("sqrt(abs({}) + 1)", a.text), a.bound.most = std::sqrt(a.bound.most + 1); break;
    case 4: a.text = fmt::format("erf({})", a.text), a.bound.most = 1; break;
    default: a.text = fmt::format("(1 / (1 + exp2(-min(abs({}), 4))))", a.text), a.bound.most = 1; break;
    }
    a.bound.digits = 0;
    a.atom = true;
    return a;
}

Value Generator::condition(const set<string> &axes, int depth) {
    if (depth > 1 && chance(25)) {
        Value a = condition(axes, depth - 1), b = condition(axes, depth - 1), v = unite(a, b);
        v.text = fmt::format("{} {} {}", inBrackets(a), chance(50) ? "&&" : "||", inBrackets(b));
        return v;
    }
    if (chance(15)) {
        Value a = leaf(Class::Bool, axes);
        a.text = "!" + inBrackets(a);
        a.atom = false;
        return a;
    }
    if (chance(20)) return leaf(Class::Bool, axes);
    Class cls = exact && chance(60) ? Class::Float : Class::Int; // real numbers that are nearly equal compare one way or the other
    Value a = expression(cls, axes, depth - 1), b = chance(50) ? literal(cls) : expression(cls, axes, depth - 1), v = unite(a, b);
    v.text = fmt::format("{} {} {}", inBrackets(a), pick(std::vector<string>{"<", "<=", ">", ">=", "==", "!="}), inBrackets(b));
    v.literal = false;
    return v;
}

// A reduction over an extent that is taken whole.
Value Generator::overWhole(Class cls, const set<string> &axes, int depth) {
    std::vector<size_t> candidates;
    for (size_t e = 0; e < extents.size(); ++e)
        if (extents[e].whole && !std::any_of(scope.begin(), scope.end(), [&](auto &b) { return b.whole && b.extent == e; })) candidates.push_back(e);
    if (candidates.empty()) return leaf(cls, axes);
    size_t e = pick(candidates);
    Binding whole{extents[e].name, e, true, false, true, false, false};
    set<string> more = axes;
    more.insert(whole.name);
    scope.push_back(whole);
    deepest = std::max(deepest, scope.size());
    Value v = load(cls, more, whole.name);
    if (depth > 0 && chance(50)) {
        Value other = expression(cls, more, depth - 1), both = unite(v, other);
        both.text = fmt::format("{} {} {}", v.text, chance(50) ? "*" : "+", inBrackets(other));
        both.bound = {std::max(v.bound.most * other.bound.most, v.bound.most + other.bound.most), v.bound.digits + other.bound.digits};
        v = sized(cls, both);
    }
    scope.pop_back();
    string over = whole.name;
    switch (below(cls == Class::Int && exact ? 4 : 3)) {
    case 0:
        v.text = fmt::format("sum({} over {})", v.text, over);
        v.bound.most *= kLongest;
        break;
    case 1: // over nothing: the identity
        v.text = fmt::format("max(max({} over {}), -4)", v.text, over);
        v.bound.most = std::max(v.bound.most, 4.0);
        break;
    case 2:
        v.text = fmt::format("min(min({} over {}), 4)", v.text, over);
        v.bound.most = std::max(v.bound.most, 4.0);
        break;
    default:
        v.text = fmt::format("({}({} over {}) as i32)", chance(50) ? "argmax" : "argmin", v.text, over);
        v.bound = {kLongest, 0};
        break;
    }
    v.atom = true;
    return sized(cls, v);
}

Value Generator::expression(Class cls, const set<string> &axes, int depth) {
    if (depth <= 0) return leaf(cls, axes);
    if (cls == Class::Bool) return condition(axes, depth);
    int64_t which = below(100);
    if (which < 30) return leaf(cls, axes);
    if (which < 62) return arithmetic(cls, axes, depth);
    if (which < 70) {
        Value c = condition(axes, depth - 1), a = expression(cls, axes, depth - 1), b = expression(cls, axes, depth - 1), v = unite(a, b);
        if (v.literal) a.text = fmt::format("({} as {})", inBrackets(a), elemOf(cls));
        v.literal = false;
        v.text = fmt::format("where({}, {}, {})", c.text, a.text, b.text);
        v.differs |= c.differs;
        v.atom = true;
        return v;
    }
    if (which < 76) {
        Value a = expression(cls, axes, depth - 1);
        bool abs = chance(50);
        a.text = abs ? fmt::format("abs({})", a.text) : "-" + inBrackets(a);
        a.atom = abs;
        return a;
    }
    if (which < 84) { // a conversion
        Class from = chance(40) ? Class::Bool : cls == Class::Float ? Class::Int : Class::Float;
        if (from == Class::Float && !exact) from = Class::Bool;
        Value a = expression(from, axes, depth - 1);
        a.text = fmt::format("{} as {}", inBrackets(a), cls == Class::Float ? (exact ? pick(std::vector<string>{"f32", "bf16", "f16"}) : "f32") : "i32");
        if (from == Class::Bool) a.bound.most = 1;
        if (cls == Class::Int) a.bound.digits = 0;
        a.text = "(" + a.text + ")";
        a.atom = true;
        a.literal = false;
        return sized(cls, a);
    }
    if (which < 90 && cls == Class::Float) {
        if (!exact) return elementary(axes, depth);
        Value a = expression(cls, axes, depth - 1); // rounds
        a.text = fmt::format("({} as {})", inBrackets(a), chance(50) ? "bf16" : "f16");
        a.bound.most *= 1.01;
        a.atom = true;
        a.literal = false;
        return a;
    }
    return overWhole(cls, axes, depth - 1);
}

} // namespace tdl::fuzz
