// Statements before the stores of a stage: variables, loops that accumulate, recurrences, reductions over ranks.
#include "generator.h"
#include <algorithm>
#include <fmt/format.h>

namespace tdl::fuzz {

using std::set;
using std::string;

std::string Generator::elemOf(Class cls) { return cls == Class::Float ? "f32" : cls == Class::Int ? "i32" : "bool"; }

set<string> Generator::someAxes(int percent) {
    set<string> axes;
    for (const Binding &b : scope)
        if (b.range && chance(percent)) axes.insert(b.name);
    return axes;
}

void Generator::remember(const string &name, Class cls, const set<string> &axes, const Value &v) { variables.push_back({name, cls, axes, v.bound, v.differs}); }

namespace {
string list(const set<string> &axes) {
    string text;
    for (const string &a : axes) text += (text.empty() ? "" : ", ") + a;
    return text.empty() ? "" : "[" + text + "]";
}
} // namespace

void Generator::assign() {
    Class cls = chance(70) ? Class::Float : chance(70) ? Class::Int : Class::Bool;
    set<string> axes = someAxes(70);
    string name = fresh("v");
    Value v = expression(cls, axes, 2);
    if (cls == Class::Bool || v.literal || chance(40)) {
        line(fmt::format("{}: {}{} = {}", name, elemOf(cls), list(axes), v.text));
    } else {
        line(fmt::format("{} = {}", name, v.text));
    }
    remember(name, cls, axes, v);
}

// acc: f32[i, j] = 0; for k in K @ ranks by 64 { acc += dot(A[i, k], B[j, k] over k) }
void Generator::accumulate() {
    Class cls = chance(75) ? Class::Float : Class::Int;
    set<string> axes = someAxes(80);
    struct Sum {
        string name, op, fold;
        Value value;
    };
    std::vector<Sum> sums;
    int count = chance(75) ? 1 : 2;
    bool differs = false;
    for (int n = 0; n < count; ++n) {
        Sum s;
        s.name = fresh("a");
        int64_t op = below(10);
        s.op = op < 7 ? "+=" : op < 9 ? "max=" : "min=";
        s.fold = op < 7 ? "sum" : op < 9 ? "max" : "min";
        Value init = chance(60) ? Value{s.op == "+=" ? "0" : s.op == "max=" ? "-4" : "4", {4, 0}, false, true, true} : expression(cls, axes, 1);
        line(fmt::format("{}: {}{} = {}", s.name, elemOf(cls), list(axes), init.text));
        s.value = init;
        sums.push_back(s);
    }
    bool mask = false;
    int loops = chance(80) ? 1 : 2;
    double turns = 1;
    std::vector<Binding> ranges;
    size_t outer = scope.size(), variablesBefore = variables.size();
    string masked;
    for (int n = 0; n < loops; ++n) {
        Binding b;
        string text;
        std::vector<const Binding *> sequences; // of the header, for causal slices
        for (const Binding &h : scope)
            if (h.range && !h.whole && !h.sliced && axes.contains(h.name)) sequences.push_back(&h);
        if (n > 0 && scope.back().range && chance(30)) { // through a range
            b = scope.back();
            string within = b.name;
            b.name = fresh("k");
            b.range = chance(60);
            text = fmt::format("{} in {}{}", b.name, within, b.range ? " by " + by() : "");
            if (!ranges.empty()) ranges.pop_back(); // its indices are those of the inner loop
        } else if (n == 0 && !sequences.empty() && chance(12)) {
            const Binding h = *pick(sequences);
            b.name = fresh("k");
            b.extent = h.extent;
            b.range = true;
            b.dist = !alone && chance(30);
            b.differs = b.dist;
            string domain = b.dist ? fmt::format("({} @ ranks)", extents[h.extent].name) : extents[h.extent].name;
            text = fmt::format("{} in {}[0 : {}.end] by {}", b.name, domain, h.name, by());
            mask = true;
            loops = 1;
            masked = fmt::format("{} >= {}", h.name, b.name);
            turns *= kLongest;
        } else {
            text = loopText(b, !alone || chance(30), false);
            turns *= kLongest;
        }
        differs |= b.dist || b.differs;
        line(fmt::format("for {} {{", text));
        ++indent;
        scope.push_back(b);
        deepest = std::max(deepest, scope.size());
        if (b.range) ranges.push_back(b);
    }
    bool wasAlone = alone;
    for (size_t n = outer; n < scope.size(); ++n) alone |= scope[n].dist;
    set<string> inside = axes, over;
    for (const Binding &b : ranges) inside.insert(b.name), over.insert(b.name);
    string overText;
    for (const string &a : over) overText += (overText.empty() ? "" : ", ") + a;
    if (chance(20)) {
        string name = fresh("t");
        Value v = expression(cls, inside, 1);
        line(fmt::format("{}: {}{} = {}", name, elemOf(cls), list(inside), v.text));
        remember(name, cls, inside, v);
    }
    for (Sum &s : sums) {
        Value v;
        bool product = cls == Class::Float && over.size() == 1 && s.op == "+=" && !mask && chance(60);
        if (product) {
            Value a = load(cls, inside, *over.begin()), b = load(cls, inside, *over.begin());
            string t = pick(std::vector<string>{"f32", "bf16", "f16"});
            v.text = fmt::format("dot({} as {}, {} as {} over {})", inBrackets(a), t, inBrackets(b), t, overText);
            v.bound = {a.bound.most * b.bound.most * 1.02, a.bound.digits + b.bound.digits};
            v.differs = a.differs || b.differs;
        } else {
            // At least one term has each axis that is reduced.
            for (const string &axis : over) {
                Value one = load(cls, inside, axis);
                v.text += (v.text.empty() ? "" : " + ") + one.text;
                v.bound = {v.text == one.text ? one.bound.most : v.bound.most + one.bound.most, std::max(v.bound.digits, one.bound.digits)};
                v.differs |= one.differs;
            }
            if (over.empty()) {
                v = expression(cls, inside, 2);
            } else if (chance(50)) {
                Value e = expression(cls, inside, 1);
                v.text = fmt::format("({}) * {}", v.text, inBrackets(e));
                v.bound = {v.bound.most * e.bound.most, v.bound.digits + e.bound.digits};
                v.differs |= e.differs;
                v = sized(cls, v);
            }
            if (mask) v.text = fmt::format("where({}, {}, {})", masked, v.text, s.op == "+=" ? "0" : s.op == "max=" ? "-4" : "4");
            v.bound.most = std::max(v.bound.most, mask && s.op != "+=" ? 4.0 : 0.0);
            if (!over.empty()) v.text = fmt::format("{}({} over {})", s.fold, v.text, overText);
        }
        if (s.op == "+=" && v.bound.most * turns * (1 << v.bound.digits) > (exact ? 1 << 21 : 1 << 10)) {
            // Of numbers that small, sums stay exact.
            if (over.empty() || over.size() > 1)
                v = literal(cls);
            else if (mask)
                v.text = fmt::format("sum(({}) as {} over {})", masked, elemOf(cls), overText), v.bound = {1, 0};
            else
                v.text = fmt::format("sum({} over {})", load(cls, inside, overText).text, overText), v.bound = {4, 0};
            v.differs = true; // whatever it is
        }
        line(fmt::format("{} {} {}", s.name, s.op, v.text));
        s.value.differs |= v.differs || differs;
        s.value.bound = s.op == "+=" ? Bound{s.value.bound.most + v.bound.most * turns, std::max(s.value.bound.digits, v.bound.digits)}
                                     : Bound{std::max(s.value.bound.most, v.bound.most), std::max(s.value.bound.digits, v.bound.digits)};
    }
    alone = wasAlone;
    scope.resize(outer);
    variables.resize(variablesBefore);
    while (loops-- > 0) {
        --indent;
        line("}");
    }
    for (Sum &s : sums) {
        s.value.differs &= !alone;
        remember(s.name, cls, axes, s.value);
    }
}

// x = 0; for h in H { x = X[h, i] - x }: in order. Through scalars, so that cuts change nothing.
void Generator::recur() {
    Class cls = chance(60) ? Class::Float : Class::Int;
    set<string> axes = someAxes(70);
    string name = fresh("r");
    Value init = expression(cls, axes, 1);
    init.bound.most = std::max(init.bound.most, 2.0);
    line(fmt::format("{}: {}{} = {}", name, elemOf(cls), list(axes), init.text));
    Binding b;
    b.name = fresh("h");
    b.extent = static_cast<size_t>(below(static_cast<int64_t>(extents.size())));
    bool part = chance(25);
    line(fmt::format("for {} in {}{} {{", b.name, extents[b.extent].name, part ? fmt::format("[{} : {}]", below(3), 2 + below(8)) : ""));
    ++indent;
    scope.push_back(b);
    Value v = expression(cls, axes, 1);
    Value x{name, {2, init.bound.digits}, init.differs, true, false}, next;
    switch (below(3)) {
    case 0: next.text = fmt::format("min(max({} - {}, -2), 2)", inBrackets(v), name); break;
    case 1: next.text = fmt::format("where({} > {}, {}, -{})", inBrackets(v), name, inBrackets(v), name); break;
    default: next.text = fmt::format("max(min({} * 2, 2), -2) + {}", name, inBrackets(clamped(cls, v))); break;
    }
    if (!exact) next.text = fmt::format("min(max({} - {}, -2), 2)", inBrackets(v), name);
    line(fmt::format("{} = {}", name, next.text));
    next.bound = {std::max({v.bound.most, init.bound.most, 4.0}), std::max(v.bound.digits, init.bound.digits)};
    next.differs = init.differs || v.differs;
    scope.pop_back();
    --indent;
    line("}");
    remember(name, cls, axes, next);
}

void Generator::overRanks() {
    Class cls = chance(75) ? Class::Float : Class::Int;
    std::vector<const Variable *> suitable;
    for (const Variable &x : variables)
        if (x.cls == cls) suitable.push_back(&x);
    Value v;
    set<string> axes;
    if (!suitable.empty() && chance(85)) {
        // The latest differ most.
        const Variable &x = chance(60) ? *suitable.back() : *pick(suitable);
        v = {x.name, x.bound, x.differs, true, false};
        axes = x.axes;
    } else {
        axes = someAxes(80);
        bool was = sameOnly;
        sameOnly = false;
        v = expression(cls, axes, 1);
        sameOnly = was;
        if (v.literal) return;
    }
    if (cls == Class::Float && exact && chance(30)) v.text = fmt::format("{} as {}", inBrackets(v), chance(50) ? "bf16" : "f16"), v.bound.most *= 1.01;
    string fold = pick(std::vector<string>{"sum", "sum", "max", "min"});
    if (fold == "sum" && v.bound.most * 8 * (1 << v.bound.digits) > (1 << 21)) fold = "max";
    string name = fresh("g");
    line(fmt::format("{} = {}({} over ranks)", name, fold, v.text));
    if (fold == "sum") v.bound.most *= 8;
    v.differs = false;
    remember(name, cls, axes, v);
}

} // namespace tdl::fuzz
