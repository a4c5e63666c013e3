// Attributes of operations: what is known when the IR is built. Their types, as ops.def names them, and spelling:
//
//     int 3      num 0.5, 2, -inf      flag (present or not)    name sum       names [i, j]     str "M > 0"
//     expr ceil(M, ranks)              exprs [M, K]             dims [M @ ranks, K]
//     binds [TM = 128, TN = 256]       loop k in K by TK        loops [i in M by TM, j in N @ ranks by TN]
#pragma once
#include "ir/expr.h"
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tdl::ir {

/// One dimension of a tensor; `dist`: split over the ranks in blocks.
struct Dim {
    Expr extent;
    bool dist = false;
    friend bool operator==(const Dim &, const Dim &) = default;
};

/// A tile constant or the like: a name and a value.
struct Bind {
    std::string name;
    int64_t value = 0;
    friend bool operator==(const Bind &, const Bind &) = default;
};

/// A loop over an extent: `h in H` binds an index, `i in M by TM` binds ranges of at most TM indices, `@ ranks` takes
/// this rank's block. A slice, `j in S[a : b]`, has bounds; where data decides them they are operands instead.
struct LoopSpec {
    std::string name;
    Expr extent;
    bool dist = false;
    bool isRange = false;
    Expr by;                       // if isRange
    bool sliced = false;
    Expr lo, hi;                   // if sliced
    std::string str() const;
    friend bool operator==(const LoopSpec &, const LoopSpec &) = default;
};

struct Flag {
    friend bool operator==(const Flag &, const Flag &) = default;
};
struct Name {
    std::string text;
    friend bool operator==(const Name &, const Name &) = default;
};

using Attr = std::variant<Flag, int64_t, double, Name, std::string, std::vector<std::string>, Expr, std::vector<Expr>,
                          std::vector<Dim>, std::vector<Bind>, LoopSpec, std::vector<LoopSpec>>;

enum class AttrType : uint8_t { Flag, Int, Num, Name, Str, Names, Expr, Exprs, Dims, Binds, Loop, Loops };

struct AttrSpec {
    std::string_view name;
    AttrType type;
    bool optional;
};

std::string printAttr(const Attr &);
/// Does the value fit the type? (num: int64_t or double)
bool attrFits(const Attr &, AttrType);

} // namespace tdl::ir
