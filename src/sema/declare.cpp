// Declarations: type aliases, sizes, parameters, local tensors.
//
//     kernel k<M, N>(A, B: in T[M @ ranks, N], eps: f32)
//
//     %A = tensor(name = A, mode = in, dims = [M @ ranks, N]) : tensor<bf16>
//     %B = tensor(name = B, mode = in, dims = [M @ ranks, N]) : tensor<bf16>
//     %eps = param(name = eps) : f32
#include "sema/lower.h"
#include <algorithm>
#include <charconv>

namespace tdl::sema {

using ir::OpKind;

namespace {

bool isBuilt(Elem e) {
    switch (e) {
    case Elem::Bool:
    case Elem::I32:
    case Elem::I64:
    case Elem::F16:
    case Elem::BF16:
    case Elem::F32: return true;
    case Elem::I8:
    case Elem::F8E4M3:
    case Elem::F8E5M2:
    case Elem::F64: return false;
    }
    return false;
}

std::optional<std::vector<ir::Dim>> dimensions(Context &ctx, const ast::Type &type) {
    std::vector<ir::Dim> dims;
    bool ok = true;
    for (const ast::Dim &d : type.dims) {
        if (d.binder) {
            ctx.report(d.binder->loc, Diag::NotBuilt, "a ragged dimension");
            return std::nullopt; // the dimensions after it may use its name
        }
        if (d.axis && d.axis->text != "ranks") {
            ctx.report(d.axis->loc, Diag::NoRankAxis, d.axis->text);
            ok = false;
        }
        if (auto extent = symbol(ctx, *d.extent, Mode::Extent, "an extent"))
            dims.push_back({extent->symbol(), d.axis.has_value()});
        else
            ok = false;
    }
    if (!ok) return std::nullopt;
    return dims;
}

void declareTensor(Context &ctx, const ast::Name &name, std::string_view mode, const ast::Type &type) {
    auto elem = elemType(ctx, type.elem);
    auto dims = dimensions(ctx, type);
    bool ok = elem && dims;
    auto distributed =
        std::count_if(type.dims.begin(), type.dims.end(), [](auto &d) { return d.axis.has_value(); });
    if (distributed > 1) {
        const ast::Dim *second = nullptr;
        for (const ast::Dim &d : type.dims)
            if (d.axis) second = &d;
        ctx.report(second->axis->loc, Diag::Placement, name.text, "has more than one distributed dimension");
        ok = false;
    }
    if (distributed > 0 && type.uniform) {
        ctx.report(*type.uniform, Diag::Placement, name.text, "cannot be `uniform` and distributed");
        ok = false;
    }
    Term term = Term::error(name.loc);
    if (ok) {
        term.kind = TermKind::Tensor;
        ctx.tensors.push_back(std::make_unique<Tensor>(
            Tensor{name.text, name.loc, mode, *elem, *dims, type.uniform.has_value(), nullptr}));
        term.tensor = ctx.tensors.back().get();
    }
    if (!ctx.scopes.declare(name, SymbolKind::Tensor, term) || !ok) return;
    Tensor &t = *ctx.tensors.back();
    ir::Op *op = declaration(ctx, OpKind::Tensor, name.loc);
    op->set("name", ir::Name{t.name});
    op->set("mode", ir::Name{std::string(mode)});
    op->set("dims", t.dims);
    if (t.uniform) op->set("uniform", ir::Flag{});
    t.value = op->addResult(ir::Type::of(ir::TypeKind::Tensor, t.elem), t.name);
}

// A parameter fixed by -D stays one, so that the kernel's arguments do not depend on how it was compiled.
Term fixedScalar(Context &ctx, const ast::Name &name, Elem elem, const std::string &text) {
    const char *end = text.data() + text.size();
    int64_t i = 0;
    double d = 0;
    bool boolean = text == "true" || text == "false";
    auto [atInt, intError] = std::from_chars(text.data(), end, i);
    auto [atFloat, floatError] = std::from_chars(text.data(), end, d);
    Term term = Term::literal(name.loc, boolean ? Number(text == "true") : Number(i));
    bool ok = elem == Elem::Bool ? boolean : intError == std::errc() && atInt == end;
    if (isFloat(elem)) {
        term.number = d;
        ok = floatError == std::errc() && atFloat == end;
    }
    if (ok) return term;
    std::string_view wanted = elem == Elem::Bool ? "true or false"
                              : isFloat(elem)    ? "a number"
                                                 : "an integer";
    ctx.report({}, Diag::DefineValue, name.text, text, wanted);
    return Term::error(name.loc);
}

void declareScalar(Context &ctx, const ast::Name &name, const ast::Type &type) {
    auto elem = elemType(ctx, type.elem);
    if (!elem) {
        ctx.scopes.declare(name, SymbolKind::Param, Term::error(name.loc));
        return;
    }
    ir::Op *op = declaration(ctx, OpKind::Param, name.loc);
    op->set("name", ir::Name{name.text});
    Term term = Term::of(name.loc, op->addResult(ir::Type::scalar(*elem), name.text));
    if (const std::string *text = ctx.define(name.text)) term = fixedScalar(ctx, name, *elem, *text);
    if (Symbol *s = ctx.scopes.declare(name, SymbolKind::Param, term)) s->elem = *elem;
}

} // namespace

ir::Op *declaration(Context &ctx, OpKind k, Loc loc) {
    auto &ops = ctx.kernel->body().ops;
    auto at = std::find_if(ops.begin(), ops.end(), [](auto &op) { return op->kind == OpKind::Stage; });
    ir::Op *op = ops.insert(at, std::make_unique<ir::Op>(k, loc))->get();
    op->parent = &ctx.kernel->body();
    return op;
}

std::optional<Elem> elemType(Context &ctx, const ast::Name &name) {
    if (Symbol *s = ctx.scopes.find(name.text); s && s->kind == SymbolKind::Alias) {
        if (!s->broken) return s->elem;
        ctx.whole = false;
        return std::nullopt;
    }
    auto elem = parseElem(name.text);
    if (elem && isBuilt(*elem)) return elem;
    if (elem || name.text == "i4" || name.text == "u4")
        ctx.report(name.loc, Diag::NotBuilt, fmt::format("`{}`", name.text));
    else
        ctx.report(name.loc, Diag::UnknownType, name.text);
    return std::nullopt;
}

void declareAlias(Context &ctx, const ast::TypeAlias &alias) {
    auto written = elemType(ctx, alias.type);
    Symbol *s = ctx.scopes.declare(alias.name, SymbolKind::Alias, Term::error(alias.name.loc));
    if (!s) return;
    s->broken = !written;
    s->elem = written.value_or(Elem::F32);
    const std::string *text = ctx.define(alias.name.text);
    if (!text) return;
    if (auto elem = parseElem(*text); elem && isBuilt(*elem)) {
        s->elem = *elem;
        return;
    }
    ctx.report({}, Diag::DefineValue, alias.name.text, *text, "a type");
    s->broken = true;
}

void declareSizes(Context &ctx, const ast::Kernel &k) {
    std::vector<std::string> sizes;
    for (const ast::Name &name : k.sizes) {
        Term term = Term::size(name.loc, ir::Expr::sym(name.text));
        const std::string *text = ctx.define(name.text);
        int64_t fixed = 0;
        if (text) {
            auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), fixed);
            if (error != std::errc() || end != text->data() + text->size() || fixed < 0) {
                ctx.report({}, Diag::DefineValue, name.text, *text, "an integer that is not negative");
                text = nullptr;
            }
        }
        if (text) term.expr = ir::Expr(fixed);
        if (!ctx.scopes.declare(name, SymbolKind::Size, term)) continue;
        sizes.push_back(name.text);
        if (!text) continue;
        ir::Op *op = declaration(ctx, OpKind::Require, name.loc);
        op->set("cond", ir::Expr::make(ir::ExprKind::Eq, ir::Expr::sym(name.text), fixed));
        op->set("text", fmt::format("{} == {}", name.text, fixed));
    }
    ctx.kernel->set("sizes", std::move(sizes));
}

void declareParam(Context &ctx, const ast::Param &param) {
    bool tensor = !param.type.dims.empty();
    for (const ast::Name &name : param.names) {
        std::string_view wrong;
        if (tensor && param.mode == ast::Mode::None) wrong = "a tensor is `in`, `out` or `inout`";
        if (!tensor && param.mode != ast::Mode::None) wrong = "a scalar has no `in`, `out` or `inout`";
        if (!wrong.empty()) {
            ctx.report(tensor ? name.loc : param.modeLoc, Diag::ParamMode, name.text, wrong);
            ctx.scopes.declare(name, SymbolKind::Param, Term::error(name.loc));
        } else if (tensor) {
            declareTensor(ctx, name, spelling(param.mode), param.type);
        } else {
            if (param.type.uniform)
                ctx.report(*param.type.uniform, Diag::Placement, name.text,
                           "is a scalar, equal on all ranks anyway");
            declareScalar(ctx, name, param.type);
        }
    }
}

void declareLocal(Context &ctx, const ast::Local &local) {
    for (const ast::Name &name : local.names) {
        if (!local.type.dims.empty()) {
            declareTensor(ctx, name, "local", local.type);
            continue;
        }
        ctx.report(local.type.loc, Diag::Placement, name.text, "is a local tensor without dimensions");
        ctx.scopes.declare(name, SymbolKind::Tensor, Term::error(name.loc));
    }
}

} // namespace tdl::sema
