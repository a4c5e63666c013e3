// Plans as they are derived: golden texts (TDL_UPDATE=1 in the environment writes them anew), and what is refused.
#include "common.h"
#include "ir/verify.h"
#include "plan/plan.h"
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>

using namespace tdl;
using namespace tdl::test;

TEST_CASE("every derived plan verifies") {
    for (const std::string &name : allFiles()) {
        Verdict v = verify(planOf(name));
        CHECK_MESSAGE(v.ok, name << "\n" << v.text);
        // Where a box is the hull of what is read, some of it may not be.
        for (Diag k : v.kinds) CHECK_MESSAGE(k == Diag::PlanUnread, name << "\n" << v.text);
    }
}

TEST_CASE("plans print and parse back to the same text") {
    for (const std::string &name : allFiles()) {
        std::string text = planOf(name);
        CHECK(ir::print(*parse(text)) == text);
    }
}

TEST_CASE("plans as expected") {
    for (const char *name : {"ag_gemm", "gemm_rs"}) {
        std::string text = planOf(name), path = std::string("golden/") + name + ".plan";
        if (std::getenv("TDL_UPDATE")) std::ofstream(std::string(TDL_TESTS_DIR) + "/" + path) << text;
        CHECK(read(path) == text);
    }
}

TEST_CASE("every task, wait, arrival and transfer has a place in the source") {
    for (const std::string &name : allFiles()) {
        auto m = parse(planOf(name));
        plan::walk(m->top, [&](const ir::Op &op) {
            using ir::OpKind;
            bool must = op.kind == OpKind::Task || op.kind == OpKind::Wait || op.kind == OpKind::WaitJoin ||
                        op.kind == OpKind::Arrive || op.kind == OpKind::Notify || op.kind == OpKind::Buffer ||
                        op.kind == OpKind::Flag || op.kind == OpKind::Join;
            if (must) CHECK_MESSAGE(op.loc.valid(), ir::print(op));
        });
    }
}

TEST_CASE("what every rank has is not sent, what none needs is not computed") {
    // Private tensors only: no transfer, no flag but `done`.
    for (const char *name : {"vector_add", "gemm", "softmax"}) {
        std::string text = planOf(name);
        CHECK(text.find("transfer") == std::string::npos);
        CHECK(text.find("kind = data") == std::string::npos);
    }
    // Gathered once for two stages, and anew after its owners have changed it.
    std::string moves = planOf("moves"), again = moves.substr(moves.find("plan @again"));
    size_t pushes = 0;
    for (size_t at = 0; (at = again.find("task @push_A", at)) != std::string::npos; ++at) ++pushes;
    CHECK(pushes == 2);
    // Parts that travel once for two reductions.
    CHECK(planOf("sums").find("push_s_1") == std::string::npos);
    // The owner adds its rows alone; where every rank wants the sum, each adds all of it.
    CHECK(planOf("reduce_scatter")
              .find("task @add_sum(kind = combine, level = 3, coords = [ti, tj], counts = [ceil(max(1, "
                    "ceil(M, ranks)), by_i)") != std::string::npos);
    CHECK(
        planOf("all_reduce")
            .find(
                "task @add_sum(kind = combine, level = 3, coords = [ti], counts = [max(1, ceil(N, by_i))]") !=
        std::string::npos);
}

namespace {

std::vector<Diag> refusals(const std::string &tileText) {
    auto tile = parse(tileText);
    Sources sources;
    Diagnostics diags(sources);
    CHECK(!plan::derive(*tile, {}, diags));
    std::vector<Diag> kinds;
    for (const Diagnostic &d : diags.list()) kinds.push_back(d.kind);
    return kinds;
}

std::string kernel(const std::string &body) {
    return "tdl.tile 1\nsource \"k.tdl\"\n\nkernel @k(sizes = [N], tiles = []) @1:8 {\n"
           "  %X = tensor(name = X, mode = in, dims = [N]) : tensor<f32> @1:10\n"
           "  %Y = tensor(name = Y, mode = inout, dims = [N], uniform) : tensor<f32> @1:20\n" +
           body + "}\n";
}

} // namespace

TEST_CASE("a reduction over ranks in a loop") {
    CHECK(refusals(
              kernel("  stage @s(loops = []) @2:9 {\n"
                     "    for(loop = h in 4) @3:5 {\n      ^(%h: i64)\n"
                     "      %0 = load %X[%h] : f32 @3:9\n      %1 = reduce_ranks %0(kind = sum) : f32 @3:7\n"
                     "      store %1, %Y[%h] @3:3\n      yield\n    }\n  }\n")) ==
          std::vector{Diag::PlanReduceInLoop});
}

TEST_CASE("a store to other ranks of what only data decides") {
    auto stage = [](const std::string &loops, const std::string &args, const std::string &index) {
        return kernel("  stage @s(loops = [" + loops + "]) @2:9 {\n    ^(" + args +
                      ")\n    %0 = const(value = 0.0) : f32\n    " + index +
                      "    store %0, %Y[%x] @3:3\n  }\n");
    };
    // Every rank writes one element that is not known; all turns of a loop write the same one.
    CHECK(refusals(stage("h in N @ ranks", "%h: i64", "%x = mul %h, %h : i64\n")) ==
          std::vector{Diag::PlanInexactSend});
    CHECK(refusals(stage("h in N @ ranks, g in 5", "%h: i64, %g: i64",
                         "%z = const(value = 0) : i64\n    %x = add %h, %z : i64\n")) ==
          std::vector{Diag::PlanInexactSend});
}
