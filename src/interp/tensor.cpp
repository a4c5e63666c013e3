#include "interp/tensor.h"
#include "support/convert.h"
#include <fmt/format.h>
#include <limits>

namespace tdl::interp {

int64_t Tensor::elements() const {
    int64_t n = 1;
    for (int64_t e : extents) n *= e;
    return n;
}

void Tensor::poison() {
    auto n = static_cast<size_t>(copies() * elements());
    if (isFloat(elem))
        f.assign(n, std::numeric_limits<double>::quiet_NaN());
    else
        i.assign(n, wrapTo(elem, 0x5a5a5a5a5a5a5a5a));
}

std::string Tensor::element(int64_t at) const {
    int64_t n = elements(), in = n ? at % n : 0;
    std::string s;
    for (size_t d = extents.size(); d-- > 0; in /= extents[d])
        s = std::to_string(in % extents[d]) + (s.empty() ? "" : ", ") + s;
    s = fmt::format("{}[{}]", name, s);
    return isPrivate() && ranks > 1 ? fmt::format("{} of rank {}", s, at / n) : s;
}

std::optional<Tensor> declare(const ir::Op &op, int64_t ranks, const ir::Expr::Env &env) {
    Tensor t;
    t.name = op.name();
    t.elem = op.result()->type.elem;
    t.uniform = op.has("uniform");
    t.ranks = ranks;
    for (const ir::Dim &d : op.dims()) {
        auto e = d.extent.evaluate(env);
        if (!e || *e < 0) return std::nullopt;
        if (d.dist) t.dist = static_cast<int>(t.extents.size());
        t.extents.push_back(*e);
    }
    return t;
}

} // namespace tdl::interp
