// Every error of an argument, with its text.
#include "ranks.h"

#include <cstring>

namespace {
struct Many {
    std::vector<tdl_bf16> P = std::vector<tdl_bf16>(1000);
    std::vector<double> Q = std::vector<double>(1000), R = std::vector<double>(1000);
    fake_many_args a{};
    Many() {
        a.M = 4, a.N = 10, a.beta = 3;
        a.P = P.data(), a.Q = Q.data(), a.R = R.data();
    }
};

struct Context {
    tdl_ctx *ctx = nullptr;
    explicit Context(tdl_options o = {}) {
        o.ranks = 1;
        o.threads = 1;
        REQUIRE(tdl_init(&ctx, &o) == TDL_OK);
    }
    ~Context() { tdl_finalize(ctx); }
    // Launches, expects a status, and returns the text.
    std::string many(const fake_many_args &a, tdl_status expected) {
        tdl_status s = tdl_launch(ctx, &fake_many_kernel, &a, nullptr);
        std::string text = s ? tdl_last_error(ctx) : "";
        CHECK_MESSAGE(s == expected, text);
        return text;
    }
};
} // namespace

#define CHECK_TEXT(text, ...) CHECK(missing_part(text, {__VA_ARGS__}) == "")

TEST_CASE("sizes and extents") {
    Context c;
    Many m;
    c.many(m.a, TDL_OK);
    m.a.M = -1;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "kernel `fake_many`: size `M` is -1: 0 or more is allowed");
    m.a.M = 4, m.a.N = 3;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "extent `N - 4` of `P` is -1: 0 or more is allowed");
    m.a.N = int64_t{1} << 62;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "tensor `P` would have more than 2^63 bytes");
    m.a.M = 0, m.a.N = 10; // empty: pointers do not matter
    m.a.P = nullptr, m.a.Q = nullptr, m.a.R = nullptr;
    c.many(m.a, TDL_OK);
}

TEST_CASE("pointers and alignment") {
    Context c;
    Many m;
    m.a.Q = nullptr;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "tensor `Q` is NULL, but this rank has elements of it");
    m.a.Q = reinterpret_cast<double *>(reinterpret_cast<char *>(m.Q.data()) + 4);
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "tensor `Q` is at 0x",
               "a multiple of 8 bytes, the size of its elements, is allowed");
    CHECK(tdl_launch(c.ctx, &fake_many_kernel, nullptr, nullptr) == TDL_BAD_ARGUMENT);
    CHECK_TEXT(tdl_last_error(c.ctx), "the arguments are NULL");
    CHECK(tdl_launch(nullptr, &fake_many_kernel, &m.a, nullptr) == TDL_BAD_ARGUMENT);
    CHECK_TEXT(tdl_last_error(nullptr), "fake_many: the context is NULL");
    CHECK(tdl_prepare(nullptr, &fake_many_kernel, &m.a) == TDL_BAD_ARGUMENT);
    m.a.Q = m.Q.data();
    c.many(m.a, TDL_OK);
}

TEST_CASE("strides") {
    Context c;
    Many m;
    m.a.P_stride[1] = -2;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT),
               "`P_stride[1]` is -2: a number of elements, or 0 for dense, is allowed");
    m.a.P_stride[1] = 0;
    m.a.R_stride[0] = 9; // rows of 10
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "elements of `R` overlap each other");
    m.a.R_stride[0] = 0;
    m.a.Q_stride[0] = 9; // an input may
    c.many(m.a, TDL_OK);
    m.a.Q_stride[0] = INT64_MAX / 4;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "tensor `Q` with its strides reaches beyond the address space");
    m.a.Q_stride[0] = 0;
    m.a.P_stride[1] = INT64_MAX / 2;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "the dense `P_stride[0]` does not fit 64 bits");
}

TEST_CASE("overlap") {
    Context c;
    Many m;
    m.a.R = m.Q.data() + 39;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "tensors `Q` and `R` overlap in memory, but `R` is written: "
                                              "only tensors that are read may share memory");
    m.a.R = m.Q.data() + 40;
    c.many(m.a, TDL_OK);
    m.a.R = m.R.data();
    m.a.P = reinterpret_cast<tdl_bf16 *>(m.Q.data()); // both are read
    c.many(m.a, TDL_OK);
    m.a.Q_stride[0] = m.a.R_stride[0] = 20; // column blocks of one buffer
    m.a.P = m.P.data();
    m.a.R = m.Q.data() + 10;
    c.many(m.a, TDL_OK);
    m.a.R = m.Q.data() + 11;
    CHECK_TEXT(c.many(m.a, TDL_BAD_ARGUMENT), "overlap in memory");
}

TEST_CASE("require") {
    Context c;
    std::vector<float> x(8), y(8);
    fake_axpy_args a{7, 1.5f, x.data(), y.data()};
    CHECK(tdl_launch(c.ctx, &fake_axpy_kernel, &a, nullptr) == TDL_BAD_ARGUMENT);
    CHECK_TEXT(
        tdl_last_error(c.ctx),
        "fake.tdl:30: kernel `fake_axpy` (plan `only`) N=7 alpha=1.5: `require N % 2 == 0` does not hold");
    a.N = 1000000;
    CHECK(tdl_prepare(c.ctx, &fake_axpy_kernel, &a) == TDL_BAD_ARGUMENT);
    CHECK_TEXT(tdl_last_error(c.ctx), "fake.tdl:31:", "`require N < 1000000` does not hold");
    a.N = 8;
    CHECK(tdl_launch(c.ctx, &fake_axpy_kernel, &a, nullptr) == TDL_OK);
    CHECK(tdl_synchronize(c.ctx, nullptr) == TDL_OK);
}

TEST_CASE("sizes beyond what memory can hold") {
    Context c;
    fake_ag_args a{};
    a.M = 1000000, a.N = int64_t{1} << 40;
    CHECK(tdl_prepare(c.ctx, &fake_ag_kernel, &a) == TDL_BAD_ARGUMENT);
    CHECK_TEXT(tdl_last_error(c.ctx), "buffer `staging` of plan `rows` would be negative or beyond 64 bits");
    a.M = 1000, a.N = int64_t{1} << 30;
    CHECK(tdl_prepare(c.ctx, &fake_ag_kernel, &a) == TDL_OUT_OF_MEMORY);
    CHECK_TEXT(tdl_last_error(c.ctx), "scratch of 4294967296000 bytes", "heap_bytes");
    a.M = 4, a.N = 4; // the context is not spoilt
    CHECK(tdl_prepare(c.ctx, &fake_ag_kernel, &a) == TDL_OK);
}

TEST_CASE("plans, versions, processors") {
    tdl_options o{};
    o.plan = "halves";
    Context c(o);
    Gather g(c.ctx, 4, 4);
    g.fill(0);
    CHECK(g.launch() == TDL_OK);
    CHECK(tdl_synchronize(c.ctx, nullptr) == TDL_OK);
    CHECK(g.launch(fake_mirror_kernel) == TDL_BAD_ARGUMENT);
    CHECK_TEXT(tdl_last_error(c.ctx),
               "kernel `fake_mirror` has no plan `halves` (option `plan` or TDL_PLAN): it has `rows`");

    tdl_kernel old = fake_ag_kernel;
    old.abi = TDL_ABI_VERSION + 1;
    CHECK(g.launch(old) == TDL_WRONG_VERSION);
    CHECK_TEXT(tdl_last_error(c.ctx), "kernel `fake_ag` was compiled for ABI");
    tdl_kernel modern = fake_ag_kernel;
    modern.cpu_level = 9;
    CHECK(g.launch(modern) == TDL_DEVICE_ERROR);
    CHECK_TEXT(tdl_last_error(c.ctx), "kernel `fake_ag` was compiled for x86-64", "this processor");
}

TEST_CASE("an error on one rank of a first launch reaches all") {
    CHECK_RANKS(Mode::threads, 3, [](Rank &me) -> std::string {
        Gather g(me.ctx, 6, 4);
        g.fill(0);
        if (me.rank == 1) g.args.C = nullptr;
        EXPECT_STATUS(me, g.launch(), me.rank == 1 ? TDL_BAD_ARGUMENT : TDL_MISMATCH);
        if (me.rank != 1)
            EXPECT_TEXT(tdl_last_error(me.ctx),
                        "rank 1 cannot take part: bad argument: kernel `fake_ag`: tensor `C` is NULL");
        g.args.C = g.C.data();
        EXPECT_OK(me, g.launch()); // nothing is spoilt
        EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
        EXPECT(g.check(0) == "");
        return "";
    });
}

TEST_CASE("functions without a context") {
    int64_t n = 0;
    void *p = nullptr;
    CHECK(tdl_shard(nullptr, 1, &n, &n, &n) == TDL_BAD_ARGUMENT);
    CHECK(tdl_alloc(nullptr, 1, &p) == TDL_BAD_ARGUMENT);
    CHECK(tdl_free(nullptr, p) == TDL_BAD_ARGUMENT);
    CHECK(tdl_synchronize(nullptr, nullptr) == TDL_BAD_ARGUMENT);
    CHECK_TEXT(tdl_last_error(nullptr), "tdl_synchronize: the context is NULL");
    CHECK(tdl_reset(nullptr) == TDL_BAD_ARGUMENT);
    CHECK(tdl_init(nullptr, nullptr) == TDL_BAD_ARGUMENT);
    CHECK(tdl_finalize(nullptr) == TDL_OK);
    CHECK(tdl_group_create(0, nullptr) == TDL_BAD_ARGUMENT);
}
