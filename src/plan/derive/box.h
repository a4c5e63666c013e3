// Which indices an access reaches: intervals that are functions of `rank`.
//
//     i in M @ ranks             [min(M, rank * B), min(M, (rank + 1) * B)), at most B = max(1, ceil(M, ranks)) indices
//     A[i - 1, k], k in K        rows [max(0, begin - 1), min(M, end - 1)), columns [0, K)
//
// An interval is the hull over all tiles and turns. What cannot be followed (an index from data) is the whole extent.
#pragma once
#include "ir/op.h"
#include <optional>
#include <unordered_map>
#include <vector>

namespace tdl::plan {

/// Indices lo .. hi of a dimension (none if lo >= hi); `length` bounds their number without using `rank`.
struct Interval {
    ir::Expr lo, hi, length;
    friend bool operator==(const Interval &, const Interval &) = default;
};
Interval wholeOf(const ir::Expr &extent);
Interval blockOfRank(const ir::Expr &extent);
Interval intersect(const Interval &, const Interval &);
Interval onRank(const Interval &, const ir::Expr &rank);
using Box = std::vector<Interval>;
Box onRank(const Box &, const ir::Expr &rank);

/// What binds an index: a loop of the stage's header or body.
struct Binding {
    const ir::LoopSpec *spec = nullptr;
    const ir::Value *within = nullptr; // the range that the loop runs over, if it is one
    bool fromData = false;             // its slice is known at run time only
    bool header = false;
};
using Bindings = std::unordered_map<const ir::Value *, Binding>;
/// All loops of a stage by the block argument that they bind.
Bindings bindingsOf(const ir::Op &stage);

/// The interval of a loop; `restricted`: only this rank's block of its extent.
Interval intervalOf(const ir::LoopSpec &, bool restricted);

/// What an index value reaches.
struct Reach {
    Interval base;
    ir::Expr down = 0, up = 0;            // reaches [base.lo + down, base.hi + up)
    std::optional<ir::Expr> extent;       // base lies in [0, extent)
    bool own = false;                     // base lies in this rank's block of `extent`
    bool exact = true;                    // takes each index of the interval, and each once
    std::vector<const ir::Value *> loops; // that bind it

    bool shifted() const { return !down.isConst(0) || !up.isConst(0); }
};

/// Follows an index; `restricted` is the header loop that is cut to this rank's block, or null.
class Reaches {
public:
    explicit Reaches(const Bindings &b, const ir::Value *restricted = nullptr)
        : bindings(b), restricted_(restricted) {}
    std::optional<Reach> of(const ir::Value *index) const;

private:
    const Bindings &bindings;
    const ir::Value *restricted_;
};

/// The part of a dimension of `extent` indices that is reached; the whole of it if that is not known.
Interval clipped(const std::optional<Reach> &, const ir::Expr &extent);
/// Both; nothing if they have different bases.
std::optional<Reach> hull(const std::optional<Reach> &, const std::optional<Reach> &);

} // namespace tdl::plan
