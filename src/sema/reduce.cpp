// Reductions over axes and over ranks, and `dot`.
//
//     sum(x over j)                 reduce(kind = sum, over = [j]) : f32[i]        x bf16[i, j]: summed in
//     f32 sum(acc as bf16 over ranks)   reduce_ranks(kind = sum) : f32[i, j] dot(a, b over k) dot(over = [k])
//     : f32[i, j]
#include "sema/lower.h"
#include "syntax/print.h"
#include <algorithm>

namespace tdl::sema {

using ir::OpKind;
using ir::Type;

namespace {

/// The IR's names of the axes in `over`, which `v` (an argument of the call) must have.
bool overAxes(Context &ctx, const ast::Call &c, std::vector<std::string> &names) {
    bool ok = true;
    for (const ast::Name &n : c.over) {
        const Term *t = axis(ctx, n);
        if (!t) {
            ok = false;
            continue;
        }
        const std::string &a = t->value->type.axes[0];
        if (std::find(names.begin(), names.end(), a) != names.end()) {
            ctx.report(n.loc, Diag::AxisAgain, n.text);
            ok = false;
        }
        names.push_back(a);
    }
    return ok;
}

bool hasAxes(Context &ctx, const ast::Call &c, size_t arg, const Term &v,
             const std::vector<std::string> &names) {
    auto axes = axesOf(v);
    bool ok = true;
    for (size_t i = 0; i < names.size(); ++i) {
        if (std::find(axes.begin(), axes.end(), names[i]) != axes.end()) continue;
        auto said = ctx.report(c.over[i].loc, Diag::NoSuchAxis, print(*c.args[arg]), c.over[i].text);
        std::string has;
        for (const std::string &a : axes) has += (has.empty() ? "`" : ", `") + ctx.axisSource(a) + "`";
        said.note(c.args[arg]->loc, has.empty() ? "it is a scalar" : "its axes are " + has);
        ok = false;
    }
    return ok;
}

std::vector<std::string> without(std::vector<std::string> axes, const std::vector<std::string> &names) {
    std::erase_if(axes, [&](auto &a) { return std::find(names.begin(), names.end(), a) != names.end(); });
    return axes;
}

} // namespace

Term reduction(Context &ctx, const ast::Call &c, Loc loc) {
    const std::string &f = c.callee.text;
    bool ranks = std::any_of(c.over.begin(), c.over.end(), [](auto &n) { return n.text == "ranks"; });
    Term v = value(ctx, *c.args[0]);
    if (ranks && c.over.size() > 1) {
        ctx.report(loc, Diag::ReducesBoth, f)
            .note(hint(loc), fmt::format("write `{0}({0}(... over axes) over ranks)`", f));
        return Term::error(loc);
    }
    std::vector<std::string> names;
    if (!ranks && !overAxes(ctx, c, names)) return Term::error(loc);
    if (v.isError() || (!ranks && !hasAxes(ctx, c, 0, v, names))) return Term::error(loc);
    Elem e = elemOf(v);
    if (e == Elem::Bool) {
        ctx.report(c.args[0]->loc, Diag::WantsNumber, f)
            .note(hint(loc), "a bool becomes a number only by `as`");
        return Term::error(loc);
    }
    bool arg = f == "argmax" || f == "argmin";
    if (f == "mean" && !isFloat(e)) {
        ctx.report(c.args[0]->loc, Diag::WantsFloat, f, elemName(e))
            .note(hint(loc), "convert it by `as f32`");
        return Term::error(loc);
    }
    if (arg && names.size() > 1) {
        ctx.report(loc, Diag::ArgAxes, f, names.size());
        return Term::error(loc);
    }
    ir::Value *x = toValue(ctx, v);
    Elem result = arg ? Elem::I64 : f == "sum" || f == "mean" ? accumulatorOf(e) : e;
    Type type = Type::tile(result, without(x->type.axes, names));
    if (ranks) return Term::of(loc, ctx.emit(OpKind::ReduceRanks, loc, {x}, type, {{"kind", ir::Name{f}}}));
    return Term::of(loc, ctx.emit(OpKind::Reduce, loc, {x}, type, {{"kind", ir::Name{f}}, {"over", names}}));
}

Term dot(Context &ctx, const ast::Call &c, Loc loc) {
    Term a = value(ctx, *c.args[0]), b = value(ctx, *c.args[1]);
    for (const ast::Name &n : c.over)
        if (n.text == "ranks") {
            ctx.report(n.loc, Diag::RanksAxis).note(hint(loc), "write `sum(dot(...) over ranks)`");
            return Term::error(loc);
        }
    std::vector<std::string> names;
    if (!overAxes(ctx, c, names) || a.isError() || b.isError()) return Term::error(loc);
    bool first = hasAxes(ctx, c, 0, a, names), second = hasAxes(ctx, c, 1, b, names);
    if (!first || !second) return Term::error(loc);
    Elem x = elemOf(a), y = elemOf(b);
    if (x == Elem::Bool || y == Elem::Bool) {
        ctx.report(loc, Diag::WantsNumber, "dot").note(hint(loc), "a bool becomes a number only by `as`");
        return Term::error(loc);
    }
    if (x != y) {
        ctx.report(loc, Diag::DotTypes, elemName(x), elemName(y))
            .note(hint(loc), "convert one of them by `as`");
        return Term::error(loc);
    }
    auto axes = without(ir::unionAxes(axesOf(a), axesOf(b)), names);
    return Term::of(loc, ctx.emit(OpKind::Dot, loc, {a.value, b.value}, Type::tile(accumulatorOf(x), axes),
                                  {{"over", names}}));
}

} // namespace tdl::sema
