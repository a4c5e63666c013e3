// Objects: what they need and give, tables of the descriptor, several kernels and plans, equal bytes, other
// targets, sizes that overflow, and what is refused.
#include "compiled.h"
#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>

using namespace tdl;

namespace {

std::string copyKernel(const std::string &name) {
    return elementwise(name, {"f32"}, "f32", "    %r = neg %x : f32[i] @3:3\n");
}

std::string full() {
    std::string body = "    %r1 = expr(value = ranks) : i64\n    %t = acquire %done, %zero, %r1(scope = "
                       "system) : token @7:5\n"
                       "    %w = acquire_join %end, %zero, %zero(scope = device) : token @8:6\n";
    return kern(
        "full", "M, K",
        "  %A = tensor(name = A, mode = in, dims = [M @ ranks, K]) : tensor<bf16> @3:9\n  %s = param(name = "
        "s) : f32 @3:30\n"
        "  %U = tensor(name = U, mode = inout, dims = [K], uniform) : tensor<f32> @4:9\n  %f = param(name = "
        "f) : bool @4:30\n"
        "  %C = tensor(name = C, mode = out, dims = [M, K * 2, 3]) : tensor<i64> @5:9\n"
        "  require(cond = M > 0, text = \"M > 0\") @6:1\n  require(cond = K % 8 == 0, text = \"K % 8 == 0\") "
        "@6:2\n"
        "  %buf = buffer(name = buf, scope = protocol, dims = [M, K], origin = [0, 0]) : buffer<f16>\n",
        program("first", "a, b", "M, 3", body) + program("second", "", "", ""));
}

} // namespace

TEST_CASE("the descriptor says what the kernel is") {
    Compiled c(module({full()}));
    const tdl_kernel *k = c.kernel("full");
    REQUIRE(k);
    CHECK(k->abi == TDL_ABI_VERSION);
    CHECK(k->cpu_level == 3);
    CHECK(std::string(k->name) == "full");
    CHECK(std::string(k->source) == "test.tdl");
    CHECK(k->line == 1);
    struct Args { // as the header declares it
        int64_t M, K;
        const uint16_t *A;
        int64_t A_stride[1];
        float s;
        float *U;
        uint8_t f;
        int64_t *C;
        int64_t C_stride[2];
    };
    CHECK(k->args_bytes == sizeof(Args));
    REQUIRE(k->n_args == 7);
    CHECK(k->args[0].kind == TDL_ARG_SIZE);
    const tdl_arg &A = k->args[2], &s = k->args[3], &U = k->args[4], &f = k->args[5], &C = k->args[6];
    CHECK(std::string(A.name) == "A");
    CHECK(A.elem == TDL_BF16);
    CHECK(A.offset == offsetof(Args, A));
    CHECK(A.stride_offset == offsetof(Args, A_stride));
    CHECK(A.dist_dim == 0);
    CHECK(A.ndims == 2);
    CHECK(std::string(A.extents[0]) == "M");
    CHECK(A.line == 3);
    CHECK(s.kind == TDL_ARG_SCALAR);
    CHECK(s.offset == offsetof(Args, s));
    CHECK(U.uniform == 1);
    CHECK(U.mode == TDL_INOUT);
    CHECK(U.stride_offset == 0);
    CHECK(U.dist_dim == -1);
    CHECK(f.elem == TDL_BOOL);
    CHECK(f.offset == offsetof(Args, f));
    CHECK(C.mode == TDL_OUT);
    CHECK(std::string(C.extents[1]) == "K * 2");
    REQUIRE(k->n_requires == 2);
    CHECK(std::string(k->required[1].text) == "K % 8 == 0");
    CHECK(k->required[1].line == 6);
    REQUIRE(k->n_plans == 1);
    const tdl_plan &p = k->plans[0];
    CHECK(std::string(p.name) == "sequential");
    CHECK(p.n_buffers == 1);
    CHECK(p.buffers[0].kind == TDL_BUFFER_PROTOCOL);
    REQUIRE(p.n_flags == 1);
    CHECK(p.flags[0].kind == TDL_FLAG_DONE);
    CHECK(p.n_joins == 1);
    REQUIRE(p.n_tasks == 2);
    CHECK(p.tasks[0].ncoords == 2);
    CHECK(std::string(p.tasks[1].name) == "second");
    REQUIRE(p.n_sites == 2);
    CHECK(p.sites[0].line == 7);
    CHECK(p.sites[1].column == 6);

    int64_t sizes[] = {5, 16}, extents[6] = {};
    tdl_shape shape{4, 1, sizes, nullptr};
    CHECK(k->shape(&shape, extents) == -1);
    CHECK(extents[0] == 5);
    CHECK(extents[2] == 16);
    CHECK(extents[4] == 32);
    CHECK(extents[5] == 3);
    sizes[1] = 15;
    CHECK(k->shape(&shape, extents) == 1);
    sizes[0] = 0;
    CHECK(k->shape(&shape, extents) == 0);
    int64_t out[6];
    sizes[0] = 5, sizes[1] = 16;
    p.layout(&shape, out);
    CHECK(out[0] == 5 * 16 * 2);
    CHECK(out[1] == 4);
    CHECK(out[3] == 5);
    CHECK(out[4] == 3);
    sizes[0] = INT64_MAX / 20; // bytes overflow
    p.layout(&shape, out);
    CHECK(out[0] == INT64_MAX);
    CHECK(out[3] == INT64_MAX / 20);

    auto *entry = reinterpret_cast<tdl_status (*)(tdl_ctx *, const void *, void *)>(c.symbol("full"));
    auto *prepare = reinterpret_cast<tdl_status (*)(tdl_ctx *, const void *)>(c.symbol("full_prepare"));
    REQUIRE((entry != nullptr));
    REQUIRE((prepare != nullptr));
    Args args{};
    CHECK(entry(nullptr, &args, nullptr) == TDL_OK);
    CHECK(prepare(nullptr, &args) == TDL_OK);
}

TEST_CASE("several kernels, several plans, equal bytes, no other symbols") {
    std::string second = copyKernel("a");
    second.replace(second.find("sequential"), 10, "other_plan");
    std::string text = module({copyKernel("a"), second, copyKernel("b"), full()});
    Compiled c(text);
    CHECK(emit(text).object == c.object());
    CHECK(c.kernel("a")->n_plans == 2);
    CHECK(std::string(c.kernel("a")->plans[1].name) == "other_plan");
    CHECK(c.kernel("b")->n_plans == 1);
    CHECK(c.kernel("a")->identity != c.kernel("b")->identity);
    for (const std::string &s : undefinedSymbols(c.object())) CHECK(s.starts_with("tdl_"));
    CHECK(c.object().find("/tmp") == std::string::npos);
    std::vector<float> x{1, 2, 3}, r(3);
    fake::Launch l(c.kernel("a"), 1, {3});
    l.dense(0, 0, x.data(), {3}), l.dense(0, 1, r.data(), {3});
    REQUIRE(l.run(1));
    CHECK(r == std::vector<float>{-1, -2, -3});
}

TEST_CASE("identity depends on meaning, not on where the source stood") {
    std::string text = module({copyKernel("a")}), moved = text, changed = text;
    for (size_t at; (at = moved.find("@3:3")) != std::string::npos;) moved.replace(at, 4, "@9:9");
    changed.replace(changed.find("neg"), 3, "abs");
    Compiled a(text), b(moved), c(changed);
    CHECK(a.kernel("a")->identity == b.kernel("a")->identity);
    CHECK(a.kernel("a")->identity != c.kernel("a")->identity);
}

TEST_CASE("levels and targets") {
    std::string text = module({copyKernel("a"), full()});
    for (auto level : {codegen::CpuLevel::V1, codegen::CpuLevel::V2, codegen::CpuLevel::V3,
                       codegen::CpuLevel::V4, codegen::CpuLevel::Native})
        for (bool debug : {false, true}) {
            codegen::HostOptions o;
            o.triple = "x86_64-unknown-linux-gnu";
            o.cpu = level;
            o.debugInfo = debug;
            Emitted e = emit(text, o);
            REQUIRE_MESSAGE(e.ok, e.errors);
            CHECK(emit(text, o).object == e.object);
            for (const std::string &s : undefinedSymbols(e.object)) CHECK(s.starts_with("tdl_"));
        }
    codegen::HostOptions arm;
    arm.triple = "aarch64-linux-gnu";
    Emitted e = emit(text, arm);
    REQUIRE_MESSAGE(e.ok, e.errors);
    for (const std::string &s : undefinedSymbols(e.object)) CHECK(s.starts_with("tdl_"));
    arm.triple = "riscv64-linux-gnu";
    CHECK(emit(text, arm).errors.find("TDL0903") != std::string::npos);
}

TEST_CASE("what cannot be compiled is said") {
    auto refused = [](const std::string &kern, const char *code) {
        Emitted e = emit(module({kern}));
        INFO(std::string(code), ": ", e.errors);
        CHECK(!e.ok);
        CHECK(e.errors.find(code) != std::string::npos);
    };
    refused(elementwise("a", {"fp8e4m3"}, "fp8e4m3", "    %r = neg %x : fp8e4m3[i]\n"), "TDL0900");
    std::string a = copyKernel("a"), other = elementwise("a", {"i32"}, "i32", "    %r = neg %x : i32[i]\n");
    other.replace(other.find("sequential"), 10, "another");
    refused(a + other, "TDL0906");
    // a tile that needs a slot, along an axis without a bound
    std::string body = "    %b = base %TX, %rank : ptr<i64>\n    %n = read %b : i64\n    %i = span %zero, "
                       "%n(axis = i) : range<i>\n"
                       "    %x = read %b, %one : i64[i] @5:5\n    write %x, %b, %one\n    %p = at %b, %one : "
                       "ptr<i64>\n    write %x, %p, %one\n";
    refused(kern("u", "N", tensor("TX", "inout", "N", "i64"), program("main", "", "", body)), "TDL0901");
    refused(kern("u", "N", tensor("TX", "inout", "N", "i64"), program("main", "t", "Q", "")), "TDL0904");
}
