#include "ir/verify.h"
#include <algorithm>
#include <unordered_set>

namespace tdl::ir {
namespace {

std::string expected(Count c) {
    if (c.hi < 0) return fmt::format("{} or more", c.lo);
    return c.lo == c.hi ? std::to_string(c.lo) : fmt::format("{} to {}", c.lo, c.hi);
}

bool sameAxes(const Type &a, const Type &b) {
    return a.axes.size() == b.axes.size() && std::all_of(a.axes.begin(), a.axes.end(), [&](auto &x) { return b.hasAxis(x); });
}
/// Equal but for the order of axes.
bool sameType(const Type &a, const Type &b) { return a.kind == b.kind && a.elem == b.elem && sameAxes(a, b); }

class Verifier {
public:
    Verifier(const Module &m, Diagnostics &d) : module(m), diags(d) {}
    bool run() {
        block(module.top);
        return ok;
    }

private:
    const Module &module;
    Diagnostics &diags;
    std::unordered_set<const Value *> visible;
    bool ok = true;

    template <class... A> void fail(const Op &op, Diag kind, A &&...args) {
        ok = false;
        diags.report(placeOf(op), kind, std::forward<A>(args)...);
    }
    void typeError(const Op &op, std::string why) { fail(op, Diag::IrTypeRule, op.info().text, std::move(why)); }

    void block(const Block &b) {
        std::vector<const Value *> added;
        std::unordered_set<std::string> symbols;
        auto show = [&](const Value *v) {
            visible.insert(v);
            added.push_back(v);
        };
        for (auto &a : b.args) show(a.get());
        for (auto &op : b.ops) {
            if (!op->symbol.empty() && !symbols.insert(distinctName(*op)).second)
                fail(*op, Diag::IrSymbol, op->symbol, "is defined twice");
            operation(*op);
            for (auto &r : op->results) show(r.get());
        }
        for (const Value *v : added) visible.erase(v);
    }

    // A kernel may have several plans, each with a name of its own.
    static std::string distinctName(const Op &op) {
        bool planned = op.kind == OpKind::Plan || op.kind == OpKind::Kern;
        const Attr *plan = planned ? op.find(op.kind == OpKind::Plan ? "name" : "plan") : nullptr;
        const Name *name = plan ? std::get_if<Name>(plan) : nullptr;
        return name ? op.symbol + "/" + name->text : op.symbol;
    }

    void operation(const Op &op) {
        const OpInfo &info = op.info();
        bool sound = true;
        auto count = [&](size_t n, Count c, const char *what) {
            if (c.holds(n)) return;
            sound = false;
            fail(op, Diag::IrCount, info.text, n, what, expected(c));
        };
        count(op.operands.size(), info.operands, "operands");
        count(op.results.size(), info.results, "results");
        count(op.blocks.size(), info.blocks, "blocks");
        if (!(info.stages & static_cast<uint8_t>(module.stage)))
            fail(op, Diag::IrWrongStage, info.text, stageName(module.stage));
        for (const AttrSpec &s : info.attrs) {
            const Attr *a = op.find(s.name);
            if (!a && !s.optional) {
                sound = false;
                fail(op, Diag::IrMissingAttr, info.text, s.name);
            } else if (a && !attrFits(*a, s.type)) {
                sound = false;
                fail(op, Diag::IrAttrType, s.name, info.text);
            }
        }
        bool named = op.kind == OpKind::Kernel || op.kind == OpKind::Plan || op.kind == OpKind::Kern ||
                     op.kind == OpKind::Stage || op.kind == OpKind::Task || op.kind == OpKind::Program;
        if (named == op.symbol.empty()) fail(op, Diag::IrSymbol, info.text, named ? "needs a name" : "has no name");
        for (size_t i = 0; i < op.operands.size(); ++i)
            if (!visible.contains(op.operands[i])) {
                sound = false;
                fail(op, Diag::IrNotVisible, i, info.text);
            }
        if (sound) types(op);
        for (auto &b : op.blocks) {
            block(*b);
            if (sound && (op.kind == OpKind::For || op.kind == OpKind::Loop)) yields(op, *b);
        }
    }

    // Carried values: operands behind the loop's own, block arguments behind its index, yield and results agree.
    void yields(const Op &op, const Block &b) {
        size_t own = op.kind == OpKind::Loop ? 3 : (op.has("slice") ? 2u : 0u) + (op.has("within") ? 1u : 0u);
        size_t n = op.results.size();
        const Op *last = b.ops.empty() ? nullptr : b.ops.back().get();
        if (!last || last->kind != OpKind::Yield || last->operands.size() != n)
            return fail(op, Diag::IrNoYield, op.info().text, n);
        if (op.operands.size() != own + n || b.args.size() != 1 + n)
            return typeError(op, fmt::format("carries {} values but has {} operands and {} block arguments", n,
                                             op.operands.size(), b.args.size()));
        for (size_t i = 0; i < n; ++i) {
            const Type &t = op.results[i]->type;
            if (!sameType(t, op.operands[own + i]->type) || !sameType(t, b.args[1 + i]->type) ||
                !sameType(t, last->operands[i]->type))
                typeError(op, fmt::format("carried value {} changes its type", i));
        }
    }

    void wantTile(const Op &op, const Type &want) {
        if (!sameType(op.results[0]->type, want))
            typeError(op, fmt::format("result should be {}, not {}", want.str(), op.results[0]->type.str()));
    }

    void types(const Op &op) {
        auto t = [&](size_t i) -> const Type & { return op.operands[i]->type; };
        if (isElementwise(op.kind)) return elementwise(op);
        switch (op.kind) {
        case OpKind::Broadcast: {
            Type want = t(0);
            for (size_t i = 1; i < op.operands.size(); ++i) {
                if (!t(i).isRange()) return typeError(op, "repeats along ranges only");
                want.axes = unionAxes(want.axes, t(i).axes);
            }
            return wantTile(op, want);
        }
        case OpKind::Index:
        case OpKind::Begin:
        case OpKind::End:
            if (!t(0).isRange()) return typeError(op, "needs a range");
            return wantTile(op, op.kind == OpKind::Index ? Type::tile(Elem::I64, t(0).axes) : Type::scalar(Elem::I64));
        case OpKind::Shift:
            if (!t(0).isRange() || t(1) != Type::scalar(Elem::I64)) return typeError(op, "needs a range and an i64");
            return wantTile(op, t(0));
        case OpKind::Whole:
        case OpKind::RangeOp:
        case OpKind::Span: return wantTile(op, Type::range(op.name("axis")));
        case OpKind::ExprOp: return wantTile(op, Type::scalar(Elem::I64));
        case OpKind::Const: {
            const Type &r = op.results[0]->type;
            if (!r.isScalar()) return typeError(op, "gives a scalar");
            if (isFloat(r.elem) != std::holds_alternative<double>(*op.find("value")))
                typeError(op, fmt::format("value does not suit {}", r.str()));
            return;
        }
        case OpKind::Dot: return dot(op);
        case OpKind::Reduce: return reduce(op);
        case OpKind::ReduceRanks: {
            Type want = t(0);
            want.elem = reducedElem(op, t(0).elem);
            return wantTile(op, want);
        }
        case OpKind::Load: return access(op, 0);
        case OpKind::Store: return access(op, 1);
        case OpKind::For:
            if (op.body().args.empty()) return typeError(op, "needs a block argument for its range or index");
            if (op.body().args[0]->type != (op.loop().isRange ? Type::range(op.loop().name) : Type::scalar(Elem::I64)))
                typeError(op, "block argument 0 should be its range or index");
            return;
        case OpKind::Loop:
            for (size_t i = 0; i < 3; ++i)
                if (t(i) != Type::scalar(Elem::I64)) return typeError(op, "bounds and step are i64");
            return;
        case OpKind::If:
            if (t(0) != Type::scalar(Elem::Bool)) typeError(op, "needs a bool");
            return;
        default: return;
        }
    }

    void elementwise(const Op &op) {
        Type want = op.operands[0]->type;
        size_t first = op.kind == OpKind::Select ? 1 : 0;
        for (size_t i = 0; i < op.operands.size(); ++i) {
            const Type &t = op.operands[i]->type;
            if (!t.isTile()) return typeError(op, fmt::format("operand {} is a {}, not a tile", i, t.str()));
            if (i > first && t.elem != op.operands[first]->type.elem)
                return typeError(op, fmt::format("operands are {} and {}", op.operands[first]->type.str(), t.str()));
            want.axes = unionAxes(want.axes, t.axes);
        }
        bool logic = op.kind == OpKind::And || op.kind == OpKind::Or || op.kind == OpKind::Not;
        if ((logic || op.kind == OpKind::Select) && op.operands[0]->type.elem != Elem::Bool)
            return typeError(op, "operand 0 should be a bool");
        bool floats = op.kind >= OpKind::Exp && op.kind <= OpKind::Tanh;
        if (floats && !isFloat(want.elem)) return typeError(op, "operand should be a float");
        want.elem = isComparison(op.kind) ? Elem::Bool : op.operands[first]->type.elem;
        if (op.kind == OpKind::Cast) want.elem = op.results[0]->type.elem;
        wantTile(op, want);
    }

    void dot(const Op &op) {
        const Type &a = op.operands[0]->type, &b = op.operands[1]->type;
        if (!a.isTile() || !b.isTile() || a.elem != b.elem)
            return typeError(op, fmt::format("operands are {} and {}", a.str(), b.str()));
        for (const std::string &x : op.names("over"))
            if (!a.hasAxis(x) || !b.hasAxis(x)) return typeError(op, fmt::format("axis `{}` is not in both operands", x));
        wantTile(op, without(Type::tile(accumulatorOf(a.elem), unionAxes(a.axes, b.axes)), op.names("over")));
    }

    static Type without(Type t, const std::vector<std::string> &over) {
        std::erase_if(t.axes, [&](const std::string &x) { return std::find(over.begin(), over.end(), x) != over.end(); });
        return t;
    }

    Elem reducedElem(const Op &op, Elem e) {
        const std::string &k = op.name("kind");
        if (k == "sum" || k == "mean") return accumulatorOf(e);
        if (k == "max" || k == "min") return e;
        if (k == "argmax" || k == "argmin") return Elem::I64;
        typeError(op, fmt::format("there is no reduction `{}`", k));
        return e;
    }

    void reduce(const Op &op) {
        const Type &v = op.operands[0]->type;
        for (const std::string &x : op.names("over"))
            if (!v.hasAxis(x)) return typeError(op, fmt::format("axis `{}` is not in the operand", x));
        wantTile(op, without(Type::tile(reducedElem(op, v.elem), v.axes), op.names("over")));
    }

    // Load and store: an index per dimension; the axes of all indices are those of the tile (a store may add none it lacks).
    void access(const Op &op, size_t at) {
        const Type &mem = op.operands[at]->type;
        if (mem.kind != TypeKind::Tensor && mem.kind != TypeKind::Buffer) return typeError(op, "needs a tensor or buffer");
        const Op *decl = op.operands[at]->def;
        if (!decl || (decl->kind != OpKind::Tensor && decl->kind != OpKind::Buffer))
            return typeError(op, "needs a declared tensor or buffer");
        size_t dims = decl->kind == OpKind::Tensor ? decl->dims().size() : decl->exprs("dims").size();
        size_t indices = op.operands.size() - at - 1 - (op.has("or") ? 1 : 0);
        if (dims != indices) return typeError(op, fmt::format("{} indices for {} dimensions", indices, dims));
        std::vector<std::string> axes;
        for (size_t i = 0; i < dims; ++i) {
            const Type &t = op.operands[at + 1 + i]->type;
            bool integer = t.isTile() && (t.elem == Elem::I64 || t.elem == Elem::I32);
            if (!t.isRange() && !integer) return typeError(op, fmt::format("index {} is a {}", i, t.str()));
            axes = unionAxes(axes, t.axes);
        }
        if (op.kind == OpKind::Load) {
            if (op.has("or")) axes = unionAxes(axes, op.operands.back()->type.axes);
            return wantTile(op, Type::tile(mem.elem, axes));
        }
        const Type &v = op.operands[0]->type;
        if (v.elem != mem.elem) return typeError(op, fmt::format("stores {} into {}", v.str(), mem.str()));
        for (const std::string &x : v.axes)
            if (std::find(axes.begin(), axes.end(), x) == axes.end())
                return typeError(op, fmt::format("axis `{}` of the value indexes no dimension", x));
    }
};

} // namespace

bool verifyStructure(const Module &m, Diagnostics &d) { return Verifier(m, d).run(); }

} // namespace tdl::ir
