// Integer expressions over named launch-time values: extents, counts, orders, offsets.
//
// They stand where a quantity is known before any data is read: tensor dimensions, loop extents, the counts,
// peers, chunks and boxes of a plan. Symbols are sizes (`M`), `ranks`, `rank`, tile constants (`TM`) and, in a
// plan, the coordinates of a task. Values that depend on data are SSA values instead.
//
//     ceil(M, ranks)        rank * ceil(M, ranks)        min(M, (d + 1) * ceil(M, ranks))
//
// Meaning: 64-bit two's complement; `/` truncates, x / 0 = x % 0 = ceil(x, 0) = 0 (as in the language); comparisons and
// `&& || !` give 0 or 1. Building an expression folds constants and drops neutral elements, nothing more, so equal
// texts mean equal expressions but not the reverse.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tdl::ir {

enum class ExprKind : uint8_t { Const, Sym, Add, Sub, Mul, Div, Mod, Ceil, Min, Max, Eq, Ne, Lt, Le, Gt, Ge, And, Or, Not };

class Expr {
public:
    Expr() : Expr(0) {}
    Expr(int64_t value);
    Expr(int value) : Expr(static_cast<int64_t>(value)) {}
    static Expr sym(std::string name);
    /// Combines with folding; `b` is ignored for Not.
    static Expr make(ExprKind, Expr a, Expr b);

    ExprKind kind() const;
    int64_t value() const;            // of a Const
    const std::string &name() const;  // of a Sym
    Expr lhs() const;                 // of all others
    Expr rhs() const;                 // of all others but Not

    bool isConst() const { return kind() == ExprKind::Const; }
    bool isConst(int64_t v) const { return isConst() && value() == v; }
    bool isSym(std::string_view s) const { return kind() == ExprKind::Sym && name() == s; }

    using Env = std::function<std::optional<int64_t>(std::string_view)>;
    /// Nothing if a symbol has no value.
    std::optional<int64_t> evaluate(const Env &) const;
    /// Replaces symbols for which `f` gives an expression.
    Expr substitute(const std::function<std::optional<Expr>(std::string_view)> &f) const;
    /// Each symbol once, in order of first appearance.
    std::vector<std::string> symbols() const;
    bool uses(std::string_view symbol) const;
    std::string str() const; // least parentheses

    friend bool operator==(const Expr &, const Expr &); // structural

private:
    struct Node;
    explicit Expr(std::shared_ptr<const Node> n) : node(std::move(n)) {}
    std::shared_ptr<const Node> node;
};

inline Expr operator+(Expr a, Expr b) { return Expr::make(ExprKind::Add, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return Expr::make(ExprKind::Sub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return Expr::make(ExprKind::Mul, std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return Expr::make(ExprKind::Div, std::move(a), std::move(b)); }
inline Expr operator%(Expr a, Expr b) { return Expr::make(ExprKind::Mod, std::move(a), std::move(b)); }
inline Expr ceilDiv(Expr a, Expr b) { return Expr::make(ExprKind::Ceil, std::move(a), std::move(b)); }
inline Expr min(Expr a, Expr b) { return Expr::make(ExprKind::Min, std::move(a), std::move(b)); }
inline Expr max(Expr a, Expr b) { return Expr::make(ExprKind::Max, std::move(a), std::move(b)); }

/// Block of a distributed extent on one rank, max(1, ceil(E, ranks)); index x belongs to rank x / block.
Expr blockOf(const Expr &extent);
/// [begin, end) of rank `r`'s indices of a distributed extent, clipped to it; empty on late ranks.
Expr blockBegin(const Expr &extent, const Expr &r);
Expr blockEnd(const Expr &extent, const Expr &r);

/// Arithmetic of one operator, shared with constant folding elsewhere.
int64_t apply(ExprKind, int64_t a, int64_t b);
/// `+`, `ceil`, `<=`, ...
std::string_view spelling(ExprKind);

} // namespace tdl::ir
