// What goes wrong on GPUs: waits that give up, GPUs that die, and every call of the driver failing once.
#include "cuda_kernels.h"

#include "cuda_driver.h"
#include "cuda_inside.h"

#include <functional>

TEST_CASE("a wait that gave up becomes the report of the host; reset makes the context usable") {
    begin_cuda_test();
    Gather1 gather;
    Axpy axpy;
    Vectors v(16);
    Context c("cuda", 700);
    std::vector<float> a(100), b(100);
    fake_ag_args args{5, 3, a.data(), {0}, b.data(), {0}};
    REQUIRE(gather.launch(c, &args) == TDL_OK);
    REQUIRE(axpy.launch(c, &v.args) == TDL_OK);
    fake_time_out({1, 7, 0, 0, 2, 3, 2, 0, 0}); // site 1: of task `gather`; ticket 7: tile (0, 2)
    REQUIRE(gather.launch(c, &args) == TDL_OK);
    REQUIRE(axpy.launch(c, &v.args) == TDL_OK); // does nothing
    CHECK(tdl_synchronize(c, fake_cuda_stream(1)) == TDL_TIMEOUT);
    CHECK(c.error() ==
          "rank 0 of 1: no progress for 700 ms\n"
          "  fake.tdl:9:12: kernel `fake_ag` (plan `rows`) M=5 N=3, launch 3, task `gather` tile (0, 2), "
          "ticket 7\n  waits for flag `arrived`[2] to reach 3; it is 2");
    CHECK(axpy.launch(c, &v.args) == TDL_TIMEOUT);
    CHECK(axpy.prepare(c, &v.args) == TDL_TIMEOUT);
    CHECK(v.y[0] == 7.0f);
    CHECK(tdl_reset(c) == TDL_OK);
    CHECK(axpy.launch(c, &v.args) == TDL_OK);
    CHECK(tdl_synchronize(c, fake_cuda_stream(1)) == TDL_OK);
    CHECK(v.y[0] == 13.0f);
    auto *control = reinterpret_cast<tdl_device_control *>(cuda_look_inside(c).control);
    CHECK(control->epoch > 5);
    CHECK(control->abort == 0);
    CHECK(tdl_last_error(c) == c.error());
}

TEST_CASE("reports of joins, of sizes long gone, of nonsense; tdl_finalize reports, too") {
    begin_cuda_test();
    Gather1 gather;
    std::vector<float> a(10000), b(10000);
    auto report = [&](const tdl_device_report &r, int launches_after) {
        Context c;
        for (int i = 0; i <= launches_after; i++) {
            fake_ag_args args{100 - i, 3, a.data(), {0}, b.data(), {0}};
            REQUIRE((i || gather.prepare(c, &args) == TDL_OK));
            if (!i) fake_time_out(r);
            REQUIRE(gather.launch(c, &args) == TDL_OK);
        }
        tdl_synchronize(c, fake_cuda_stream(1));
        return c.error();
    };
    CHECK(has(
        report({0, 3, 1, 0, 0, 100, 99, 0, 0}, 3),
        {"fake.tdl:7:5: kernel `fake_ag` (plan `rows`) M=100 N=3, launch 1, task `push` tile (3), ticket 3",
         "waits for join `read`[0] to reach 100; it is 99"}));
    CHECK(has(report({0, 3, 1, 0, 0, 100, 99, 0, 0}, 20),
              {"fake.tdl:7:5: kernel `fake_ag` (plan `rows`), launch 1, task `push`\n"}));
    CHECK(has(report({0, 3, 7, 0, 0, 100, 99, 0, 0}, 0), {"makes no sense", "kind 7"}));
    CHECK(has(report({0, 3, 0, 2, 0, 100, 99, 0, 0}, 0), {"makes no sense", "object 2[0]"}));
    tdl_options o{};
    o.ranks = 1;
    o.device = "cuda";
    tdl_ctx *ctx = nullptr;
    REQUIRE(tdl_init(&ctx, &o) == TDL_OK);
    fake_ag_args args{2, 3, a.data(), {0}, b.data(), {0}};
    fake_time_out({0, 1, 1, 0, 0, 2, 1, 0, 0});
    REQUIRE(gather.launch(ctx, &args) == TDL_OK);
    CHECK(tdl_finalize(ctx) == TDL_TIMEOUT);
    CHECK(has(tdl_last_error(nullptr), {"waits for join `read`[0] to reach 2; it is 1"}));
}

TEST_CASE("a GPU that dies") {
    begin_cuda_test();
    Axpy axpy;
    Vectors v(16);
    {
        Context c;
        REQUIRE(axpy.launch(c, &v.args) == TDL_OK);
        fake_cuda_break(700);
        CHECK(tdl_synchronize(c, fake_cuda_stream(1)) == TDL_DEVICE_ERROR);
        const char *text =
            "cuStreamIsCapturing, the stream of tdl_synchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700, an illegal "
            "memory access was encountered)";
        CHECK(has(c.error(), {text}));
        CHECK(axpy.launch(c, &v.args) == TDL_DEVICE_ERROR);
        CHECK(has(c.error(), {"CUDA_ERROR_ILLEGAL_ADDRESS"}));
        CHECK(tdl_reset(c) == TDL_DEVICE_ERROR); // it cannot be repaired in this process
        void *p;
        CHECK(tdl_alloc(c, 1, &p) == TDL_DEVICE_ERROR);
        fake_cuda_break(0); // so that what is left can be released
    }
}

// ---- Every call failing once ------------------------------------------------------------------------------
// All that a program does, one step after another; each step may be repeated after it failed.
struct Program {
    Axpy axpy{"threads=128 per_sm=2 dynamic=60000", 100};
    Gather1 gather;
    Vectors v{64};
    std::vector<float> a = std::vector<float>(64), b = std::vector<float>(64);
    fake_ag_args args{8, 8, a.data(), {0}, b.data(), {0}};
    tdl_ctx *ctx = nullptr;
    void *p = nullptr;
    std::vector<std::function<tdl_status()>> steps = {
        [this] {
            tdl_options o{};
            o.ranks = 1;
            o.device = "cuda";
            return tdl_init(&ctx, &o);
        },
        [this] { return tdl_alloc(ctx, 1000, &p); },
        [this] { return axpy.prepare(ctx, &v.args); },
        [this] { return axpy.launch(ctx, &v.args, 1); },
        [this] { return axpy.launch(ctx, &v.args, 2); },
        [this] { return gather.launch(ctx, &args, 0); },
        [this] { return tdl_synchronize(ctx, fake_cuda_stream(1)); },
        [this] { return tdl_reset(ctx); },
        [this] { return axpy.launch(ctx, &v.args, 1); },
        [this] { return tdl_free(ctx, p); },
        [this] {
            tdl_ctx *old = ctx;
            ctx = nullptr;
            return tdl_finalize(old);
        },
    };
};

// The steps of a run in which the nth call of `call` fails; returns whether there was one. In tdl_finalize there is
// nobody to tell, and what cannot be released stays.
static bool run_with_failure(const std::string &call, int nth) {
    bool of_no_consequence =
        call == "cuCtxPopCurrent" || call == "cuGetErrorName" || call == "cuGetErrorString";
    begin_cuda_test();
    fake_cuda_clear();
    Program program;
    fake_cuda_fail(call.c_str(), nth, 999);
    int errors = 0;
    bool failed_before_end = false;
    for (size_t i = 0; i < program.steps.size(); i++) {
        CAPTURE(i);
        failed_before_end = fake_cuda_failed();
        tdl_status s = program.steps[i]();
        if (!s) continue;
        errors++;
        CHECK(fake_cuda_failed());
        CHECK((s == TDL_DEVICE_ERROR));
        std::string text = tdl_last_error(program.ctx);
        CHECK(has(text, {call.c_str(), "CUDA_ERROR_UNKNOWN (999, unknown error)"}));
        if (i + 1 == program.steps.size()) break;
        if (program.steps[i]()) { // an error of a call that had waited for launches stays
            CHECK(tdl_reset(program.ctx) == TDL_OK);
            CHECK(program.steps[i]() == TDL_OK);
        }
    }
    CHECK(fake_cuda_depth() == 0);
    if (!fake_cuda_failed() || failed_before_end) CHECK(std::string(fake_cuda_live()) == "");
    if (!fake_cuda_failed()) CHECK(program.v.y[0] == 19.0f);
    CHECK(errors <= 1);
    if (failed_before_end && !of_no_consequence) CHECK(errors == 1);
    return fake_cuda_failed();
}

TEST_CASE("every call of the driver failing once") {
    int total = 0;
#define X(name, parameters) #name,
    for (std::string call : {TDLCU_CALLS(X) TDLCU_OPTIONAL_CALLS(X)}) {
#undef X
        CAPTURE(call);
        int nth = 1;
        while (run_with_failure(call, nth)) nth++;
        total += nth - 1;
    }
    MESSAGE(total << " calls of a short program failed, one at a time");
    fake_cuda_clear();
}
