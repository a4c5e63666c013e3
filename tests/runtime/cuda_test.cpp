// The runtime on GPUs, over a driver without one (fake_cuda.h): start-up, code, parameters, order, graphs, memory.
#include "cuda_kernels.h"

#include "cuda_inside.h"
#include "ranks.h"

#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <unistd.h>

TEST_CASE("a machine without a driver, and drivers that are too old") {
    begin_cuda_test();
    setenv("TDL_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
    Context none;
    CHECK(none.status == TDL_DEVICE_ERROR);
    CHECK(has(none.text, {"device `cuda`: this machine has no CUDA driver", "/nowhere/libcuda.so.1"}));
    setenv("TDL_CUDA_LIBRARY", "libm.so.6", 1);
    Context other;
    CHECK(other.status == TDL_DEVICE_ERROR);
    CHECK(has(other.text, {"libm.so.6 has no function cuGetProcAddress_v2", "CUDA 12.0"}));
    begin_cuda_test();
    fake_cuda.missing = "cuMemMap";
    Context old;
    CHECK(old.status == TDL_DEVICE_ERROR);
    CHECK(has(old.text, {"has no function cuMemMap"}));
    fake_cuda.missing = "cuFuncLoad"; // one can do without it
    Context fine;
    CHECK(fine.status == TDL_OK);
    Axpy axpy;
    Vectors v(16);
    CHECK(axpy.launch(fine, &v.args) == TDL_OK);
}

TEST_CASE("which GPU") {
    begin_cuda_test();
    for (const char *bad : {"cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda:99999999999", "CUDA", "gpu"}) {
        Context c(bad);
        CHECK(c.status == TDL_BAD_ARGUMENT);
        CHECK(has(c.text, {"option `device` is `", bad, "`host`, `cuda` or `cuda:N` is allowed"}));
    }
    Context beyond("cuda:2");
    CHECK(beyond.status == TDL_BAD_ARGUMENT);
    CHECK(has(beyond.text, {"device `cuda:2`: this process sees 2 GPUs, 0 to 1"}));
    Context second("cuda:1");
    CHECK(second.status == TDL_OK);
    CHECK(std::string(fake_cuda_live()).find("context") != std::string::npos);
    setenv("TDL_DEVICE", "cuda:0", 1);
    Context first(nullptr);
    CHECK(first.status == TDL_OK);
    CHECK(fake_cuda_calls("cuDevicePrimaryCtxRetain") == 2);
    fake_cuda.devices = 0;
    Context nothing;
    CHECK(nothing.status == TDL_DEVICE_ERROR);
    CHECK(has(nothing.text, {"sees no GPU"}));
    fake_cuda.devices = 1;
    fake_cuda.mapping = 0;
    Context simple;
    CHECK(simple.status == TDL_DEVICE_ERROR);
    CHECK(has(simple.text, {"`cuda:0` (Fake GPU 0)", "cannot map memory"}));
    fake_cuda_begin();
    fake_cuda_fail("cuInit", 1, 100);
    Context hidden;
    CHECK(hidden.status == TDL_DEVICE_ERROR);
    CHECK(hidden.text ==
          "cuInit, device `cuda`: CUDA_ERROR_NO_DEVICE (100, no CUDA-capable device is detected)");
}

TEST_CASE("modules are loaded eagerly, unless the user said otherwise") {
    begin_cuda_test();
    Context c;
    CHECK(std::string(fake_cuda_loading()) == "EAGER");
    setenv("CUDA_MODULE_LOADING", "LAZY", 1);
    Context d;
    CHECK(std::string(fake_cuda_loading()) == "LAZY");
}

TEST_CASE("several ranks are refused, on all of them") {
    begin_cuda_test();
    CHECK_BARE(Mode::threads, 2, [](Rank &me) -> std::string {
        me.options.device = "cuda";
        EXPECT(tdl_init(&me.ctx, &me.options) == TDL_BAD_ARGUMENT);
        EXPECT_TEXT(tdl_last_error(nullptr), "device `cuda` with 2 ranks", "one rank on a GPU");
        return "";
    });
    CHECK(fake_cuda_log(0) == nullptr);
}

// What `body` writes to stderr.
static std::string stderr_of(const std::function<void()> &body) {
    FILE *file = tmpfile();
    REQUIRE(file != nullptr);
    fflush(stderr);
    int saved = dup(2);
    dup2(fileno(file), 2);
    body();
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    std::string text(static_cast<size_t>(ftell(file)), ' ');
    rewind(file);
    size_t got = fread(text.data(), 1, text.size(), file);
    fclose(file);
    return text.substr(0, got);
}

TEST_CASE("TDL_VERBOSE: what was found out about GPU and kernels; nothing without it") {
    begin_cuda_test();
    auto run = [] {
        Axpy axpy("threads=384 registers=168 local=24 shared=1000 dynamic=90000 per_sm=1");
        Vectors v(16);
        Context c;
        CHECK(axpy.launch(c, &v.args) == TDL_OK);
    };
    CHECK(stderr_of(run) == "");
    setenv("TDL_VERBOSE", "1", 1);
    CHECK(has(stderr_of(run),
              {"tdl: rank 0 of 1: `cuda:0` is a Fake GPU 0, sm_90, of which 4 SMs are used\n",
               "kernel `fake_axpy` (plan `only`), cubin sm_90a: 384 threads, 168 registers, 1000 bytes of "
               "shared memory and 90000 dynamic, 4 blocks on 4 SMs\n",
               "24 bytes of local memory per thread"}));
}

// ---- Code -------------------------------------------------------------------------------------------------
static tdl_image made_for(tdl_image_kind kind, int arch, int specific) {
    return {kind, arch, specific, 0, "", 1};
}

TEST_CASE("the best image") {
    auto ptx = [](int arch, int a = 0) { return made_for(TDL_IMAGE_PTX, arch, a); };
    auto cubin = [](int arch, int a = 0) { return made_for(TDL_IMAGE_CUBIN, arch, a); };
    std::vector<tdl_image> all = {ptx(80), cubin(80),  cubin(90),    cubin(90, 1),
                                  ptx(90), ptx(90, 1), cubin(100, 1)};
    auto order = [&](int arch) {
        std::string s;
        uint64_t tried = 0;
        for (int i; (i = tdli_cuda_choose(all.data(), static_cast<int>(all.size()), arch, tried)) >= 0;) {
            tried |= uint64_t{1} << i;
            s += std::to_string(i);
        }
        return s;
    };
    CHECK(order(90) == "32540");
    CHECK(order(80) == "10");
    CHECK(order(86) == "10");   // cubin of the same generation
    CHECK(order(100) == "640"); // never PTX for sm_90a
    CHECK(order(103) == "40");  // nor a cubin for sm_100a
    CHECK(order(75) == "");
}

TEST_CASE(
    "an image the driver refuses is followed by the next; none left is an error with the first reason") {
    begin_cuda_test();
    Axpy axpy;
    std::string refused = "refuse 222\n", odd = "refuse 999\n";
    tdl_image images[] = {
        {TDL_IMAGE_PTX, 80, 0, 0, axpy.code.c_str(), static_cast<int64_t>(axpy.code.size() + 1)},
        {TDL_IMAGE_PTX, 90, 1, 0, refused.c_str(), static_cast<int64_t>(refused.size() + 1)}};
    axpy.kernel.images = images;
    axpy.kernel.n_images = 2;
    Vectors v(16);
    Context c;
    CHECK(axpy.launch(c, &v.args) == TDL_OK);
    CHECK(v.y[15] == 7.0f);
    images[0].arch = 100;
    Context d;
    CHECK(axpy.launch(d, &v.args) == TDL_DEVICE_ERROR);
    CHECK(has(d.error(),
              {"cuModuleLoadDataEx, PTX sm_90a of kernel `fake_axpy`, which says: the fake does not like it: "
               "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222, "}));
    images[1].data = odd.c_str(); // no reason to try others
    images[0].arch = 80;
    CHECK(axpy.launch(d, &v.args) == TDL_DEVICE_ERROR);
    CHECK(has(d.error(), {"CUDA_ERROR_UNKNOWN"}));
    images[0].arch = images[1].arch = 100;
    CHECK(axpy.launch(d, &v.args) == TDL_DEVICE_ERROR);
    CHECK(has(
        d.error(),
        {"device code for PTX sm_100, PTX sm_100a, none of which runs on `cuda:0`, a Fake GPU 0 (sm_90)"}));
    images[0].arch = 80;
    axpy.plan.device_entry = "lost";
    CHECK(axpy.launch(d, &v.args) == TDL_DEVICE_ERROR);
    CHECK(has(d.error(), {"cuModuleGetFunction, `lost`: CUDA_ERROR_NOT_FOUND"}));
    axpy.plan.device_entry = nullptr;
    Context e;
    CHECK(axpy.launch(e, &v.args) == TDL_DEVICE_ERROR);
    CHECK(
        has(e.error(), {"no code of kernel `fake_axpy`, plan `only`, for CUDA: compile with --target=cuda"}));
}

TEST_CASE("kernels that share an image share a module") {
    begin_cuda_test();
    Axpy axpy, again;
    again.kernel.identity++;
    Vectors v(16);
    Context c;
    CHECK(axpy.launch(c, &v.args) == TDL_OK);
    CHECK(again.launch(c, &v.args) == TDL_OK);
    CHECK(fake_cuda_calls("cuModuleLoadDataEx") == 1);
}

// ---- Parameters -------------------------------------------------------------------------------------------
TEST_CASE("the words of the parameter block") {
    begin_cuda_test();
    Gather1 gather;
    Context c("cuda", 1234);
    std::vector<float> a(60, 1.5f), b(100);
    fake_ag_args args{6, 7, a.data(), {10}, b.data(), {16}};
    REQUIRE(gather.launch(c, &args, 2) == TDL_OK);
    const fake_cuda_launch *l = fake_cuda_launches(0);
    REQUIRE(l != nullptr);
    CHECK(std::string(l->entry) == "gather");
    CHECK(l->threads == 64);
    CHECK(l->grid == 4); // 4 SMs, 12 tickets
    CHECK(l->stream == fake_cuda_stream(2));
    const uint64_t *w = l->words;
    cuda_inside in = cuda_look_inside(c);
    CHECK(w[TDL_DEVICE_RANKS] == 1);
    CHECK(w[TDL_DEVICE_RANK] == 0);
    CHECK(w[TDL_DEVICE_CONTROL] == in.control);
    CHECK(w[TDL_DEVICE_WORKSPACE] == 0);
    CHECK(w[TDL_DEVICE_WORKSPACE_BYTES] == 0);
    CHECK(w[TDL_DEVICE_TIMEOUT_NS] == 1234000000);
    CHECK(w[TDL_DEVICE_TAG] != 0);
    CHECK(w[7] == 0);
    CHECK(w[8] == 6);
    CHECK(w[9] == 7);
    CHECK(w[10] == reinterpret_cast<uintptr_t>(a.data()));
    CHECK(w[11] == reinterpret_cast<uintptr_t>(b.data()));
    CHECK(w[12] == 10);
    CHECK(w[13] == 1);
    CHECK(w[14] == 16);
    CHECK(w[15] == 1);
    CHECK(w[16] == in.buffers_offset); // staging: an offset
    CHECK(w[17] == in.local);          // spare: an address
    CHECK(w[18] == in.flags_offset);   // arrived: an offset
    CHECK(w[19] == 0);                 // done: in the head of a heap
    CHECK(w[20] == in.joins);
    CHECK(w[21] == in.heap);
    CHECK(w[22] == 0);
    CHECK(b[5 * 16 + 6] == 1.5f);
    CHECK(tdl_synchronize(c, fake_cuda_stream(2)) == TDL_OK);
}

TEST_CASE("scalars in the low bytes; only declared bytes are passed on") {
    begin_cuda_test();
    Axpy axpy("threads=32 bytes=80");
    Vectors v(10);
    Context c;
    fake_cuda.run = nullptr;
    REQUIRE(axpy.launch(c, &v.args) == TDL_OK);
    const fake_cuda_launch *l = fake_cuda_launches(0);
    CHECK(l->grid == 1); // one ticket
    CHECK(l->words[8] == 10);
    CHECK(l->words[9] == 0x40400000); // 3.0f
    CHECK(l->words[10] == 0);
}

TEST_CASE("blocks: resident, tickets, TDL_MAX_SMS, workspaces, dynamic shared memory") {
    begin_cuda_test();
    Vectors v(16 * 1000);
    {
        Axpy axpy("threads=256 per_sm=3 dynamic=99000", 1000);
        Context c;
        REQUIRE(axpy.launch(c, &v.args) == TDL_OK);
        const fake_cuda_launch *l = fake_cuda_launches(0);
        CHECK(l->grid == 12);
        CHECK(l->shared == 99000);
        CHECK(l->words[TDL_DEVICE_WORKSPACE_BYTES] == 1024);
        CHECK(l->words[TDL_DEVICE_WORKSPACE] == cuda_look_inside(c).workspaces);
        CHECK(cuda_look_inside(c).workspaces_mapped >= 12 * 1024);
    }
    setenv("TDL_MAX_SMS", "1", 1);
    Axpy axpy("threads=256 per_sm=3");
    Context c;
    REQUIRE(axpy.launch(c, &v.args) == TDL_OK);
    CHECK(fake_cuda_launches(1)->grid == 3);
    Vectors none(0);
    REQUIRE(axpy.launch(c, &none.args) == TDL_OK);
    CHECK(fake_cuda_launches(2)->grid == 1); // the epoch must advance
    Axpy huge("threads=1024 registers=255 per_sm=0");
    huge.kernel.identity++;
    CHECK(huge.launch(c, &v.args) == TDL_DEVICE_ERROR);
    CHECK(has(c.error(), {"no block of 1024 threads, 255 registers each", "`cuda:0`"}));
}

TEST_CASE("a launch that needs larger workspaces than its grid has runs on fewer blocks") {
    begin_cuda_test();
    Vectors v(16 * 100);
    Context c;
    Axpy wide("per_sm=8", 4096); // 32 blocks, 128 KiB
    REQUIRE(wide.prepare(c, &v.args) == TDL_OK);
    Axpy deep("per_sm=1", 65536); // its workspace_of takes over for both kernels
    deep.kernel.identity++;
    REQUIRE(deep.prepare(c, &v.args) == TDL_OK); // 4 blocks, 256 KiB
    v.args.alpha = 1;
    Vectors w(16 * 99);
    REQUIRE(wide.launch(c, &w.args) == TDL_OK);
    CHECK(fake_cuda_launches(0)->words[TDL_DEVICE_WORKSPACE_BYTES] == 65536);
    CHECK(fake_cuda_launches(0)->grid == 4);
}

// ---- Order ------------------------------------------------------------------------------------------------
static std::string calls_from(int i) {
    std::string s;
    for (const char *line; (line = fake_cuda_log(i)); i++) {
        std::string call = line;
        if (call.find("cuCtx") == 0) continue;
        s += call.substr(2) + "; ";
    }
    return s;
}
static int log_size() {
    int i = 0;
    while (fake_cuda_log(i)) i++;
    return i;
}

TEST_CASE("one order across streams, and nothing else during a launch") {
    begin_cuda_test();
    Axpy axpy;
    Vectors v(64);
    Context c;
    REQUIRE(axpy.prepare(c, &v.args) == TDL_OK);
    int start = log_size();
    for (int stream : {1, 2, 0, 2}) CHECK(axpy.launch(c, &v.args, stream) == TDL_OK);
    std::string got = calls_from(start), event = got.substr(got.find("EventRecord ") + 12);
    event = event.substr(0, event.find(' '));
    auto launch = [&](int s, bool first) {
        std::string n = std::to_string(s);
        return "StreamIsCapturing " + n + "; " + (first ? "" : "StreamWaitEvent " + n + " " + event + "; ") +
               "LaunchKernel " + n + " grid=4; EventRecord " + event + " " + n + "; ";
    };
    CHECK(got == launch(1, true) + launch(2, false) + launch(0, false) + launch(2, false));
    CHECK(v.y[63] == 25.0f);
    CHECK(tdl_synchronize(c, nullptr) == TDL_OK);
}

TEST_CASE("launches do not allocate") {
    begin_cuda_test();
    Axpy axpy;
    Vectors v(64);
    Context c;
    REQUIRE(axpy.launch(c, &v.args) == TDL_OK);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 100; i++) {
        v.args.alpha = static_cast<float>(i); // another scalar each time: everything is computed anew
        if (axpy.launch(c, &v.args, 1 + i % 3) != TDL_OK) FAIL("launch " << i);
    }
    CHECK(mallinfo2().uordblks == before);
}

// ---- Graphs -----------------------------------------------------------------------------------------------
TEST_CASE("a launch into a stream that records a graph") {
    begin_cuda_test();
    Axpy axpy;
    Vectors v(64);
    Context c;
    fake_cuda_capture(fake_cuda_stream(1), 1);
    CHECK(axpy.launch(c, &v.args) == TDL_NEEDS_PREPARE);
    CHECK(has(c.error(), {"`fake_axpy` (plan `only`) N=64 alpha=3", "records a graph", "fake_axpy_prepare"}));
    CHECK(fake_cuda_capture_ok());
    fake_cuda_capture(fake_cuda_stream(1), 0);
    REQUIRE(axpy.launch(c, &v.args) == TDL_OK); // prepares; 7
    fake_cuda_capture(fake_cuda_stream(1), 1);
    int start = log_size();
    CHECK(axpy.launch(c, &v.args) == TDL_OK);
    CHECK(calls_from(start) == "StreamIsCapturing 1; LaunchKernel 1 grid=4; ");
    CHECK(tdl_synchronize(c, fake_cuda_stream(1)) == TDL_BAD_ARGUMENT);
    CHECK(has(c.error(), {"tdl_synchronize: the stream records a graph"}));
    v.args.X = nullptr;
    CHECK(axpy.launch(c, &v.args) == TDL_BAD_ARGUMENT);
    CHECK(fake_cuda_capture_ok());
    fake_cuda_capture(fake_cuda_stream(1), 0);
    v.args.X = v.x.data();
    fake_cuda_replay();
    fake_cuda_replay();
    CHECK(tdl_synchronize(c, fake_cuda_stream(1)) == TDL_OK);
    CHECK(v.y[0] == 19.0f);
    fake_time_out({0, 0, 1, 0, 0, 1, 0, 0, 0}); // in a replay: epochs have gone on without us
    Gather1 gather;
    std::vector<float> a(4), b(4);
    fake_ag_args args{2, 2, a.data(), {0}, b.data(), {0}};
    REQUIRE(gather.launch(c, &args) == TDL_OK);
    CHECK(tdl_synchronize(c, fake_cuda_stream(1)) == TDL_TIMEOUT);
    CHECK(has(c.error(), {"launch 4,"}));
}

// ---- Memory -----------------------------------------------------------------------------------------------
static bool all_zero(uint64_t at, int64_t bytes) {
    const unsigned char *p = reinterpret_cast<const unsigned char *>(static_cast<uintptr_t>(at));
    for (int64_t i = 0; i < bytes; i++)
        if (p[i]) return false;
    return true;
}

TEST_CASE("scratch is zeroed, grows in place, and too small is said") {
    begin_cuda_test();
    Gather1 gather;
    Context c;
    std::vector<float> a(400 * 500), b(400 * 500);
    fake_ag_args small{4, 4, a.data(), {0}, b.data(), {0}}, large{400, 500, a.data(), {0}, b.data(), {0}};
    REQUIRE(gather.launch(c, &small) == TDL_OK);
    cuda_inside before = cuda_look_inside(c);
    CHECK(all_zero(before.buffers, before.buffers_mapped));
    CHECK(all_zero(before.local, before.local_mapped));
    CHECK(all_zero(before.joins, before.joins_mapped));
    CHECK(gather.launch(c, &large) == TDL_NEEDS_PREPARE);
    CHECK(has(c.error(),
              {"`fake_ag` (plan `rows`) M=400 N=500", "800000 in buffers of peers", "fake_ag_prepare"}));
    memset(reinterpret_cast<void *>(before.buffers), 5, 64);
    REQUIRE(gather.prepare(c, &large) == TDL_OK);
    cuda_inside after = cuda_look_inside(c);
    CHECK(after.buffers == before.buffers);
    CHECK(after.buffers_mapped > before.buffers_mapped);
    CHECK(*reinterpret_cast<char *>(before.buffers) == 5); // what was there stays
    CHECK(all_zero(before.buffers + static_cast<uint64_t>(before.buffers_mapped),
                   after.buffers_mapped - before.buffers_mapped));
    CHECK(gather.launch(c, &large) == TDL_OK);
    fake_cuda.memory = 1 << 20;
    fake_ag_args huge{400, 50000, a.data(), {0}, b.data(), {0}};
    CHECK(gather.prepare(c, &huge) == TDL_OUT_OF_MEMORY);
    CHECK(has(c.error(),
              {"cuMemCreate, ", "bytes for buffers of peers: CUDA_ERROR_OUT_OF_MEMORY (2, out of memory)"}));
    CHECK(gather.launch(c, &large) == TDL_OK);
    CHECK(tdl_synchronize(c, fake_cuda_stream(1)) == TDL_OK);
}

TEST_CASE("symmetric memory is memory of the GPU") {
    begin_cuda_test();
    Context c;
    void *p = nullptr, *q = nullptr, *none = &none;
    CHECK(tdl_alloc(c, 100000, &p) == TDL_OK);
    CHECK(tdl_alloc(c, 1, &q) == TDL_OK);
    CHECK(tdl_alloc(c, 0, &none) == TDL_OK);
    CHECK(none == nullptr);
    CHECK(p != q);
    CHECK(all_zero(reinterpret_cast<uintptr_t>(p), 100000));
    memset(p, 1, 100000);
    CHECK(tdl_free(c, p) == TDL_OK);
    CHECK(tdl_alloc(c, 50000, &p) == TDL_OK);
    CHECK(all_zero(reinterpret_cast<uintptr_t>(p), 50000));
    CHECK(tdl_free(c, static_cast<char *>(q) + 1) == TDL_BAD_ARGUMENT);
    fake_cuda.memory = 0;
    void *r = nullptr;
    CHECK(tdl_alloc(c, 1, &r) == TDL_OUT_OF_MEMORY);
    CHECK(has(c.error(), {"cuMemCreate", "tdl_alloc"}));
    fake_cuda.memory = 1 << 30;
    CHECK(tdl_alloc(c, 1, &r) == TDL_OK);
    CHECK(tdl_free(c, q) == TDL_OK);
}

TEST_CASE("TDL_CHECK: pointers a GPU cannot follow") {
    begin_cuda_test();
    setenv("TDL_CHECK", "1", 1);
    Axpy axpy;
    Vectors v(16);
    Context c;
    CHECK(axpy.launch(c, &v.args) == TDL_BAD_ARGUMENT);
    CHECK(has(c.error(), {"tensor `X` is at 0x", "neither memory of a GPU nor pinned"}));
    void *x = nullptr, *y = nullptr;
    CHECK(tdl_alloc(c, 64, &x) == TDL_OK);
    CHECK(tdl_alloc(c, 64, &y) == TDL_OK);
    v.args.X = static_cast<float *>(x);
    v.args.Y = static_cast<float *>(y);
    CHECK(axpy.launch(c, &v.args) == TDL_OK);
    v.args.Y = v.y.data();
    CHECK(axpy.launch(c, &v.args) == TDL_BAD_ARGUMENT);
    CHECK(has(c.error(), {"tensor `Y`"}));
    fake_cuda.pageable = 1; // all memory of the process is a GPU's
    Context d;
    CHECK(axpy.launch(d, &v.args) == TDL_OK);
}
