// Derived plans compute what their programs mean: on every small number of ranks, with sizes that divide nothing and small
// tiles and chunks, under many interleavings, with one agent per rank and with more.
#include "common.h"
#include "engine.h"
#include "interp/scale.h"
#include <doctest/doctest.h>

using namespace tdl;
using namespace tdl::test;

namespace {

/// The plan's tile constants, scaled down.
void shrink(ir::Op &plan, std::mt19937_64 &random) {
    auto tiles = plan.binds("tiles");
    for (ir::Bind &b : tiles) b.value = static_cast<int64_t>(1 + random() % 3);
    plan.set("tiles", tiles);
}

void check(const ir::Op &kernel, ir::Op &plan, int64_t ranks, uint64_t seed) {
    Sources sources;
    Diagnostics diags(sources);
    std::mt19937_64 random(seed * 77 + static_cast<uint64_t>(ranks));
    interp::Launch reference;
    reference.ranks = ranks;
    std::string text = fmt::format("{} ranks = {}, seed = {}", kernel.symbol, ranks, seed);
    for (const std::string &s : kernel.names("sizes")) {
        reference.sizes[s] = seed == 0 ? 0 : static_cast<int64_t>(random() % 8);
        text += fmt::format(", {} = {}", s, reference.sizes[s]);
    }
    INFO(text);
    auto mode = interp::isExact(kernel) ? interp::DataMode::Exact : interp::DataMode::Real;
    interp::DataSource source{mode, seed + 1, 1};
    for (auto &op : kernel.body().ops)
        if (op->kind == ir::OpKind::Param)
            reference.scalars[op->name()] =
                interp::generateScalar(op->name(), op->result()->type.elem, source);
    REQUIRE_MESSAGE(interp::prepare(kernel, reference, diags), renderText(diags, false));
    for (interp::Tensor &t : reference.tensors) interp::fill(t, source);
    interp::Launch planned = reference;
    interp::Options options;
    options.check = true;
    REQUIRE_MESSAGE(interp::run(kernel, reference, options, diags), renderText(diags, false));

    shrink(plan, random);
    Engine engine(plan, planned);
    REQUIRE(engine.run(seed, static_cast<int>(1 + seed % 3)));
    CHECK(engine.differing == "");
    for (size_t i = 0; i < reference.tensors.size(); ++i) {
        auto c = interp::compare(reference.tensors[i], planned.tensors[i],
                                 interp::toleranceFor(kernel, reference.tensors[i], mode));
        CHECK_MESSAGE(c.ok(), c.text(reference.tensors[i]));
    }
}

} // namespace

TEST_CASE("plans compute what their programs mean") {
    for (const std::string &name : allFiles()) {
        auto tile = parse(read("tile/" + name + ".tile"));
        auto plans = parse(planOf(name));
        for (size_t k = 0; k < tile->top.ops.size(); ++k)
            for (int64_t ranks = 1; ranks <= 5; ++ranks)
                for (uint64_t seed = 0; seed < 6; ++seed)
                    check(*tile->top.ops[k], *plans->top.ops[k], ranks, seed);
    }
}
