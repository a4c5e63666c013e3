// The tree: its shape, what it keeps of the text, and the places of its nodes.
#include "syntax/parse.h"
#include <doctest/doctest.h>

using namespace tdl;
using ast::get;

namespace {

struct Parsed {
    Sources sources;
    Diagnostics diags{sources};
    ast::Module module;
    explicit Parsed(std::string text) {
        auto m = parse(sources, sources.add("test.tdl", std::move(text)), diags);
        INFO(renderText(diags, false));
        REQUIRE(m.has_value());
        module = std::move(*m);
    }
    /// The text that a place covers.
    std::string_view at(Loc l) const {
        return sources.line(l.file, l.line)
            .substr(static_cast<size_t>(l.col - 1), static_cast<size_t>(l.len));
    }
};

} // namespace

TEST_CASE("every place covers its text") {
    Parsed p(
        "/// Adds.\nkernel k<M, N>(A, B: in uniform bf16[M @ ranks, e in N],\n    eps: f32) {\n"
        "    let L = M / 2\n    stage s for i in M by L, j in (N @ ranks)[0 : 4] in any order { // comment\n"
        "        C[i, j] = (A[i - 1, j] or 0) * sum(B[i, j] as f32 over ranks) + -eps\n        acc: f32[i] = "
        "i.begin\n    }\n}\n");
    const auto *k = get<ast::Kernel>(p.module.items.at(0));
    REQUIRE(k);
    CHECK(p.at(p.module.items[0].loc) == "kernel k<M, N>(A, B: in uniform bf16[M @ ranks, e in N],");
    CHECK(p.at(k->name.loc) == "k");
    CHECK(p.at(k->sizes.at(1).loc) == "N");
    const ast::Param &param = k->params.at(0);
    CHECK(p.at(param.loc) == "A, B: in uniform bf16[M @ ranks, e in N]");
    CHECK(p.at(param.modeLoc) == "in");
    CHECK(p.at(*param.type.uniform) == "uniform");
    CHECK(p.at(param.type.loc) == "uniform bf16[M @ ranks, e in N]");
    CHECK(p.at(param.type.dims.at(0).loc) == "M @ ranks");
    CHECK(p.at(param.type.dims.at(0).axis->loc) == "ranks");
    CHECK(p.at(param.type.dims.at(1).binder->loc) == "e");
    CHECK(p.at(k->items.at(0).loc) == "let L = M / 2");
    CHECK(p.at(k->items.at(1).loc) == "stage s for i in M by L, j in (N @ ranks)[0 : 4] in any order {");
    const auto *s = get<ast::Stage>(k->items.at(1));
    CHECK(p.at(s->bindings.at(1).loc) == "j in (N @ ranks)[0 : 4] in any order");
    CHECK(p.at(s->bindings.at(1).domain->loc) == "(N @ ranks)[0 : 4]");
    CHECK(p.at(get<ast::Slice>(*s->bindings.at(1).domain)->base->loc) == "N @ ranks");
    CHECK(p.at(s->body.at(0).loc) == "C[i, j] = (A[i - 1, j] or 0) * sum(B[i, j] as f32 over ranks) + -eps");
    const auto *assign = get<ast::Assign>(s->body.at(0));
    CHECK(p.at(assign->targets.at(0).loc) == "C[i, j]");
    const auto *sum = get<ast::Chain>(*assign->value);
    CHECK(p.at(sum->operands.at(1)->loc) == "-eps");
    const auto *product = get<ast::Chain>(*sum->operands.at(0));
    CHECK(p.at(product->operands.at(0)->loc) == "A[i - 1, j] or 0");
    const auto *call = get<ast::Call>(*product->operands.at(1));
    CHECK(p.at(product->operands.at(1)->loc) == "sum(B[i, j] as f32 over ranks)");
    CHECK(p.at(call->args.at(0)->loc) == "B[i, j] as f32");
    CHECK(p.at(call->over.at(0).loc) == "ranks");
    CHECK(p.at(s->body.at(1).loc) == "acc: f32[i] = i.begin");
}

TEST_CASE("doc comments belong to what follows on the next line") {
    Parsed p("/// Of the file.\n\n/// First.\n//// A rule.\n// A remark.\n/// Second.\n///   "
             "Indented.\nkernel a() { }\n"
             "kernel b() { /// inside\n}\n/// Of c.\nfn c() { }\n/// Of d.\nschedule a { }\n");
    CHECK(get<ast::Kernel>(p.module.items.at(0))->doc == "Second.\n  Indented.");
    CHECK(get<ast::Kernel>(p.module.items.at(1))->doc == "");
    CHECK(get<ast::Fn>(p.module.items.at(2))->doc == "Of c.");
    CHECK(get<ast::Schedule>(p.module.items.at(3))->doc == "Of d.");
}

TEST_CASE("chains are flat and keep their order") {
    Parsed p("fn f() { x = a - b * 2 + c as f32 - -d\n y = a < b + 1 && c || !d }");
    const auto *fn = get<ast::Fn>(p.module.items.at(0));
    const auto *x = get<ast::Chain>(*get<ast::Assign>(fn->body.at(0))->value);
    REQUIRE(x);
    CHECK(x->ops == std::vector{ast::BinaryOp::Sub, ast::BinaryOp::Add, ast::BinaryOp::Sub});
    CHECK(x->operands.size() == 4);
    CHECK(get<ast::Chain>(*x->operands.at(1))->ops == std::vector{ast::BinaryOp::Mul});
    CHECK(get<ast::Cast>(*x->operands.at(2))->type.text == "f32");
    CHECK(get<ast::Unary>(*x->operands.at(3))->op == ast::UnaryOp::Neg);
    const auto *y = get<ast::Chain>(*get<ast::Assign>(fn->body.at(1))->value);
    CHECK(y->ops == std::vector{ast::BinaryOp::LogicOr});
}

TEST_CASE("newlines mean nothing: a statement goes on as long as it can") {
    Parsed p("fn f() {\n    a = b\n    -c\n    d = e\n    (g)\n    h = i\n    [j]\n    k = l; m = n\n}");
    const auto *fn = get<ast::Fn>(p.module.items.at(0));
    REQUIRE(fn->body.size() == 5);
    CHECK(get<ast::Chain>(*get<ast::Assign>(fn->body[0])->value) != nullptr);
    CHECK(get<ast::Call>(*get<ast::Assign>(fn->body[1])->value) != nullptr);
    CHECK(get<ast::Index>(*get<ast::Assign>(fn->body[2])->value) != nullptr);
}

TEST_CASE("literals") {
    Parsed p("fn f() { return 9_223_372_036_854_775_807, 0.5, 1e-3, inf, nan, true, 1_0.2_5 }");
    const auto &v = get<ast::Return>(get<ast::Fn>(p.module.items.at(0))->body.at(0))->values;
    CHECK(get<ast::IntLit>(*v.at(0))->value == INT64_MAX);
    CHECK(get<ast::FloatLit>(*v.at(1))->value == 0.5);
    CHECK(get<ast::FloatLit>(*v.at(2))->value == 1e-3);
    CHECK(get<ast::FloatLit>(*v.at(3))->text == "inf");
    CHECK(get<ast::FloatLit>(*v.at(4))->value != get<ast::FloatLit>(*v.at(4))->value);
    CHECK(get<ast::BoolLit>(*v.at(5))->value);
    CHECK(get<ast::FloatLit>(*v.at(6))->value == 10.25);
}

TEST_CASE("words with a meaning in one place are names elsewhere") {
    Parsed p("kernel mesh<on>(type: in f32[on], any, order: f32) { stage unique for type in on in any order "
             "{ any = order } }");
    CHECK(get<ast::Kernel>(p.module.items.at(0))->params.at(1).names.at(1).text == "order");
}
