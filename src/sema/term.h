// A term: what an expression stands for while it is checked.
//
//     0.5            Literal   has no type yet: it takes the other side's
//     M + 1          Size      known when a kernel is launched: an expression, not an operation
//     X[i, j] * 2    Value     an SSA value: a tile, or a scalar that data or a loop decides
//     i - 1          Range     consecutive indices, moved; an index as it is, a tile of indices as a value
//     N @ ranks      Domain    what a loop runs over
//     X              Tensor    needs indices
//     (an error)     Error     was reported; whatever is made of it is an Error without further words
#pragma once
#include "diagnostics/loc.h"
#include "ir/op.h"
#include <memory>
#include <variant>
#include <vector>

namespace tdl::sema {

struct Tensor;
struct Domain;

enum class TermKind : uint8_t { Error, Literal, Size, Value, Range, Domain, Tensor };

using Number = std::variant<bool, int64_t, double>;

/// e + n, without a sum of two numbers at its end.
ir::Expr plus(const ir::Expr &e, const ir::Expr &n);

/// What is known of an integer x or of the indices of a range: every `low` <= x, x < every `high`.
struct Bounds {
    std::vector<ir::Expr> low, high;
    Bounds moved(const ir::Expr &by) const;
    Bounds plus(const Bounds &) const; // of a sum
};

struct Term {
    TermKind kind = TermKind::Error;
    Loc loc;
    Number number;              // Literal
    ir::Expr expr;              // Size: its value; Range: by how much it is moved
    int weight = 1;             // Size: nodes of `expr` as a tree
    bool condition = false;     // Size: a truth value (only in `require`)
    ir::Value *value = nullptr; // Value; Range: before it is moved
    Bounds bounds;              // Value, if an i64 scalar; Range: before it is moved
    std::shared_ptr<const Domain> domain;
    const Tensor *tensor = nullptr;

    bool is(TermKind k) const { return kind == k; }
    bool isError() const { return kind == TermKind::Error; }
    bool isInt() const { return kind == TermKind::Literal && std::holds_alternative<int64_t>(number); }
    /// Known at launch, or a literal integer.
    bool isSymbolic() const { return (kind == TermKind::Size && !condition) || isInt(); }
    ir::Expr symbol() const { return isInt() ? ir::Expr(std::get<int64_t>(number)) : expr; }

    static Term error(Loc l);
    static Term literal(Loc l, Number n);
    static Term size(Loc l, ir::Expr e, int weight = 1);
    static Term of(Loc l, ir::Value *v); // Value
};

/// Bounds of a scalar: exact for literals and sizes.
Bounds boundsOf(const Term &);

/// `extent`, this rank's block of it, or the indices of a range; then a slice of that.
struct Domain {
    ir::Expr extent;
    bool dist = false;
    ir::Value *within = nullptr;
    Bounds inside; // of `within`
    bool sliced = false;
    Term low, high; // integer scalars, if sliced
};

} // namespace tdl::sema
