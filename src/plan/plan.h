// Plans as data: typed access to their parts, and the facts about placement that deriving, verifying and lowering
// share. README.md of this folder is the reference.
#pragma once
#include "ir/op.h"
#include <optional>

namespace tdl::plan {

enum class Placement : uint8_t { Private, Uniform, Distributed };
Placement placementOf(const ir::Op &tensor);
/// The dimension that is split over the ranks, or -1.
int distDim(const ir::Op &tensor);

/// The symbols `rank` and `ranks`.
ir::Expr thisRank();
ir::Expr ranks();
/// `e` as rank `r` computes it: every `rank` in it replaced.
ir::Expr onRank(const ir::Expr &e, const ir::Expr &r);

ir::Expr product(const std::vector<ir::Expr> &);
/// The tasks of a plan in ticket order.
std::vector<const ir::Op *> tasksOf(const ir::Op &plan);
/// Number of tickets of a task.
inline ir::Expr ticketsOf(const ir::Op &task) {
    return product(task.exprs("counts"));
}
/// Extents of a tensor's or buffer's dimensions; of a tensor the global ones.
std::vector<ir::Expr> extentsOf(const ir::Op &memory);

/// f(op) for every operation of the block and of the blocks nested in it, in order.
template <class F> void walk(const ir::Block &b, F &&f) {
    for (auto &op : b.ops) {
        f(*op);
        for (auto &inner : op->blocks) walk(*inner, f);
    }
}

} // namespace tdl::plan
