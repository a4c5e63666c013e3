// Expressions and types as text. Parentheses stand where the tree would come back different without them.
#include "syntax/print.h"
#include "syntax/print_parts.h"

namespace tdl {
namespace syntax {
namespace {

using namespace ast;

/// How tightly an expression holds together: what stands in a place that needs more gets parentheses. The
/// levels of operators are those of operators.def.
constexpr int kShard = 0, kPrefix = 10, kConversion = 11, kPrimary = 12;

int tightness(const Expr &e) {
    if (get<Shard>(e)) return kShard;
    if (const auto *chain = get<Chain>(e)) return level(chain->ops[0]);
    if (get<Unary>(e)) return kPrefix;
    if (get<Cast>(e) || get<OrElse>(e)) return kConversion;
    return kPrimary;
}

void printAt(std::string &out, const Expr &e, int needed) {
    bool parens = tightness(e) < needed;
    if (parens) out += '(';
    printExpr(out, e);
    if (parens) out += ')';
}

struct ExprPrinter {
    std::string &out;

    void operator()(const IntLit &n) { out += std::to_string(n.value); }
    void operator()(const FloatLit &n) { out += n.text; }
    void operator()(const BoolLit &n) { out += n.value ? "true" : "false"; }
    void operator()(const NameRef &n) { out += n.name; }
    void operator()(const Chain &n) {
        if (n.ops[0] == BinaryOp::Gt && n.ops.size() == 1) return greater(n);
        for (size_t i = 0; i < n.operands.size(); ++i) {
            if (i > 0) ((out += ' ') += spelling(n.ops[i - 1])) += ' ';
            printAt(out, *n.operands[i], level(n.ops[0]) + 1);
        }
    }
    void operator()(const Unary &n) {
        out += spelling(n.op);
        printAt(out, *n.arg, kPrefix);
    }
    void
    operator()(const Cast &n) { // `(x or 0) as f32` says the same without parentheses, but only to a parser
        printAt(out, *n.arg, get<OrElse>(*n.arg) ? kPrimary : kConversion);
        (out += " as ") += n.type.text;
    }
    void operator()(const OrElse &n) {
        printAt(out, *n.arg, kPrimary);
        out += " or ";
        const Expr *fallback = n.fallback.get();
        for (const Unary *sign; (sign = get<Unary>(*fallback)) && sign->op == UnaryOp::Neg;
             fallback = sign->arg.get())
            out += '-';
        printAt(out, *fallback, kPrimary);
    }
    void operator()(const Index &n) {
        printAt(out, *n.base, kPrimary);
        list("[", n.indices, "]");
    }
    void operator()(const Slice &n) {
        printAt(out, *n.base, kPrimary);
        out += '[';
        printExpr(out, *n.begin);
        out += " : ";
        printExpr(out, *n.end);
        out += ']';
    }
    void operator()(const Member &n) {
        bool number = get<IntLit>(*n.base) || get<FloatLit>(*n.base); // `4.begin` would be a bad number
        printAt(out, *n.base, number ? kPrimary + 1 : kPrimary);
        (out += '.') += n.member.text;
    }
    void operator()(const Shard &n) {
        printAt(out, *n.extent, kShard + 1);
        (out += " @ ") += n.axis.text;
    }
    void operator()(const Call &n) {
        out += n.callee.text;
        printNameArgs(out, n.axes);
        list("(", n.args, "");
        if (!n.over.empty()) printNames(out += " over ", n.over);
        out += ')';
    }

    /// In `f(a < b, c > (d))` the parser sees a call of `a`; `(c) > (d)` is a comparison anywhere.
    void greater(const Chain &n) {
        std::string right;
        printAt(right, *n.operands[1], level(BinaryOp::Gt) + 1);
        bool ambiguous = right[0] == '(' && get<NameRef>(*n.operands[0]);
        printAt(out, *n.operands[0], ambiguous ? kPrimary + 1 : level(BinaryOp::Gt) + 1);
        (out += " > ") += right;
    }

    void list(std::string_view open, const std::vector<ExprPtr> &exprs, std::string_view close) {
        out += open;
        printExprs(out, exprs);
        out += close;
    }
};

} // namespace

void printExpr(std::string &out, const ast::Expr &e) {
    std::visit(ExprPrinter{out}, e.node);
}

void printExprs(std::string &out, const std::vector<ast::ExprPtr> &exprs) {
    for (size_t i = 0; i < exprs.size(); ++i) {
        if (i > 0) out += ", ";
        printExpr(out, *exprs[i]);
    }
}

void printNames(std::string &out, const std::vector<ast::Name> &names) {
    for (size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += ", ";
        out += names[i].text;
    }
}

void printNameArgs(std::string &out, const std::vector<ast::Name> &names) {
    if (names.empty()) return;
    out += '<';
    printNames(out, names);
    out += '>';
}

void printType(std::string &out, const ast::Type &type) {
    if (type.uniform) out += "uniform ";
    out += type.elem.text;
    for (size_t i = 0; i < type.dims.size(); ++i) {
        const ast::Dim &dim = type.dims[i];
        out += i == 0 ? "[" : ", ";
        if (dim.binder) (out += dim.binder->text) += " in ";
        printAt(out, *dim.extent, kShard + 1);
        if (dim.axis) (out += " @ ") += dim.axis->text;
    }
    if (!type.dims.empty()) out += ']';
}

} // namespace syntax

std::string print(const ast::Expr &e) {
    std::string out;
    syntax::printExpr(out, e);
    return out;
}

std::string print(const ast::Type &type) {
    std::string out;
    syntax::printType(out, type);
    return out;
}

} // namespace tdl
