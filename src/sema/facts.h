// What holds for every launch: sizes are >= 0, ranks >= 1, and the conditions of `require`. Decides whether
// an index lies inside its extent and whether two extents are the same.
//
//     atLeast(2 * M, M)            true          atLeast(M, K)            false: not for all sizes
//     equal(M * 2, M + M)          true          atLeast(M, M - 1)        true
//     after assume(N > 4):         atLeast(N - 1, 4) true
//
// Expressions are brought into the form of sums of products (by 64-bit numbers that must not overflow);
// quotients, `min` and the like are atoms of which the defining inequalities are known. "false" means "cannot
// be shown".
#pragma once
#include "ir/expr.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tdl::sema {

/// A sum of products of atoms: {{M, N}: 2, {}: -1} is 2 * M * N - 1.
struct Polynomial {
    std::map<std::vector<std::string>, int64_t> terms;
    bool sound = true; // false: a number overflowed or it grew too large; nothing follows from it
};

class Facts {
public:
    /// A condition that a launch meets; what is no comparison of integers (or `&&` of such) says nothing
    /// here.
    void assume(const ir::Expr &condition);
    bool atLeast(const ir::Expr &a, const ir::Expr &b) const; // a >= b
    bool equal(const ir::Expr &a, const ir::Expr &b) const;

private:
    std::vector<ir::Expr> known; // each >= 0
};

} // namespace tdl::sema
