// What plans lower to, as text. With TDL_UPDATE=1 in the environment the expectations are written anew.
#include "files.h"
#include "ir/verify.h"
#include "kernel/verify.h"
#include "plan/plan.h"
#include <cstdlib>
#include <doctest/doctest.h>
#include <map>

namespace fs = std::filesystem;
using namespace tdl;
using namespace tdl::test;

TEST_CASE("plans lower to the expected kernel IR") {
    for (const fs::path &path : filesOf("lower", ".plan")) {
        CAPTURE(path.filename().string());
        Parsed plan(path);
        REQUIRE_MESSAGE(plan.module, plan.messages());
        REQUIRE_MESSAGE(ir::verifyStructure(*plan.module, plan.diags), plan.messages());
        auto kern = kernel::lower(*plan.module, {}, plan.diags);
        REQUIRE_MESSAGE(kern, plan.messages());
        CHECK_MESSAGE(kernel::verify(*kern, plan.diags), plan.messages());
        std::string text = ir::print(*kern);
        fs::path expected = fs::path(path).replace_extension(".kern");
        if (std::getenv("TDL_UPDATE")) std::ofstream(expected, std::ios::binary) << text;
        CHECK(text == readFile(expected));

        Parsed again(expected.filename().string(), text);
        REQUIRE_MESSAGE(again.module, again.messages());
        CHECK(ir::print(*again.module) == text);
        CHECK_MESSAGE(kernel::verify(*again.module, again.diags), again.messages());
    }
}

// By declaration: how often it is waited for, arrived at, notified.
static std::map<std::string, int> signalsOf(const ir::Module &m) {
    std::map<std::string, int> count;
    for (auto &k : m.top.ops)
        plan::walk(k->body(), [&](const ir::Op &op) {
            const char *what = nullptr;
            switch (op.kind) {
            case ir::OpKind::Wait:
            case ir::OpKind::WaitJoin:
            case ir::OpKind::Acquire:
            case ir::OpKind::AcquireJoin: what = "wait"; break;
            case ir::OpKind::Arrive:
            case ir::OpKind::ArriveJoin: what = "arrive"; break;
            case ir::OpKind::Notify:
            case ir::OpKind::Release: what = "notify"; break;
            default: return;
            }
            ++count[std::string(what) + " " + op.operands[0]->def->name()];
        });
    return count;
}

TEST_CASE("each wait, arrival and notify of a plan stands once in its kernel IR") {
    for (const fs::path &path : filesOf("lower", ".plan")) {
        CAPTURE(path.filename().string());
        Parsed plan(path);
        REQUIRE(plan.module);
        auto kern = kernel::lower(*plan.module, {}, plan.diags);
        REQUIRE(kern);
        CHECK(signalsOf(*plan.module) == signalsOf(*kern));
    }
}

TEST_CASE("an index tile is refused by name") {
    Parsed plan("gather.plan", R"(tdl.plan 1
plan @gather(name = sequential, sizes = [N], tiles = []) {
  %X = tensor(name = X, mode = in, dims = [N]) : tensor<f32>
  %Y = tensor(name = Y, mode = out, dims = [N]) : tensor<f32>
  task @t(kind = compute, level = 1, coords = [], counts = []) {
    %i = range(axis = i, lo = 0, hi = N) : range<i>
    %0 = index %i : i64[i]
    %1 = load %X[%0] : f32[i]
  }
}
)");
    REQUIRE(plan.module);
    CHECK(!kernel::lower(*plan.module, {}, plan.diags));
    CHECK(plan.messages().find(
              "gather.plan:8:10: error: `load` at an index tile is not built yet [TDL0850]") == 0);
}
