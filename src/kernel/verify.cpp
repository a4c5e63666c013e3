#include "kernel/verify.h"
#include "kernel/verifier.h"
#include <algorithm>

namespace tdl::kernel {
using namespace ir;

bool verify(const Module &module, Diagnostics &diags) {
    if (!verifyStructure(module, diags)) return false;
    bool ok = true;
    for (auto &op : module.top.ops)
        if (op->kind == OpKind::Kern) {
            ok &= KernVerifier(*op, diags).run();
        } else {
            diags.report(placeOf(*op), Diag::KernelPlace, op->info().text, "at the top of a module");
            ok = false;
        }
    return ok;
}

namespace {
bool isDeclaration(OpKind k) {
    return k == OpKind::Tensor || k == OpKind::Param || k == OpKind::Require || k == OpKind::Buffer ||
           k == OpKind::Flag || k == OpKind::Join;
}
bool oneOf(const std::string &s, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), s) != list.end();
}
} // namespace

bool KernVerifier::run() {
    for (const std::string &s : kern.names("sizes"))
        if (!sizes.insert(s).second || !declared.insert(s).second) fail(kern, Diag::KernelDeclaredTwice, s);
    for (auto &op : kern.body().ops) {
        bool decl = isDeclaration(op->kind);
        if (!decl && op->kind != OpKind::Program)
            fail(*op, Diag::KernelPlace, op->info().text, "beside programs");
        else if (decl && !programs.empty())
            fail(*op, Diag::KernelPlace, op->info().text, "behind the first program");
        else if (decl)
            declaration(*op);
        else
            program(*op);
    }
    if (ok) tokens(); // relies on all of the above
    return ok;
}

void KernVerifier::declaration(const Op &op) {
    if (op.has("name") && !declared.insert(op.name()).second) fail(op, Diag::KernelDeclaredTwice, op.name());
    auto declare = [&](bool good, std::string why) {
        if (!good) fail(op, Diag::KernelDeclaration, op.info().text, op.name(), std::move(why));
    };
    switch (op.kind) {
    case OpKind::Tensor:
        declare(oneOf(op.name("mode"), {"in", "out", "inout"}), "is an argument: `in`, `out` or `inout`");
        declare(op.result()->type.kind == TypeKind::Tensor, "has the type of a tensor");
        declare(std::count_if(op.dims().begin(), op.dims().end(), [](const Dim &d) { return d.dist; }) <=
                    (op.has("uniform") ? 0 : 1),
                "has at most one distributed dimension, none if it is uniform");
        break;
    case OpKind::Param: declare(op.result()->type.isScalar(), "is a scalar"); break;
    case OpKind::Buffer:
        declare(oneOf(op.name("scope"), {"protocol", "rank"}), "has scope `protocol` or `rank`");
        declare(op.result()->type.kind == TypeKind::Buffer, "has the type of a buffer");
        declare(op.exprs("dims").size() == op.exprs("origin").size(), "has an origin for each dimension");
        break;
    case OpKind::Flag:
        declare(oneOf(op.name("kind"), {"data", "done"}), "is a `data` or `done` flag");
        declare(op.name("kind") != "done" || op.expr("words").isSym("ranks"),
                "has `ranks` words, one per rank");
        declare(op.result()->type.kind == TypeKind::Flag, "has the type of a flag");
        break;
    case OpKind::Join: declare(op.result()->type.kind == TypeKind::Join, "has the type of a join"); break;
    default: break;
    }
    exprNames(op, {});
}

void KernVerifier::program(const Op &op) {
    const auto &coords = op.names("coords");
    if (coords.size() != op.exprs("counts").size())
        fail(op, Diag::KernelProgram, op.symbol,
             fmt::format("{} coordinates but {} counts", coords.size(), op.exprs("counts").size()));
    std::unordered_set<std::string> taken = sizes;
    for (const std::string &c : coords)
        if (!taken.insert(c).second)
            fail(op, Diag::KernelProgram, op.symbol,
                 fmt::format("coordinate `{}` has a name that is taken", c));
    if (!op.body().args.empty()) fail(op, Diag::KernelProgram, op.symbol, "block arguments are for loops");
    exprNames(op, {});
    std::unordered_set<std::string> axes;
    block(op.body(), axes, coords);
    programs.push_back({&op, {}, {}, {}});
    bool signalled = false;
    if (ok) collect(op.body(), nullptr, programs.back(), signalled); // relies on sound operands
}

void KernVerifier::block(const Block &b, std::unordered_set<std::string> &axes,
                         const std::vector<std::string> &coords) {
    std::vector<std::string> added;
    for (auto &op : b.ops) {
        bool yieldBehind =
            op->kind == OpKind::Yield && (!b.parent || b.parent->kind != OpKind::Loop || op != b.ops.back());
        if (isDeclaration(op->kind) || op->kind == OpKind::Program || op->kind == OpKind::Kern || yieldBehind)
            fail(*op, Diag::KernelPlace, op->info().text,
                 yieldBehind ? "anywhere but at the end of a loop" : "in a program");
        exprNames(*op, coords);
        operands(*op);
        if (op->kind == OpKind::Span) {
            const std::string &axis = op->name("axis");
            if (axes.insert(axis).second)
                added.push_back(axis);
            else
                fail(*op, Diag::KernelTwoSpans, axis);
        }
        axesOf(*op, axes);
        for (auto &inner : op->blocks) block(*inner, axes, coords);
    }
    for (const std::string &a : added) axes.erase(a);
}

void KernVerifier::axesOf(const Op &op, const std::unordered_set<std::string> &inScope) {
    for (auto &r : op.results)
        if (r->type.isTile())
            for (const std::string &a : r->type.axes)
                if (!inScope.contains(a)) fail(op, Diag::KernelAxis, a, r->type.str());
}

// ---- Names in expressions -------------------------------------------------------------------------------------------

void KernVerifier::names(const Op &op, const Expr &e, const std::vector<std::string> &more) {
    for (const std::string &s : e.symbols())
        if (s != "ranks" && !sizes.contains(s) && std::find(more.begin(), more.end(), s) == more.end())
            fail(op, Diag::KernelName, s, e.str());
}

// What is equal on all ranks (arguments, protocol buffers, flags) does not know `rank`; only programs have coordinates,
// and a bound for layouts is one for all of them.
void KernVerifier::exprNames(const Op &op, const std::vector<std::string> &coords) {
    bool protocol = op.kind == OpKind::Tensor || op.kind == OpKind::Require || op.kind == OpKind::Flag ||
                    (op.kind == OpKind::Buffer && op.name("scope") == "protocol");
    for (auto &[name, value] : op.attrs()) {
        std::vector<std::string> more;
        if (!protocol || name == "origin") more = {"rank"};
        if (op.kind == OpKind::ExprOp) more.insert(more.end(), coords.begin(), coords.end());
        if (auto *e = std::get_if<Expr>(&value)) names(op, *e, more);
        if (auto *list = std::get_if<std::vector<Expr>>(&value))
            for (const Expr &e : *list) names(op, e, more);
        if (auto *dims = std::get_if<std::vector<Dim>>(&value))
            for (const Dim &d : *dims) names(op, d.extent, more);
    }
}

} // namespace tdl::kernel
