/* cuda_device.c: the life of a context on a GPU (cuda_device.h has the map): which GPU, its primary context (the one
 * the CUDA runtime and frameworks use, so that their pointers and streams are ours, too), and what belongs to it. */
#include "cuda_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tdl_status tdli_cuda_parse(const char *text, const char *origin, tdli_settings *set) {
    set->ordinal = -1;
    if (!strcmp(text, "host")) return TDL_OK;
    set->cuda = !strcmp(text, "cuda");
    if (!strncmp(text, "cuda:", 5) && text[5] >= '0' && text[5] <= '9') {
        char *end;
        errno = 0;
        long n = strtol(text + 5, &end, 10);
        set->cuda = !errno && !*end && n <= INT32_MAX;
        set->ordinal = (int)n;
    }
    if (set->cuda) return TDL_OK;
    return tdli_fail(NULL, TDL_BAD_ARGUMENT, "%s is `%s`: `host`, `cuda` or `cuda:N` is allowed", origin,
                     text);
}

void tdli_cuda_say(const tdl_ctx *ctx, const char *format, ...) {
    if (!ctx->cuda->verbose) return;
    char line[1024];
    tdli_text t = {line, sizeof line, 0};
    va_list list;
    va_start(list, format);
    tdli_text_add_list(&t, format, list);
    va_end(list);
    fprintf(stderr, "tdl: rank %d of %d: %s\n", ctx->rank, ctx->ranks, line);
}

tdl_status tdli_cuda_enter(tdl_ctx *ctx) {
    return TDLI_CUDA(ctx, cuCtxPushCurrent, (ctx->cuda->context), "device `cuda:%d`", ctx->cuda->ordinal);
}

void tdli_cuda_leave(tdl_ctx *ctx) {
    tdlcu_context ours;
    ctx->cuda->driver.cuCtxPopCurrent(&ours);
}

/* ---- The GPU ------------------------------------------------------------------------------------------- */
static tdl_status attribute(tdl_ctx *ctx, unsigned which, int *value) {
    return TDLI_CUDA(ctx, cuDeviceGetAttribute, (value, which, ctx->cuda->device),
                     "attribute %u of `cuda:%d`", which, ctx->cuda->ordinal);
}

/* Plain `cuda`: ranks are spread over the GPUs this process may see; more ranks than GPUs share them. */
static tdl_status pick_device(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    int count = 0;
    tdl_status s = TDLI_CUDA(ctx, cuDeviceGetCount, (&count), "device `cuda`");
    if (s) return s;
    if (count < 1)
        return tdli_fail(ctx, TDL_DEVICE_ERROR,
                         "device `cuda`: the driver sees no GPU (is CUDA_VISIBLE_DEVICES empty?)");
    c->ordinal = ctx->set.ordinal >= 0 ? ctx->set.ordinal : ctx->rank % count;
    if (c->ordinal >= count)
        return tdli_fail(ctx, TDL_BAD_ARGUMENT, "device `cuda:%d`: this process sees %d GPUs, 0 to %d",
                         c->ordinal, count, count - 1);
    return TDLI_CUDA(ctx, cuDeviceGet, (&c->device, c->ordinal), "`cuda:%d`", c->ordinal);
}

static tdl_status read_facts(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    int major = 0, minor = 0, mapping = 0;
    tdl_status s =
        TDLI_CUDA(ctx, cuDeviceGetName, (c->name, sizeof c->name, c->device), "`cuda:%d`", c->ordinal);
    if (!s) s = attribute(ctx, TDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
    if (!s) s = attribute(ctx, TDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
    if (!s) s = attribute(ctx, TDL_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &c->sms);
    if (!s) s = attribute(ctx, TDL_CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, &c->pageable);
    if (!s) s = attribute(ctx, TDL_CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, &mapping);
    if (s) return s;
    c->arch = 10 * major + minor;
    if (!mapping)
        return tdli_fail(ctx, TDL_DEVICE_ERROR,
                         "device `cuda:%d` (%s): its driver cannot map memory at chosen addresses",
                         c->ordinal, c->name);
    if (ctx->set.max_sms && ctx->set.max_sms < c->sms) c->sms = ctx->set.max_sms;
    return TDL_OK;
}

/* ---- Open and close ------------------------------------------------------------------------------------ */
static tdl_status make_parts(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    tdl_status s = TDLI_CUDA(ctx, cuStreamCreate, (&c->stream, TDL_CU_STREAM_NON_BLOCKING),
                             "for the runtime's own copies");
    if (!s) s = TDLI_CUDA(ctx, cuEventCreate, (&c->last, TDL_CU_EVENT_DISABLE_TIMING), "to order launches");
    if (!s)
        s = TDLI_CUDA(ctx, cuMemHostAlloc, (&c->staging, TDLI_CUDA_STAGING, 0),
                      "for the runtime's own copies");
    if (!s) s = tdli_cuda_reserve(ctx);
    return s;
}

tdl_status tdli_cuda_open(tdl_ctx *ctx) {
    if (ctx->ranks > 1)
        return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                         "device `cuda` with %d ranks: this version of libtdl runs one rank on a GPU",
                         ctx->ranks);
    tdli_cuda *c = ctx->cuda = calloc(1, sizeof *c);
    if (!c) return tdli_fail_system(ctx, ENOMEM, "device `cuda`");
    c->checking = ctx->set.checking;
    c->verbose = ctx->set.verbose;
    tdl_status s = tdlcu_open(ctx, &c->driver);
    if (s) return s;
    /* A kernel that is loaded at its first launch waits for all that runs on the GPU, which may wait for it. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    s = TDLI_CUDA(ctx, cuInit, (0), "device `cuda`");
    if (!s) s = pick_device(ctx);
    if (!s) s = read_facts(ctx);
    if (!s) s = TDLI_CUDA(ctx, cuDevicePrimaryCtxRetain, (&c->context, c->device), "`cuda:%d`", c->ordinal);
    if (!s) s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = make_parts(ctx);
    tdli_cuda_leave(ctx);
    ctx->set.threads = c->sms < TDLI_MAX_THREADS ? c->sms : TDLI_MAX_THREADS; /* in sums of scratch */
    if (!s)
        tdli_cuda_say(ctx, "`cuda:%d` is a %s, sm_%d, of which %d SMs are used", c->ordinal, c->name, c->arch,
                      c->sms);
    return s;
}

/* Nothing here can be repaired, so results are not looked at. */
void tdli_cuda_close(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    if (!c) return;
    const tdlcu_driver *d = &c->driver;
    if (c->context) {
        int entered = !d->cuCtxPushCurrent(c->context);
        tdli_cuda_unload_all(ctx);
        tdli_cuda_unreserve(ctx);
        if (c->staging) d->cuMemFreeHost(c->staging);
        if (c->last) d->cuEventDestroy(c->last);
        if (c->stream) d->cuStreamDestroy(c->stream);
        if (entered) tdli_cuda_leave(ctx);
        d->cuDevicePrimaryCtxRelease(c->device);
    }
    tdlcu_close(&c->driver);
    free(c);
    ctx->cuda = NULL;
}
