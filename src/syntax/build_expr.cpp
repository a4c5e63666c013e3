// Expressions: operators of one level become one Chain, `[...]`, `as` and `or` wrap what stands before them.
//
//     a - b * 2 + c as f32  -->  Chain{a - Chain{b * 2} + Cast{c, f32}}
#include "syntax/build.h"
#include "syntax/parse.h"
#include <charconv>
#include <cmath>

namespace tdl::syntax {
namespace {

using P = TdlParser;

std::optional<ast::BinaryOp> binaryOp(std::string_view text) {
    struct Entry {
        std::string_view text;
        ast::BinaryOp op;
    };
    static constexpr Entry entries[] = {
#define BINARY(name, text, level) {text, ast::BinaryOp::name},
#include "syntax/operators.def"
#undef BINARY
    };
    for (const Entry &e : entries)
        if (e.text == text) return e.op;
    return std::nullopt;
}

template <class Node> ast::ExprPtr make(Loc loc, Node node) {
    return std::make_unique<ast::Expr>(ast::Expr{loc, std::move(node)});
}

/// Adds to a counter for as long as it lives.
class Deeper {
public:
    Deeper(int &depth, int by) : depth_(depth), by_(by) { depth_ += by_; }
    ~Deeper() { depth_ -= by_; }
    Deeper(const Deeper &) = delete;
    Deeper &operator=(const Deeper &) = delete;

private:
    int &depth_, by_;
};

} // namespace

std::vector<ast::ExprPtr> Builder::exprs(const std::vector<P::ExprContext *> &list) {
    std::vector<ast::ExprPtr> out;
    out.reserve(list.size());
    for (P::ExprContext *e : list) out.push_back(expr(e));
    return out;
}

bool Builder::tooDeep(const antlr4::ParserRuleContext *ctx) {
    if (depth_ <= kMaxDepth) return false;
    if (!reportedDepth_) diags_.report(span(ctx), Diag::ExprTooDeep, kMaxDepth);
    return reportedDepth_ = true;
}

ast::ExprPtr Builder::expr(P::ExprContext *ctx) {
    Deeper deeper(depth_, ctx->name() ? 1 : 0);
    ast::ExprPtr extent = operation(ctx->operation());
    if (!ctx->name()) return extent;
    return make(span(ctx), ast::Shard{std::move(extent), name(ctx->name())});
}

ast::ExprPtr Builder::operation(P::OperationContext *ctx) {
    Deeper deeper(depth_, 1);
    if (tooDeep(ctx)) return make(span(ctx), ast::BoolLit{}); // never seen: there was an error
    if (auto *single = dynamic_cast<P::SingleContext *>(ctx)) return operand(single->operand());
    if (auto *infix = dynamic_cast<P::InfixContext *>(ctx)) return chain(infix);
    auto *prefix = static_cast<P::PrefixContext *>(ctx);
    auto op = prefix->op->getType() == P::NOT ? ast::UnaryOp::Not : ast::UnaryOp::Neg;
    return make(span(ctx), ast::Unary{op, operation(prefix->operation())});
}

/// ANTLR's tree of `a + b + c` leans to the left and is as deep as the sum is long: walked down in a loop.
ast::ExprPtr Builder::chain(P::InfixContext *ctx) {
    auto opOf = [&](P::InfixContext *c) { return *binaryOp(text_.of(c->op)); };
    int level = ast::level(opOf(ctx));
    std::vector<P::InfixContext *> spine{ctx};
    P::OperationContext *first = ctx->operation(0);
    while (auto *left = dynamic_cast<P::InfixContext *>(first)) {
        if (ast::level(opOf(left)) != level) break;
        spine.push_back(left);
        first = left->operation(0);
    }
    ast::Chain out;
    out.operands.reserve(spine.size() + 1);
    out.operands.push_back(operation(first));
    for (auto it = spine.rbegin(); it != spine.rend(); ++it) {
        out.ops.push_back(opOf(*it));
        out.operands.push_back(operation((*it)->operation(1)));
    }
    if (level == ast::level(ast::BinaryOp::Eq) && out.ops.size() > 1)
        diags_.report(text_.loc(spine[spine.size() - 2]->op), Diag::ComparisonChain,
                      ast::spelling(out.ops[0]), ast::spelling(out.ops[1]));
    return make(span(ctx), std::move(out));
}

ast::ExprPtr Builder::operand(P::OperandContext *ctx) {
    const auto conversions = ctx->conversion();
    Deeper deeper(depth_, static_cast<int>(conversions.size()));
    ast::ExprPtr out = accesses(ctx->primary(), ctx->access());
    for (P::ConversionContext *c : conversions) {
        Loc loc = text_.span(ctx->start, c->stop);
        if (c->AS()) {
            out = make(loc, ast::Cast{std::move(out), name(c->name())});
            continue;
        }
        const auto signs = c->MINUS();
        Deeper behindSigns(depth_, static_cast<int>(signs.size()));
        ast::ExprPtr fallback = accesses(c->primary(), c->access());
        for (auto sign = signs.rbegin(); sign != signs.rend(); ++sign)
            fallback = make(text_.span((*sign)->getSymbol(), c->stop),
                            ast::Unary{ast::UnaryOp::Neg, std::move(fallback)});
        out = make(loc, ast::OrElse{std::move(out), std::move(fallback)});
    }
    return out;
}

ast::ExprPtr Builder::accesses(P::PrimaryContext *base, const std::vector<P::AccessContext *> &list) {
    Deeper deeper(depth_, static_cast<int>(list.size()));
    ast::ExprPtr out = primary(base);
    for (P::AccessContext *access : list) {
        Loc loc = text_.span(base->start, access->stop);
        if (access->DOT()) {
            out = make(loc, ast::Member{std::move(out), name(access->name())});
            continue;
        }
        std::vector<ast::ExprPtr> inside = exprs(access->expr());
        if (access->COLON())
            out = make(loc, ast::Slice{std::move(out), std::move(inside[0]), std::move(inside[1])});
        else
            out = make(loc, ast::Index{std::move(out), std::move(inside)});
    }
    return out;
}

ast::ExprPtr Builder::primary(P::PrimaryContext *ctx) {
    Deeper deeper(depth_, 1);
    if (tooDeep(ctx)) return make(span(ctx), ast::BoolLit{});
    if (ctx->literal()) return literal(ctx->start);
    if (ctx->call()) return call(ctx->call());
    if (ctx->expr()) return expr(ctx->expr());
    return make(span(ctx), ast::NameRef{name(ctx->name()).text});
}

ast::ExprPtr Builder::call(P::CallContext *ctx) {
    return make(span(ctx),
                ast::Call{name(ctx->name()), names(ctx->axes), exprs(ctx->expr()), names(ctx->over)});
}

ast::ExprPtr Builder::literal(const antlr4::Token *token) {
    Loc loc = text_.loc(token);
    std::string written(text_.of(token)), digits = written;
    std::erase(digits, '_');
    switch (token->getType()) {
    case P::TRUE: return make(loc, ast::BoolLit{true});
    case P::FALSE: return make(loc, ast::BoolLit{false});
    case P::INFINITE: return make(loc, ast::FloatLit{std::numeric_limits<double>::infinity(), written});
    case P::NOT_A_NUMBER: return make(loc, ast::FloatLit{std::numeric_limits<double>::quiet_NaN(), written});
    case P::FLOAT: {
        double value = 0;
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        // Out of range is an error for what overflows; what is too small to tell from 0 is 0.
        if (error == std::errc::result_out_of_range) value = std::strtod(digits.c_str(), nullptr);
        if (std::isinf(value)) diags_.report(loc, Diag::NumberTooLarge, written, "f64");
        return make(loc, ast::FloatLit{value, written});
    }
    default: {
        int64_t value = 0;
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error == std::errc::result_out_of_range) diags_.report(loc, Diag::NumberTooLarge, written, "i64");
        return make(loc, ast::IntLit{value});
    }
    }
}

} // namespace tdl::syntax
