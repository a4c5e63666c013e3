// Options and the shape of what check() gives.
#include "check_file.h"
#include "tile/verify.h"
#include <doctest/doctest.h>

using namespace tdl;
using test::Checked;

namespace {

std::string checked(const std::string &text) {
    Checked c("k.tdl", text);
    INFO(renderText(c.diags, false));
    CHECK(c.module != nullptr);
    return c.module ? ir::print(*c.module) : "";
}

bool contains(const std::string &text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

const std::string kKernel = R"(
type T = bf16
const C = 3
/// Adds.
/// And scales.
kernel k<M>(X: in T[M], Y: out T[M], a: f32, n: i32, f: bool) {
    tile TM = 128
    stage s for i in M by TM { Y[i] = where(f, X[i] * a, C * n as f32) }
}
)";

} // namespace

TEST_CASE("-D fixes sizes, tile constants, constants, scalars and types") {
    std::string plain = checked(kKernel);
    CHECK(contains(plain, "kernel @k(sizes = [M], tiles = [TM = 128], doc = \"Adds.\\nAnd scales.\")"));
    CHECK(contains(plain, "dims = [M]) : tensor<bf16>"));
    CHECK_FALSE(contains(plain, "require"));

    std::string fixed = checked("// -D T=f16 -D C=5 -D M=64 -D TM=32 -D a=0.5 -D n=-2 -D f=true" + kKernel);
    CHECK(contains(fixed, "kernel @k(sizes = [M], tiles = [TM = 32]"));
    CHECK(contains(fixed, "dims = [64]) : tensor<f16>"));
    CHECK(contains(fixed, "require(cond = M == 64, text = \"M == 64\")"));
    CHECK(contains(fixed, "i in 64 by TM"));
    CHECK(contains(fixed, "%a = param(name = a) : f32")); // the kernel's arguments stay
    CHECK(contains(fixed, "const(value = 0.5) : f32"));
    CHECK(contains(fixed, "const(value = -2) : i32"));
    CHECK(contains(fixed, "const(value = 5.0) : f32"));
    CHECK(contains(fixed, "const(value = 1) : bool"));
}

TEST_CASE("the last -D of a name counts") {
    CHECK(contains(checked("// -D TM=32 -D TM=16" + kKernel), "TM = 16"));
}

TEST_CASE("the same text gives the same IR") {
    CHECK(checked(kKernel) == checked(kKernel));
}

TEST_CASE("an empty module is one, with a warning") {
    Checked c("k.tdl", "// nothing\n");
    REQUIRE(c.module != nullptr);
    CHECK(c.module->top.ops.empty());
    REQUIRE(c.diags.list().size() == 1);
    CHECK(c.diags.list()[0].kind == Diag::NoKernel);
}

TEST_CASE("names that are declared and not used are warned of, in programs without errors") {
    Checked c("k.tdl", R"(
kernel k<M, N>(X: in f32[M], Y: out f32[M], a: f32) {
    tile TM = 8, TN = 8
    const C = 3
    let H = M / 2
    local L: f32[M]
    stage s for i in M by TM, {
        b = X[i]
        c: f32[i] = 0
        Y[i] = b
    }
}
)");
    (void)c;
    Checked d("k.tdl", R"(
kernel k<M, N>(X: in f32[M], Z: in f32[M], Y: out f32[M], a: f32) {
    tile TM = 8, TN = 8
    const C = 3
    let H = M / 2
    local L: f32[M]
    stage s for i in M by TM {
        b = X[i]
        c: f32[i] = 0
        c = b
        Y[i] = b
    }
}
)");
    CHECK(d.module != nullptr);
    std::string names;
    for (const Diagnostic &w : d.diags.list()) {
        CHECK(w.kind == Diag::UnusedName);
        names += w.text.substr(1, w.text.find('`', 1) - 1) + " ";
    }
    CHECK(names == "c N Z a TN C H L ");
}
