#include "plan/plan.h"

namespace tdl::plan {

using ir::Expr;
using ir::Op;
using ir::OpKind;

Placement placementOf(const Op &tensor) {
    if (tensor.has("uniform")) return Placement::Uniform;
    return distDim(tensor) < 0 ? Placement::Private : Placement::Distributed;
}

int distDim(const Op &tensor) {
    const auto &dims = tensor.dims();
    for (size_t i = 0; i < dims.size(); ++i)
        if (dims[i].dist) return static_cast<int>(i);
    return -1;
}

Expr thisRank() {
    return Expr::sym("rank");
}
Expr ranks() {
    return Expr::sym("ranks");
}

Expr onRank(const Expr &e, const Expr &r) {
    return e.substitute(
        [&](std::string_view s) { return s == "rank" ? std::optional<Expr>(r) : std::nullopt; });
}

Expr product(const std::vector<Expr> &factors) {
    Expr p = 1;
    for (const Expr &f : factors) p = p * f;
    return p;
}

std::vector<const Op *> tasksOf(const Op &plan) {
    std::vector<const Op *> tasks;
    for (auto &op : plan.body().ops)
        if (op->kind == OpKind::Task) tasks.push_back(op.get());
    return tasks;
}

std::vector<Expr> extentsOf(const Op &memory) {
    if (memory.kind == OpKind::Buffer) return memory.exprs("dims");
    std::vector<Expr> extents;
    for (const ir::Dim &d : memory.dims()) extents.push_back(d.extent);
    return extents;
}

} // namespace tdl::plan
