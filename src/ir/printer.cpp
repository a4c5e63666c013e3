// Prints modules; names.h says what values are called.
#include "ir/names.h"
#include "ir/text.h"
#include <cmath>
#include <fmt/format.h>

namespace tdl::ir {

std::string LoopSpec::str() const {
    std::string s = fmt::format("{} in {}", name, extent.str());
    if (dist) s += " @ ranks";
    if (sliced) s += fmt::format("[{} : {}]", lo.str(), hi.str());
    if (isRange) s += " by " + by.str();
    return s;
}

namespace {

std::string quoted(const std::string &s) {
    std::string out = "\"";
    for (char c : s) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        out += c;
    }
    return out + '"';
}

std::string number(double v) {
    if (std::isnan(v)) return "nan";
    std::string s = fmt::format("{}", v);
    return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
}

template <class T, class F> std::string list(const std::vector<T> &items, F &&f) {
    std::string s = "[";
    for (size_t i = 0; i < items.size(); ++i) s += (i ? ", " : "") + f(items[i]);
    return s + "]";
}

struct AttrPrinter {
    std::string operator()(Flag) const { return {}; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return number(v); }
    std::string operator()(const Name &n) const { return n.text; }
    std::string operator()(const std::string &s) const { return quoted(s); }
    std::string operator()(const Expr &e) const { return e.str(); }
    std::string operator()(const LoopSpec &l) const { return l.str(); }
    std::string operator()(const std::vector<std::string> &v) const {
        return list(v, [](const std::string &s) { return s; });
    }
    std::string operator()(const std::vector<Expr> &v) const {
        return list(v, [](const Expr &e) { return e.str(); });
    }
    std::string operator()(const std::vector<Dim> &v) const {
        return list(v, [](const Dim &d) { return d.extent.str() + (d.dist ? " @ ranks" : ""); });
    }
    std::string operator()(const std::vector<Bind> &v) const {
        return list(v, [](const Bind &b) { return fmt::format("{} = {}", b.name, b.value); });
    }
    std::string operator()(const std::vector<LoopSpec> &v) const {
        return list(v, [](const LoopSpec &l) { return l.str(); });
    }
};

class Printer {
public:
    explicit Printer(const Module *m) : module(m) {}
    std::string out;

    void op(const Op &o, int depth) {
        if (depth == 0) names = namesOf(o);
        indent(depth);
        for (size_t i = 0; i < o.results.size(); ++i) out += (i ? ", " : "") + name(*o.results[i]);
        if (!o.results.empty()) out += " = ";
        out += o.info().text;
        if (!o.symbol.empty()) out += " @" + o.symbol;
        operands(o);
        attributes(o);
        for (size_t i = 0; i < o.results.size(); ++i) out += (i ? ", " : " : ") + o.results[i]->type.str();
        location(o.loc);
        for (auto &b : o.blocks) block(*b, depth);
        out += '\n';
    }

private:
    const Module *module;
    std::unordered_map<const Value *, std::string> names;

    void indent(int depth) { out.append(static_cast<size_t>(depth) * 2, ' '); }

    std::string name(const Value &v) const {
        auto it = names.find(&v);
        return "%" + (it == names.end() ? "?" : it->second);
    }

    // Operands behind a tensor or buffer are its indices and stand in brackets.
    void operands(const Op &o) {
        bool inBrackets = false;
        for (size_t i = 0; i < o.operands.size(); ++i) {
            bool opens = i > 0 && !inBrackets && (o.kind == OpKind::Load || o.kind == OpKind::Store) &&
                         o.operands[i - 1]->type.isMemory();
            out += opens ? "[" : i ? ", " : " ";
            out += name(*o.operands[i]);
            inBrackets |= opens;
        }
        if (inBrackets) out += "]";
    }

    void attributes(const Op &o) {
        if (o.attrs().empty()) return;
        out += '(';
        bool first = true;
        for (auto &[key, value] : o.attrs()) {
            if (!first) out += ", ";
            first = false;
            out += key;
            if (!std::holds_alternative<Flag>(value)) out += " = " + printAttr(value);
        }
        out += ')';
    }

    void location(const Loc &l) {
        if (!l.valid()) return;
        size_t index = 0;
        if (module)
            while (index < module->sources.size() && module->sources[index].file != l.file) ++index;
        out += index == 0 ? fmt::format(" @{}:{}", l.line, l.col) : fmt::format(" @{}#{}:{}", index, l.line, l.col);
        if (l.len != 1) out += fmt::format("+{}", l.len);
    }

    void block(const Block &b, int depth) {
        out += " {\n";
        if (!b.args.empty()) {
            indent(depth + 1);
            out += "^(";
            for (size_t i = 0; i < b.args.size(); ++i)
                out += fmt::format("{}{}: {}", i ? ", " : "", name(*b.args[i]), b.args[i]->type.str());
            out += ")\n";
        }
        for (auto &o : b.ops) op(*o, depth + 1);
        indent(depth);
        out += '}';
    }
};

} // namespace

std::string printAttr(const Attr &a) { return std::visit(AttrPrinter{}, a); }

bool attrFits(const Attr &a, AttrType t) {
    switch (t) {
    case AttrType::Flag: return std::holds_alternative<Flag>(a);
    case AttrType::Int: return std::holds_alternative<int64_t>(a);
    case AttrType::Num: return std::holds_alternative<int64_t>(a) || std::holds_alternative<double>(a);
    case AttrType::Name: return std::holds_alternative<Name>(a);
    case AttrType::Str: return std::holds_alternative<std::string>(a);
    case AttrType::Names: return std::holds_alternative<std::vector<std::string>>(a);
    case AttrType::Expr: return std::holds_alternative<Expr>(a);
    case AttrType::Exprs: return std::holds_alternative<std::vector<Expr>>(a);
    case AttrType::Dims: return std::holds_alternative<std::vector<Dim>>(a);
    case AttrType::Binds: return std::holds_alternative<std::vector<Bind>>(a);
    case AttrType::Loop: return std::holds_alternative<LoopSpec>(a);
    case AttrType::Loops: return std::holds_alternative<std::vector<LoopSpec>>(a);
    }
    return false;
}

std::string print(const Module &m) {
    Printer p(&m);
    p.out = fmt::format("tdl.{} 1\n", stageName(m.stage));
    for (const SourceRef &s : m.sources) p.out += "source " + quoted(s.name) + "\n";
    for (auto &o : m.top.ops) {
        p.out += '\n';
        p.op(*o, 0);
    }
    return p.out;
}

std::string print(const Op &o) {
    Printer p(nullptr);
    p.op(o, 0);
    return p.out;
}

} // namespace tdl::ir
