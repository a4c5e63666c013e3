// Programs: sizes, stages with their loops and what they write, and the shapes to run them with.
//
// A stage is made from its end. First its header loops, then what it writes, whose dimensions are those loops (in any order), extents
// taken whole and loops of the body: so every element is written by one instance. Then statements, then the stores.
#include "generator.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tdl::fuzz {

using std::set;
using std::string;

void Generator::declareSizes() {
    int count = 1 + static_cast<int>(below(3));
    for (int n = 0; n < count; ++n) {
        sizes.push_back(string(1, "MNK"[n]));
        extents.push_back({sizes.back(), true, {}});
    }
    if (chance(20)) {
        string value = pick(std::vector<string>{"ceil(M, 2)", "M + 1", "2 * M", "M * ranks", "max(M, 3)", "M % 5"});
        definitions.push_back("let P = " + value);
        extents.push_back({"P", true, value});
    }
    if (chance(15)) {
        constants.push_back("const C = " + std::to_string(1 + below(5)));
        extents.push_back({"C", true, {}});
    }
    if (chance(15)) extents.push_back({"ranks", false, {}});
    if (chance(10)) extents.push_back({std::to_string(1 + below(4)), false, {}});
    if (chance(30)) definitions.push_back(fmt::format("tile TA = {}", 1 + below(6)));
}

string Generator::by() {
    bool tile = !definitions.empty() && definitions.back().rfind("tile", 0) == 0 && chance(50);
    if (tile) return "TA";
    int64_t n = pick(std::vector<int64_t>{1, 2, 3, 4, 4, 5, 8, 16, 64});
    bys.push_back(n);
    return std::to_string(n);
}

string Generator::loopText(Binding &b, bool mayDist, bool header) {
    b.extent = static_cast<size_t>(below(static_cast<int64_t>(extents.size())));
    b.name = fresh(header ? "i" : "k");
    b.range = chance(70);
    b.dist = mayDist && chance(30);
    b.differs = b.dist;
    string domain = extents[b.extent].name;
    if (header && chance(6)) { // a part of what is written then
        domain = fmt::format("{}[{} : {}]", b.dist ? fmt::format("({} @ ranks)", domain) : domain, below(3), chance(50) ? domain : std::to_string(1 + below(9)));
        b.sliced = true;
    } else if (!header && chance(20)) {
        string low = std::to_string(below(3)), high;
        std::vector<const Binding *> scalars;
        for (const Binding &s : scope)
            if (!s.range && !(s.differs && sameOnly && !alone)) scalars.push_back(&s);
        if (!scalars.empty() && chance(40)) {
            const Binding &s = *pick(scalars);
            high = s.name + " + 1";
            b.differs |= s.differs;
        } else if (chance(25)) { // how far is decided by data
            Value v = load(Class::Int, {}, "");
            high = v.text;
            b.differs |= v.differs && !alone;
        } else {
            high = chance(50) ? domain : std::to_string(2 + below(9));
        }
        domain = fmt::format("{}[{} : {}]", b.dist ? fmt::format("({} @ ranks)", domain) : domain, low, high);
        b.sliced = true;
    } else if (b.dist) {
        domain += " @ ranks";
    }
    return fmt::format("{} in {}{}", b.name, domain, b.range ? " by " + by() : "");
}

bool Generator::fits(const Tensor &t, std::vector<size_t> of) const {
    std::vector<size_t> have = t.extents;
    std::sort(have.begin(), have.end());
    std::sort(of.begin(), of.end());
    return have == of;
}

// The tensor that a store with these indices goes to. A new one has them in any order.
size_t Generator::target(const std::vector<Binding> &indices, bool last) {
    std::vector<size_t> of;
    for (const Binding &b : indices) of.push_back(b.extent);
    bool partial = std::any_of(indices.begin(), indices.end(), [](auto &b) { return b.dist; });
    bool sliced = std::any_of(indices.begin(), indices.end(), [](auto &b) { return b.sliced; });
    if (chance(20))
        for (size_t n = 0; n < tensors.size(); ++n) {
            Tensor &t = tensors[n];
            if (t.elem == "i64" || written.contains(n) || read.contains(n) || !fits(t, of)) continue;
            if (alone && !t.shared()) continue;
            if (!alone && partial && !t.shared()) continue;
            if (sliced && !t.defined && t.mode != "in") continue;
            if (t.mode == "in") t.mode = "inout";
            return n;
        }
    Tensor t;
    t.name = (last ? "Y" : "Z") + std::to_string(tensors.size());
    t.elem = pick(std::vector<string>{"f32", "f32", "bf16", "f16", "i32", "bool"});
    if (!exact) t.elem = chance(70) ? "f32" : t.elem;
    t.mode = sliced ? "inout" : !last && chance(50) ? "local" : chance(25) ? "inout" : "out";
    std::vector<size_t> order = of;
    for (size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[static_cast<size_t>(below(static_cast<int64_t>(n)))]);
    t.extents = order;
    int64_t place = below(10);
    if (alone || partial) {
        if (place < 7)
            t.dist = static_cast<int>(below(static_cast<int64_t>(order.size())));
        else
            t.uniform = true;
    } else if (place < 4) {
        t.dist = static_cast<int>(below(static_cast<int64_t>(order.size())));
    } else if (place < 7) {
        t.uniform = true;
    }
    if (!exact && t.mode == "local") t.elem = "f32"; // what is rounded on the way shows in sums
    t.defined = t.mode == "inout";
    tensors.push_back(t);
    return tensors.size() - 1;
}

void Generator::store(size_t number, const std::vector<Binding> &indices) {
    Tensor t = tensors[number];
    Class cls = t.elem == "bool" ? Class::Bool : t.elem[0] == 'i' ? Class::Int : Class::Float;
    set<string> axes;
    for (const Binding &b : indices)
        if (b.range) axes.insert(b.name);
    // Each dimension takes an index of its extent.
    std::vector<Binding> left = indices;
    string place;
    for (size_t e : t.extents) {
        auto it = std::find_if(left.begin(), left.end(), [&](auto &b) { return b.extent == e; });
        place += (place.empty() ? "" : ", ") + it->name;
        left.erase(it);
    }
    place = fmt::format("{}[{}]", t.name, place);
    bool same = t.shared() && !alone;
    bool was = sameOnly;
    sameOnly = same;
    Value v;
    std::vector<const Variable *> latest;
    for (const Variable &x : variables)
        if (x.cls == cls && !(x.differs && same) && std::includes(axes.begin(), axes.end(), x.axes.begin(), x.axes.end())) latest.push_back(&x);
    if (!latest.empty() && chance(80)) {
        v = {latest.back()->name, latest.back()->bound, false, true, false};
        if (chance(40)) {
            Value e = expression(cls, axes, 1);
            v.text = fmt::format("{} {} {}", v.text, cls == Class::Bool ? "||" : "+", inBrackets(e));
            v.bound = {v.bound.most + e.bound.most, std::max(v.bound.digits, e.bound.digits)};
            v.atom = false;
            v = cls == Class::Bool ? v : sized(cls, v);
        }
    } else {
        v = expression(cls, axes, 3);
    }
    bool old = t.defined && t.mode == "inout" && cls != Class::Bool && chance(50);
    if (old && v.bound.most + 8 * t.bound.most > 1e5) old = false;
    if (old && !alone && indent == 2 && chance(40)) { // a sum in place
        v.text = fmt::format("{} + {}(", v.text, chance(70) ? "sum" : "max") + place + " over ranks)";
        v.bound.most += 8 * t.bound.most;
        v.bound.digits = std::max(v.bound.digits, t.bound.digits);
        old = false;
    }
    if (old && chance(50)) {
        line(fmt::format("{} += {}", place, v.text));
    } else {
        line(fmt::format("{} = {}{}", place, v.text, old ? " + " + place : ""));
    }
    if (old) v.bound.most += t.bound.most;
    sameOnly = was;
    v.bound.most *= 1.01;
    Tensor &to = tensors[number];
    to.bound = {std::max(v.bound.most, 3.0), std::max(v.bound.digits, to.bound.digits)};
    // f16 ends at 65504, and infinities subtract to what depends on the order.
    if (to.elem == "f16" && v.bound.most > 6e4) to.defined = false;
}

void Generator::stage(bool last) {
    scope.clear();
    variables.clear();
    written.clear();
    read.clear();
    body.clear();
    alone = false;
    names = 0;
    indent = 2;
    int loops = chance(6) ? 0 : 1 + static_cast<int>(below(chance(80) ? 2 : 3));
    string text;
    for (int n = 0; n < loops; ++n) {
        Binding b;
        string one = loopText(b, !alone, true);
        alone |= b.dist;
        text += (text.empty() ? " for " : ", ") + one;
        scope.push_back(b);
    }
    // What is written: the header's indices, perhaps one more extent, whole or by a loop of the body.
    struct Write {
        size_t tensor;
        std::vector<Binding> indices;
        string loop;
    };
    std::vector<Write> writes;
    int count = chance(70) ? 1 : 2;
    for (int n = 0; n < count; ++n) {
        Write w;
        w.indices = scope;
        if (loops == 0 || chance(25)) {
            std::vector<size_t> whole;
            for (size_t e = 0; e < extents.size(); ++e)
                if (extents[e].whole) whole.push_back(e);
            if (loops == 0 || chance(60)) {
                size_t e = pick(whole);
                w.indices.push_back({extents[e].name, e, true, false, true, false, false});
            } else {
                Binding b;
                w.loop = loopText(b, !alone, true);
                w.indices.push_back(b);
            }
        }
        w.tensor = ~size_t(0);
        writes.push_back(w);
    }
    names = 10;
    for (Write &w : writes) {
        w.tensor = target(w.indices, last);
        written.insert(w.tensor);
    }
    bool shared = std::any_of(writes.begin(), writes.end(), [&](auto &w) { return tensors[w.tensor].shared(); });
    bool reduces = !alone && chance(shared ? 60 : 25);
    sameOnly = shared && !alone && !reduces;
    int statements = static_cast<int>(below(4)) + (reduces ? 1 : 0);
    for (int n = 0; n < statements; ++n) {
        if (reduces && n + 1 == statements)
            overRanks();
        else
            switch (below(10)) {
            case 0:
            case 1:
            case 2: assign(); break;
            case 3:
            case 4: recur(); break;
            case 5:
                if (reduces) {
                    overRanks();
                    break;
                }
                [[fallthrough]];
            default: accumulate(); break;
            }
    }
    for (const Write &w : writes) {
        size_t outer = scope.size();
        bool wasAlone = alone;
        if (!w.loop.empty()) {
            line(fmt::format("for {} {{", w.loop));
            ++indent;
            scope.push_back(w.indices.back());
            alone |= w.indices.back().dist;
        } else if (w.indices.size() > outer) {
            scope.push_back(w.indices.back());
        }
        store(w.tensor, w.indices);
        alone = wasAlone;
        scope.resize(outer);
        if (!w.loop.empty()) {
            --indent;
            line("}");
        }
    }
    for (const Write &w : writes)
        if (tensors[w.tensor].bound.most < 6e4) tensors[w.tensor].defined = true;
    stages.push_back(fmt::format("    stage s{}{} {{\n{}    }}\n", stages.size(), text, body));
}

std::vector<Shape> Generator::shapes() {
    std::vector<Shape> all;
    // The interpreter takes its time for each element of each turn.
    auto most = static_cast<int64_t>(std::clamp(std::pow(8000.0, 1.0 / static_cast<double>(deepest)), 4.0, kLongest));
    int count = 2 + static_cast<int>(below(2));
    for (int n = 0; n < count; ++n) {
        Shape s;
        for (const string &name : sizes) {
            int64_t v = 1 + below(most);
            if (chance(50)) {
                int64_t edge = bys.empty() || chance(50) ? below(4) : pick(bys);
                v = std::clamp<int64_t>(edge * (1 + below(2)) + below(3) - 1, 0, most);
            }
            s[name] = v;
        }
        all.push_back(s);
    }
    return all;
}

Program Generator::run() {
    Program p;
    exact = chance(85);
    p.exact = exact;
    declareSizes();
    int count = chance(45) ? 1 : 2 + static_cast<int>(below(3));
    for (int n = 0; n < count; ++n) stage(n + 1 == count);
    string parameterText, locals;
    for (const Tensor &t : tensors) {
        string dims;
        for (size_t d = 0; d < t.extents.size(); ++d)
            dims += fmt::format("{}{}{}", d ? ", " : "", t.mode == "local" || extents[t.extents[d]].value.empty() ? extents[t.extents[d]].name : extents[t.extents[d]].value, static_cast<int>(d) == t.dist ? " @ ranks" : "");
        string type = fmt::format("{}{}[{}]", t.uniform ? "uniform " : "", t.elem, dims);
        if (t.mode == "local")
            locals += fmt::format("    local {}: {}\n", t.name, type);
        else
            parameterText += fmt::format("{}{}: {} {}", parameterText.empty() ? "" : ", ", t.name, t.mode, type);
    }
    for (const string &c : parameters) parameterText += fmt::format(", {}: f32", c);
    string list, lets;
    for (const string &s : sizes) list += (list.empty() ? "" : ", ") + s;
    for (const string &d : definitions) lets += fmt::format("    {}\n", d);
    for (const string &c : constants) p.text += c + "\n";
    p.text += fmt::format("kernel k<{}>({}) {{\n{}{}", list, parameterText, lets, locals);
    for (const string &s : stages) p.text += s;
    p.text += "}\n";
    p.shapes = shapes();
    p.ranks = {1 + static_cast<int>(below(2)), 3 + static_cast<int>(below(2))};
    if (chance(10)) p.ranks.push_back(5);
    p.data = random.next() % 100000;
    p.opt = pick(std::vector<int>{0, 1, 2, 2});
    p.threads = 1 + static_cast<int>(below(2));
    p.chunk = pick(std::vector<int>{1, 2, 3, 5, 64});
    p.chaos = chance(30) ? random.next() % 1000 + 1 : 0;
    return p;
}

Program generate(uint64_t seed) { return Generator(mix(seed)).run(); }

} // namespace tdl::fuzz
