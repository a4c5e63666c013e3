#include "ir/expr.h"
#include <algorithm>

namespace tdl::ir {

struct Expr::Node {
    ExprKind kind;
    int64_t value = 0;
    std::string name;
    std::shared_ptr<const Node> a, b;
};

Expr::Expr(int64_t v) : node(std::make_shared<Node>(Node{ExprKind::Const, v, {}, nullptr, nullptr})) {}
Expr Expr::sym(std::string n) {
    return Expr(std::make_shared<Node>(Node{ExprKind::Sym, 0, std::move(n), nullptr, nullptr}));
}
ExprKind Expr::kind() const { return node->kind; }
int64_t Expr::value() const { return node->value; }
const std::string &Expr::name() const { return node->name; }
Expr Expr::lhs() const { return Expr(node->a); }
Expr Expr::rhs() const { return Expr(node->b); }

int64_t apply(ExprKind k, int64_t a, int64_t b) {
    auto wrap = [](uint64_t v) { return static_cast<int64_t>(v); };
    auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    switch (k) {
    case ExprKind::Const: case ExprKind::Sym: return a;
    case ExprKind::Add: return wrap(ua + ub);
    case ExprKind::Sub: return wrap(ua - ub);
    case ExprKind::Mul: return wrap(ua * ub);
    case ExprKind::Div: return b == 0 ? 0 : b == -1 ? wrap(0 - ua) : a / b;
    case ExprKind::Mod: return b == 0 || b == -1 ? 0 : a % b;
    case ExprKind::Ceil: {
        if (b == 0) return 0;
        int64_t q = apply(ExprKind::Div, a, b), r = apply(ExprKind::Mod, a, b);
        return r != 0 && (r < 0) == (b < 0) ? q + 1 : q;
    }
    case ExprKind::Min: return std::min(a, b);
    case ExprKind::Max: return std::max(a, b);
    case ExprKind::Eq: return a == b;
    case ExprKind::Ne: return a != b;
    case ExprKind::Lt: return a < b;
    case ExprKind::Le: return a <= b;
    case ExprKind::Gt: return a > b;
    case ExprKind::Ge: return a >= b;
    case ExprKind::And: return a && b;
    case ExprKind::Or: return a || b;
    case ExprKind::Not: return !a;
    }
    return 0;
}

Expr Expr::make(ExprKind k, Expr a, Expr b) {
    if (a.isConst() && (b.isConst() || k == ExprKind::Not)) return Expr(apply(k, a.value(), b.value()));
    switch (k) {
    case ExprKind::Add:
        if (a.isConst(0)) return b;
        if (b.isConst(0)) return a;
        break;
    case ExprKind::Sub:
        if (b.isConst(0)) return a;
        if (a == b) return Expr(0);
        break;
    case ExprKind::Mul:
        if (a.isConst(0) || b.isConst(0)) return Expr(0);
        if (a.isConst(1)) return b;
        if (b.isConst(1)) return a;
        break;
    case ExprKind::Div: case ExprKind::Ceil:
        if (b.isConst(1)) return a;
        break;
    case ExprKind::Min: case ExprKind::Max:
        if (a == b) return a;
        break;
    default: break;
    }
    auto rhs = k == ExprKind::Not ? nullptr : b.node;
    return Expr(std::make_shared<Node>(Node{k, 0, {}, a.node, rhs}));
}

std::optional<int64_t> Expr::evaluate(const Env &env) const {
    switch (kind()) {
    case ExprKind::Const: return value();
    case ExprKind::Sym: return env(name());
    default: break;
    }
    auto a = lhs().evaluate(env);
    if (!a) return std::nullopt;
    if (kind() == ExprKind::Not) return apply(kind(), *a, 0);
    auto b = rhs().evaluate(env);
    if (!b) return std::nullopt;
    return apply(kind(), *a, *b);
}

Expr Expr::substitute(const std::function<std::optional<Expr>(std::string_view)> &f) const {
    switch (kind()) {
    case ExprKind::Const: return *this;
    case ExprKind::Sym: return f(name()).value_or(*this);
    case ExprKind::Not: return make(kind(), lhs().substitute(f), 0);
    default: return make(kind(), lhs().substitute(f), rhs().substitute(f));
    }
}

std::vector<std::string> Expr::symbols() const {
    std::vector<std::string> out;
    auto walk = [&](auto &&self, const Node *n) -> void {
        if (!n) return;
        if (n->kind == ExprKind::Sym && std::find(out.begin(), out.end(), n->name) == out.end()) out.push_back(n->name);
        self(self, n->a.get());
        self(self, n->b.get());
    };
    walk(walk, node.get());
    return out;
}

bool Expr::uses(std::string_view s) const {
    auto all = symbols();
    return std::find(all.begin(), all.end(), s) != all.end();
}

bool operator==(const Expr &x, const Expr &y) {
    auto eq = [](auto &&self, const Expr::Node *a, const Expr::Node *b) -> bool {
        if (a == b) return true;
        if (!a || !b || a->kind != b->kind || a->value != b->value || a->name != b->name) return false;
        return self(self, a->a.get(), b->a.get()) && self(self, a->b.get(), b->b.get());
    };
    return eq(eq, x.node.get(), y.node.get());
}

std::string_view spelling(ExprKind k) {
    switch (k) {
    case ExprKind::Const: case ExprKind::Sym: return "";
    case ExprKind::Add: return "+";
    case ExprKind::Sub: return "-";
    case ExprKind::Mul: return "*";
    case ExprKind::Div: return "/";
    case ExprKind::Mod: return "%";
    case ExprKind::Ceil: return "ceil";
    case ExprKind::Min: return "min";
    case ExprKind::Max: return "max";
    case ExprKind::Eq: return "==";
    case ExprKind::Ne: return "!=";
    case ExprKind::Lt: return "<";
    case ExprKind::Le: return "<=";
    case ExprKind::Gt: return ">";
    case ExprKind::Ge: return ">=";
    case ExprKind::And: return "&&";
    case ExprKind::Or: return "||";
    case ExprKind::Not: return "!";
    }
    return "";
}

namespace {
// Binding strength as in the expression parser of ir/parser: || < && < comparison < + - < * / % < unary.
int strength(ExprKind k) {
    switch (k) {
    case ExprKind::Or: return 1;
    case ExprKind::And: return 2;
    case ExprKind::Eq: case ExprKind::Ne: case ExprKind::Lt: case ExprKind::Le: case ExprKind::Gt: case ExprKind::Ge: return 3;
    case ExprKind::Add: case ExprKind::Sub: return 4;
    case ExprKind::Mul: case ExprKind::Div: case ExprKind::Mod: return 5;
    default: return 6;
    }
}
std::string print(const Expr &e, int outer) {
    ExprKind k = e.kind();
    switch (k) {
    case ExprKind::Const: return e.value() < 0 && outer > 3 ? "(" + std::to_string(e.value()) + ")" : std::to_string(e.value());
    case ExprKind::Sym: return e.name();
    case ExprKind::Ceil: case ExprKind::Min: case ExprKind::Max:
        return std::string(spelling(k)) + "(" + print(e.lhs(), 0) + ", " + print(e.rhs(), 0) + ")";
    case ExprKind::Not: return "!" + print(e.lhs(), 6);
    default: break;
    }
    int s = strength(k);
    // Comparisons do not chain; the other operators are left-associative.
    std::string text = print(e.lhs(), s == 3 ? 4 : s) + " " + std::string(spelling(k)) + " " + print(e.rhs(), s + 1);
    return s < outer ? "(" + text + ")" : text;
}
} // namespace

std::string Expr::str() const { return print(*this, 0); }

Expr blockOf(const Expr &extent) { return max(Expr(1), ceilDiv(extent, Expr::sym("ranks"))); }
Expr blockBegin(const Expr &extent, const Expr &r) { return min(extent, r * blockOf(extent)); }
Expr blockEnd(const Expr &extent, const Expr &r) { return min(extent, (r + 1) * blockOf(extent)); }

} // namespace tdl::ir
