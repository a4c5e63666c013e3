#include "interp/scale.h"
#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace tdl::interp {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

template <class F> void eachOp(const ir::Block &b, F &&f) {
    for (auto &op : b.ops) {
        f(*op);
        for (auto &inner : op->blocks) eachOp(*inner, f);
    }
}

/// Goes from every store back to the loads. `shrink` is by how much (a logarithm) the value must be smaller
/// than it would be from inputs of unit variance: half the logarithm of the number of terms of each sum on
/// the way. Both factors of a product bear half of it. `acrossRanks` is the share of a sum over ranks, which
/// a sum along a distributed axis on the way has counted already.
class Scales {
public:
    Scales(const Op &kernel, const Launch &l) : launch(l) {
        eachOp(kernel.body(), [&](const Op &op) {
            if (op.kind == OpKind::Stage)
                for (const ir::LoopSpec &s : op.loops()) axes[s.name] = {length(kernel, s.extent), s.dist};
            if (op.kind == OpKind::For)
                axes[op.loop().name] = {length(kernel, op.has("within") ? op.loop().by : op.loop().extent),
                                        op.loop().dist};
            if (op.kind == OpKind::Whole) axes[op.name("axis")] = {length(kernel, op.expr("extent")), false};
            if (op.kind == OpKind::Store) stores[op.operands[1]->def].push_back(op.operands[0]);
        });
        for (auto &[decl, values] : stores)
            for (const Value *v : values) trace(v, 0, 0);
    }

    std::map<std::string, double> result() const {
        std::map<std::string, double> out;
        for (const Tensor &t : launch.tensors) out[t.name] = 1;
        for (auto &[decl, shrink] : needed) out[decl->name()] = std::exp(-shrink);
        return out;
    }

private:
    struct Extent {
        double logLength;
        bool dist;
    };
    const Launch &launch;
    std::map<std::string, Extent> axes;
    std::map<const Op *, std::vector<const Value *>> stores;
    std::map<const Op *, double> needed;
    std::unordered_map<const Value *, double> done;
    std::unordered_set<const Value *> active; // on the way from the store

    double length(const Op &kernel, const ir::Expr &e) const {
        auto n = e.evaluate([&](std::string_view s) -> std::optional<int64_t> {
            if (s == "ranks") return launch.ranks;
            for (const ir::Bind &b : kernel.binds("tiles"))
                if (b.name == s) return b.value;
            auto it = launch.sizes.find(std::string(s));
            return it == launch.sizes.end() ? std::nullopt : std::optional(it->second);
        });
        return std::log(static_cast<double>(std::max<int64_t>(1, n.value_or(1))));
    }

    static bool isConstant(const Value *v) {
        while (v->def && (v->def->kind == OpKind::Cast || v->def->kind == OpKind::Broadcast))
            v = v->def->operands[0];
        return v->def && (v->def->kind == OpKind::Const || v->def->kind == OpKind::ExprOp ||
                          v->def->kind == OpKind::Param);
    }

    void product(const Op &op, double shrink, double acrossRanks) {
        const Value *a = op.operands[0], *b = op.operands[1];
        if (isConstant(a) || isConstant(b)) return trace(isConstant(a) ? b : a, shrink, acrossRanks);
        trace(a, shrink / 2, acrossRanks / 2);
        trace(b, shrink / 2, acrossRanks / 2);
    }

    void sumOver(const Op &op, double &shrink, double &acrossRanks) const {
        for (const std::string &name : op.names("over")) {
            Extent e = axes.at(name);
            shrink += e.logLength / 2;
            if (e.dist) acrossRanks = 0;
        }
    }

    void trace(const Value *v, double shrink, double acrossRanks) {
        if (!active.insert(v).second) return; // a tensor updated in place leads back to itself
        visit(v, shrink, acrossRanks);
        active.erase(v);
    }

    void visit(const Value *v, double shrink, double acrossRanks) {
        auto [it, fresh] = done.emplace(v, shrink + acrossRanks);
        if (!fresh && it->second >= shrink + acrossRanks) return;
        it->second = shrink + acrossRanks;
        if (!v->def) return; // a range, or carried: the loop's result leads to where it comes from
        const Op &op = *v->def;
        switch (op.kind) {
        case OpKind::Load: {
            const Op *decl = op.operands[0]->def;
            if (decl->name("mode") != "local" && decl->name("mode") != "out")
                needed[decl] = std::max(needed[decl], shrink + acrossRanks);
            if (auto s = stores.find(decl); s != stores.end())
                for (const Value *stored : s->second) trace(stored, shrink, acrossRanks);
            return;
        }
        case OpKind::Mul: return product(op, shrink, acrossRanks);
        case OpKind::Dot: sumOver(op, shrink, acrossRanks); return product(op, shrink, acrossRanks);
        case OpKind::Reduce:
            if (op.name("kind") == "sum") sumOver(op, shrink, acrossRanks);
            return trace(op.operands[0], shrink, acrossRanks);
        case OpKind::ReduceRanks:
            if (op.name("kind") == "sum") acrossRanks += std::log(static_cast<double>(launch.ranks)) / 2;
            return trace(op.operands[0], shrink, acrossRanks);
        case OpKind::For: {
            auto n = static_cast<size_t>(
                std::find_if(op.results.begin(), op.results.end(), [&](auto &r) { return r.get() == v; }) -
                op.results.begin());
            trace(op.operands[op.operands.size() - op.results.size() + n], shrink, acrossRanks);
            if (!op.loop().isRange && op.name("order") == "accumulate") {
                shrink += axes.at(op.loop().name).logLength / 2;
                if (op.loop().dist) acrossRanks = 0;
            }
            return trace(op.body().ops.back()->operands[n], shrink, acrossRanks);
        }
        case OpKind::Div: trace(op.operands[1], 0, 0); return trace(op.operands[0], shrink, acrossRanks);
        case OpKind::Select:
            trace(op.operands[1], shrink, acrossRanks);
            return trace(op.operands[2], shrink, acrossRanks);
        case OpKind::Broadcast: return trace(op.operands[0], shrink, acrossRanks);
        case OpKind::Add:
        case OpKind::Sub:
        case OpKind::Min:
        case OpKind::Max:
        case OpKind::Neg:
        case OpKind::Abs:
        case OpKind::Cast:
            for (const Value *operand : op.operands) trace(operand, shrink, acrossRanks);
            return;
        default: // not linear: what goes in should be of unit variance
            for (const Value *operand : op.operands)
                if (operand->type.isTile()) trace(operand, 0, 0);
        }
    }
};

int precision(Elem e) { // significant bits
    switch (e) {
    case Elem::F64: return 53;
    case Elem::F32: return 24;
    case Elem::F16: return 11;
    case Elem::BF16: return 8;
    case Elem::F8E4M3: return 4;
    case Elem::F8E5M2: return 3;
    case Elem::Bool:
    case Elem::I8:
    case Elem::I32:
    case Elem::I64: break;
    }
    return 64;
}

} // namespace

std::map<std::string, double> inputScales(const Op &kernel, const Launch &l) {
    return Scales(kernel, l).result();
}

bool isExact(const Op &kernel) {
    bool exact = true;
    eachOp(kernel.body(), [&](const Op &op) {
        bool floats =
            !op.operands.empty() && op.operands[0]->type.isTile() && isFloat(op.operands[0]->type.elem);
        switch (op.kind) {
        case OpKind::Exp:
        case OpKind::Exp2:
        case OpKind::Log2:
        case OpKind::Sqrt:
        case OpKind::Rsqrt:
        case OpKind::Erf:
        case OpKind::Tanh: exact = false; break;
        case OpKind::Div: exact &= !floats; break;
        case OpKind::Reduce:
        case OpKind::ReduceRanks: exact &= !(floats && op.name("kind") == "mean"); break;
        case OpKind::Const: // a few binary digits, so that products stay exact
            if (isFloat(op.result()->type.elem)) {
                double v = std::get<double>(*op.find("value")) * 1024;
                exact &= !std::isfinite(v) || (std::fabs(v) <= 0x1p20 && v == std::trunc(v));
            }
            break;
        case OpKind::For: // a product carried from turn to turn gains digits in each
            if (op.has("order") && op.name("order") != "accumulate")
                eachOp(op.body(), [&](const Op &inner) {
                    bool product = inner.kind == OpKind::Mul || inner.kind == OpKind::Dot;
                    exact &= !(product && isFloat(inner.result()->type.elem));
                });
            break;
        default: break;
        }
    });
    return exact;
}

Tolerance toleranceFor(const Op &kernel, const Tensor &out, DataMode mode) {
    if (!isFloat(out.elem) || (mode == DataMode::Exact && isExact(kernel))) return {};
    // Casts whose results are more than stored in an argument: they round on the way.
    std::unordered_set<const Value *> used;
    eachOp(kernel.body(), [&](const Op &op) {
        for (size_t n = 0; n < op.operands.size(); ++n)
            if (op.kind != OpKind::Store || n > 0 || op.operands[1]->def->name("mode") == "local")
                used.insert(op.operands[n]);
    });
    Elem least = out.elem;
    bool onTheWay = false;
    eachOp(kernel.body(), [&](const Op &op) {
        if (op.kind != OpKind::Cast || !used.contains(op.result())) return;
        Elem from = op.operands[0]->type.elem, to = op.result()->type.elem;
        if (!isFloat(from) || !isFloat(to) || precision(to) >= precision(from)) return;
        onTheWay = true;
        if (precision(to) < precision(least)) least = to;
    });
    Tolerance t = toleranceOf(least);
    if (onTheWay) t.frobenius *= 5.0 / 3;
    return t;
}

} // namespace tdl::interp
