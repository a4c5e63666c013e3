/* runtime_smoke.c: libtdl on a real GPU, with device code written by hand (runtime_smoke.ptx), so that it needs
 * neither tdlc nor a CUDA toolkit, only a driver. Usage: runtime_smoke [ptx | cubin] [die]
 *
 *   launches back to back on three streams, odd sizes, memory from tdl_alloc and from cuMemAlloc, graph capture and
 *   replay, TDL_MAX_SMS=1, a wait in vain and tdl_reset, bad pointers; `die`: an address nobody mapped, as the last
 *
 * Prints one line per part; status 0: all as it should be, 1: not, 3: no GPU. */
#include "tdl/abi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The image of the PTX, and if there is one, of the cubin made from it. */
#define INCLUDE(name, path)                                                                                  \
    __asm__(".section .rodata\n.balign 16\n" #name ":\n.incbin \"" path "\"\n" #name                         \
            "_end:\n.byte 0\n.previous\n");                                                                  \
    extern const char name[], name##_end[]
INCLUDE(smoke_ptx, SMOKE_PTX);
#ifdef SMOKE_CUBIN
INCLUDE(smoke_cubin, SMOKE_CUBIN);
#endif

/* ---- The kernel as tdlc would describe it -------------------------------------------------------------- */
typedef struct smoke_args {
    int64_t N;
    float alpha;
    int64_t extra;
    const float *X;
    float *Y, *Z;
} smoke_args;

static int64_t tiles(const tdl_shape *s) {
    return (s->sizes[0] + 1023) / 1024;
}
static void layout(const tdl_shape *s, int64_t *out) {
    out[0] = 4 * s->sizes[0]; /* stage */
    out[1] = s->ranks;        /* done */
    out[2] = 1;               /* written */
    out[3] = out[4] = tiles(s);
    out[5] = 0; /* workspace of host workers */
}
static int64_t device_workspace(const tdl_shape *s) {
    (void)s;
    return 256 * 4;
}
static int64_t shape(const tdl_shape *s, int64_t *extents) {
    extents[0] = extents[1] = extents[2] = s->sizes[0];
    return -1;
}

static const char *const n_only[] = {"N"};
#define AT(m) ((int32_t)offsetof(smoke_args, m))
static const tdl_arg arguments[] = {
    {"N", TDL_ARG_SIZE, TDL_I64, AT(N), 0, TDL_IN, 0, 0, -1, NULL, 1, 0},
    {"alpha", TDL_ARG_SCALAR, TDL_F32, AT(alpha), 0, TDL_IN, 0, 0, -1, NULL, 1, 0},
    {"extra", TDL_ARG_SCALAR, TDL_I64, AT(extra), 0, TDL_IN, 0, 0, -1, NULL, 1, 0},
    {"X", TDL_ARG_TENSOR, TDL_F32, AT(X), 0, TDL_IN, 0, 1, -1, n_only, 1, 0},
    {"Y", TDL_ARG_TENSOR, TDL_F32, AT(Y), 0, TDL_INOUT, 0, 1, -1, n_only, 1, 0},
    {"Z", TDL_ARG_TENSOR, TDL_F32, AT(Z), 0, TDL_OUT, 0, 1, -1, n_only, 1, 0},
};
static const tdl_buffer buffers[] = {{"stage", TDL_BUFFER_LOCAL, 0}};
static const tdl_flag flags[] = {{"done", TDL_FLAG_DONE, 0}};
static const tdl_join joins[] = {{"written"}};
static const tdl_task tasks[] = {{"axpy", 3, 1}, {"copy", 5, 1}};
static const tdl_site sites[] = {{1, 5, 9, 0}};
static const tdl_plan plans[] = {{.name = "by_hand",
                                  .n_buffers = 1,
                                  .n_flags = 1,
                                  .n_joins = 1,
                                  .n_tasks = 2,
                                  .n_sites = 1,
                                  .buffers = buffers,
                                  .flags = flags,
                                  .joins = joins,
                                  .tasks = tasks,
                                  .sites = sites,
                                  .layout = layout,
                                  .device_entry = "smoke",
                                  .device_workspace = device_workspace}};
static tdl_image images[1];
static const tdl_kernel smoke = {.abi = TDL_ABI_VERSION,
                                 .identity = 0x5e0ce,
                                 .name = "smoke",
                                 .source = "smoke.tdl",
                                 .line = 1,
                                 .args_bytes = sizeof(smoke_args),
                                 .n_args = 6,
                                 .n_plans = 1,
                                 .args = arguments,
                                 .plans = plans,
                                 .shape = shape,
                                 .n_images = 1,
                                 .images = images};

/* ---- The user's side of CUDA: a few functions of the driver -------------------------------------------- */
static int (*cuInit)(unsigned), (*cuDevicePrimaryCtxRetain)(void **, int), (*cuCtxSetCurrent)(void *);
static int (*cuMemAlloc)(uint64_t *, size_t), (*cuMemcpyHtoD)(uint64_t, const void *, size_t);
static int (*cuMemcpyDtoH)(void *, uint64_t, size_t), (*cuMemsetD8)(uint64_t, unsigned char, size_t);
static int (*cuStreamCreate)(void **, unsigned), (*cuStreamBeginCapture)(void *, int),
    (*cuStreamEndCapture)(void *, void **);
static int (*cuGraphInstantiate)(void **, void *, unsigned long long), (*cuGraphLaunch)(void *, void *);
static int (*cuCtxSynchronize)(void);

static int load_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return 0;
    const struct {
        void *to;
        const char *name;
    } functions[] = {{&cuInit, "cuInit"},
                     {&cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain"},
                     {&cuCtxSetCurrent, "cuCtxSetCurrent"},
                     {&cuMemAlloc, "cuMemAlloc_v2"},
                     {&cuMemcpyHtoD, "cuMemcpyHtoD_v2"},
                     {&cuMemcpyDtoH, "cuMemcpyDtoH_v2"},
                     {&cuMemsetD8, "cuMemsetD8_v2"},
                     {&cuStreamCreate, "cuStreamCreate"},
                     {&cuStreamBeginCapture, "cuStreamBeginCapture_v2"},
                     {&cuStreamEndCapture, "cuStreamEndCapture"},
                     {&cuGraphInstantiate, "cuGraphInstantiateWithFlags"},
                     {&cuGraphLaunch, "cuGraphLaunch"},
                     {&cuCtxSynchronize, "cuCtxSynchronize"}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found) return 0;
        memcpy(functions[i].to, &found, sizeof found);
    }
    return 1;
}

/* ---- Checks -------------------------------------------------------------------------------------------- */
static tdl_ctx *ctx;
#define FAIL(...)                                                                                            \
    do {                                                                                                     \
        printf("%s:%d: ", __FILE__, __LINE__);                                                               \
        printf(__VA_ARGS__);                                                                                 \
        printf("\n");                                                                                        \
        exit(1);                                                                                             \
    } while (0)
#define EXPECT(call, status)                                                                                 \
    do {                                                                                                     \
        tdl_status s_ = (call);                                                                              \
        if (s_ != (status))                                                                                  \
            FAIL("%s is %s, not %s: %s", #call, tdl_status_string(s_), tdl_status_string(status),            \
                 tdl_last_error(ctx));                                                                       \
    } while (0)
#define CU(call)                                                                                             \
    do {                                                                                                     \
        int r_ = (call);                                                                                     \
        if (r_) FAIL("%s: error %d of the driver", #call, r_);                                               \
    } while (0)

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { MOST = 1000003 };
static float host[MOST + 1];
static void *x, *y, *streams[3];
static uint64_t z; /* the user's own memory */

/* X[i] = i mod 7, Y[i] = 1, Z poisoned; all one element longer than used, which must stay as it is. */
static smoke_args fill(int64_t n) {
    for (int64_t i = 0; i <= n; i++) host[i] = (float)(i % 7);
    CU(cuMemcpyHtoD((uint64_t)(uintptr_t)x, host, 4 * (size_t)(n + 1)));
    for (int64_t i = 0; i <= n; i++) host[i] = 1;
    CU(cuMemcpyHtoD((uint64_t)(uintptr_t)y, host, 4 * (size_t)(n + 1)));
    CU(cuMemsetD8(z, 0xff, 4 * (size_t)(n + 1)));
    CU(cuCtxSynchronize()); /* these are asynchronous, and streams that are not the default one do not wait */
    return (smoke_args){n, 2, 0, x, y, (float *)(uintptr_t)z};
}

/* After `times` launches with alpha = 2. */
static void check(int64_t n, int times) {
    CU(cuMemcpyDtoH(host, (uint64_t)(uintptr_t)y, 4 * (size_t)(n + 1)));
    for (int64_t i = 0; i < n; i++)
        if (host[i] != 1 + 2.0f * (float)times * (float)(i % 7))
            FAIL("N=%lld, %d launches: Y[%lld] is %g", (long long)n, times, (long long)i, (double)host[i]);
    if (host[n] != 1) FAIL("N=%lld: Y is written behind its end", (long long)n);
    CU(cuMemcpyDtoH(host, z, 4 * (size_t)(n + 1)));
    for (int64_t i = 0; i < n; i++)
        if (host[i] != 1 + 2.0f * (float)times * (float)((n - 1 - i) % 7))
            FAIL("N=%lld, %d launches: Z[%lld] is %g", (long long)n, times, (long long)i, (double)host[i]);
    if (host[n] == host[n]) FAIL("N=%lld: Z is written behind its end", (long long)n);
}

static void launches(int64_t n, int times) {
    smoke_args a = fill(n);
    for (int i = 0; i < times; i++) EXPECT(tdl_launch(ctx, &smoke, &a, streams[i % 3]), TDL_OK);
    EXPECT(tdl_synchronize(ctx, streams[0]), TDL_OK);
    check(n, times);
}

static void graph(void) {
    void *recorded, *executable;
    smoke_args a = fill(5000);
    CU(cuStreamBeginCapture(streams[1], 0));
    for (int i = 0; i < 3; i++) EXPECT(tdl_launch(ctx, &smoke, &a, streams[1]), TDL_OK);
    CU(cuStreamEndCapture(streams[1], &recorded));
    CU(cuGraphInstantiate(&executable, recorded, 0));
    for (int i = 0; i < 1000; i++) CU(cuGraphLaunch(executable, streams[1]));
    EXPECT(tdl_synchronize(ctx, streams[1]), TDL_OK);
    check(5000, 3000);
    EXPECT(tdl_launch(ctx, &smoke, &a, streams[2]), TDL_OK);
    EXPECT(tdl_synchronize(ctx, streams[2]), TDL_OK);
    check(5000, 3001);
}

static void measure(void) {
    smoke_args a = fill(1024);
    enum { N = 20000 };
    double start = now();
    for (int i = 0; i < N; i++) EXPECT(tdl_launch(ctx, &smoke, &a, streams[1]), TDL_OK);
    double called = now();
    EXPECT(tdl_synchronize(ctx, streams[1]), TDL_OK);
    double host_us = 1e6 * (called - start) / N, all_us = 1e6 * (now() - start) / N;
    start = now();
    for (int i = 0; i < 100; i++)
        EXPECT(tdl_launch(ctx, &smoke, &a, streams[1]), TDL_OK); /* the queue never fills */
    double few_us = 1e6 * (now() - start) / 100;
    EXPECT(tdl_synchronize(ctx, streams[1]), TDL_OK);
    printf("launches: %.2f us each on the host (%.2f us for the first 100), %.2f us each until the last has "
           "ended\n",
           host_us, few_us, all_us);
}

static void wait_in_vain(void) {
    smoke_args a = fill(3000);
    a.extra = 1;
    double start = now();
    EXPECT(tdl_launch(ctx, &smoke, &a, streams[1]), TDL_OK);
    a.extra = 0;
    for (int i = 0; i < 50; i++)
        EXPECT(tdl_launch(ctx, &smoke, &a, streams[i % 3]), TDL_OK); /* end at once */
    EXPECT(tdl_synchronize(ctx, streams[1]), TDL_TIMEOUT);
    printf("after %.0f ms:\n%s\n", 1e3 * (now() - start), tdl_last_error(ctx));
    if (!strstr(tdl_last_error(ctx),
                "smoke.tdl:5:9: kernel `smoke` (plan `by_hand`) N=3000 alpha=2 extra=1") ||
        !strstr(tdl_last_error(ctx), "waits for join `written`[0] to reach 4; it is 3"))
        FAIL("the report does not say so");
    EXPECT(tdl_launch(ctx, &smoke, &a, streams[1]), TDL_TIMEOUT);
    EXPECT(tdl_reset(ctx), TDL_OK);
    launches(3000, 5);
}

static void open_context(const char *max_sms) {
    if (max_sms)
        setenv("TDL_MAX_SMS", max_sms, 1);
    else
        unsetenv("TDL_MAX_SMS");
    tdl_options o = {.ranks = 1, .device = "cuda", .timeout_ms = 500};
    double start = now();
    tdl_status s = tdl_init(&ctx, &o);
    if (s) {
        printf("tdl_init: %s: %s\n", tdl_status_string(s), tdl_last_error(NULL));
        exit(3);
    }
    double opened = now();
    EXPECT(tdl_alloc(ctx, 4 * (MOST + 1), &x), TDL_OK);
    EXPECT(tdl_alloc(ctx, 4 * (MOST + 1), &y), TDL_OK);
    double allocated = now();
    smoke_args a = {MOST, 2, 0, x, y, (float *)(uintptr_t)z};
    EXPECT(tdl_prepare(ctx, &smoke, &a), TDL_OK);
    printf("tdl_init %.0f ms, two tdl_alloc %.1f ms, prepare %.1f ms\n", 1e3 * (opened - start),
           1e3 * (allocated - opened), 1e3 * (now() - allocated));
}

static void close_context(void) {
    double start = now();
    EXPECT(tdl_free(ctx, x), TDL_OK);
    EXPECT(tdl_free(ctx, y), TDL_OK);
    EXPECT(tdl_finalize(ctx), TDL_OK);
    ctx = NULL;
    printf("two tdl_free and tdl_finalize %.1f ms\n", 1e3 * (now() - start));
}

static void all_sizes(void) {
    static const int64_t sizes[] = {0, 1, 2, 255, 1023, 1024, 1025, 4096, 100001, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) launches(sizes[i], 7);
    printf("sizes 0 to %d: right\n", MOST);
}

static void bad_pointers(void) {
    static float pageable[16];
    setenv("TDL_CHECK", "1", 1);
    open_context(NULL);
    smoke_args a = fill(16);
    EXPECT(tdl_launch(ctx, &smoke, &a, NULL), TDL_OK);
    EXPECT(tdl_synchronize(ctx, NULL), TDL_OK);
    a.X = pageable;
    tdl_status s = tdl_launch(ctx, &smoke, &a, NULL);
    printf("pageable memory with TDL_CHECK=1: %s%s%s\n", tdl_status_string(s), s ? ": " : "",
           s ? tdl_last_error(ctx) : "");
    tdl_synchronize(ctx, NULL);
    a.X = x;
    EXPECT(tdl_launch(ctx, &smoke, &a, (void *)(uintptr_t)2), TDL_OK); /* the thread's own default stream */
    close_context();
    unsetenv("TDL_CHECK");
}

static void die(void) {
    open_context(NULL);
    smoke_args a = fill(16);
    a.X = (const float *)(uintptr_t)4096;
    EXPECT(tdl_launch(ctx, &smoke, &a, NULL), TDL_OK);
    EXPECT(tdl_synchronize(ctx, NULL), TDL_DEVICE_ERROR);
    printf("an address nobody mapped: %s\n", tdl_last_error(ctx));
    EXPECT(tdl_reset(ctx), TDL_DEVICE_ERROR);
    EXPECT(tdl_finalize(ctx), TDL_DEVICE_ERROR);
}

int main(int count, char **options) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    int dies = 0, cubin = 0;
    for (int i = 1; i < count; i++) dies |= !strcmp(options[i], "die"), cubin |= !strcmp(options[i], "cubin");
    images[0] = (tdl_image){TDL_IMAGE_PTX, 80, 0, 0, smoke_ptx, smoke_ptx_end - smoke_ptx + 1};
#ifdef SMOKE_CUBIN
    if (cubin) images[0] = (tdl_image){TDL_IMAGE_CUBIN, 90, 1, 0, smoke_cubin, smoke_cubin_end - smoke_cubin};
#else
    if (cubin) FAIL("built without a cubin");
#endif
    void *context;
    if (!load_driver()) {
        printf("no driver\n");
        return 3;
    }
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    double start = now();
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&context, 0));
    CU(cuCtxSetCurrent(context));
    printf("CUDA's own start: %.0f ms; %s\n", 1e3 * (now() - start), cubin ? "cubin" : "PTX");
    CU(cuMemAlloc(&z, 4 * (MOST + 1)));
    for (int i = 1; i < 3; i++) CU(cuStreamCreate(&streams[i], 1)); /* the first is the default stream */

    open_context(NULL);
    all_sizes();
    launches(100001, 1000);
    printf("1000 launches back to back on 3 streams: right\n");
    graph();
    printf("a graph of 3 launches, 1000 times: right\n");
    measure();
    wait_in_vain();
    close_context();

    open_context("1");
    all_sizes();
    close_context();
    for (int i = 0; i < 20; i++) {
        open_context(NULL);
        launches(1000 + i, 2);
        close_context();
    }
    bad_pointers();
    if (dies) die();
    printf("all right\n");
    return 0;
}
