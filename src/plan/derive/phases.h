// Cuts a stage into phases at its reductions over ranks.
//
//     m = max(X[i, j] over j)                       phase 0; its partial maximum leaves
//     g = max(m over ranks)                         phase 1, combined
//     z = sum(exp(X[i, j] - g) over j)              phase 1; X is read again
//     G[i] = g;  Z[i] = sum(z over ranks)           phase 1; phase 2
//
// Every operation has a level: the greatest of its operands', one more behind a reduction over ranks. Stores run at
// their level, behind reads of their tensor. Everything else moves down to its first user; if there are later ones,
// cheap operations and loads are repeated there, and the results of loops, products and reductions are spilled: stored
// by the phase that computes them and read back. Independent reductions at one level share a cut.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <set>
#include <vector>

namespace tdl::plan {

struct Phase {
    std::vector<const ir::Op *>
        ops; // of the stage's block, in order; a reduce_ranks stands where it is combined
    std::vector<const ir::Op *> partials;    // reduce_ranks whose operand this phase computes
    std::vector<const ir::Value *> spilled;  // computed here, read by later phases
    std::vector<const ir::Value *> reloaded; // spilled by an earlier phase
    const ir::Op *firstCombined() const;
};

/// Empty if the stage has a reduction that stands in a loop; that is reported.
std::vector<Phase> phasesOf(const ir::Op &stage, Diagnostics &);

} // namespace tdl::plan
