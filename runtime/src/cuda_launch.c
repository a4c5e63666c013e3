/* cuda_launch.c: one launch on a GPU: the parameter block of tdl/abi_device.h, and its place in the order of the
 * context's launches. A launch allocates nothing and makes these driver calls only:
 *     is the stream recording a graph?  wait for the last launch (on whatever stream)  launch  record an event
 * While a graph is recorded, the two around the launch are left out: the order of a graph's branches is the user's. */
#include "cuda_device.h"

#include <stddef.h>
#include <string.h>

/* ---- Before anything is prepared ----------------------------------------------------------------------- */
/* TDL_CHECK=1: a pointer the GPU cannot follow would end its context for the whole process. */
static tdl_status check_pointer(tdl_ctx *ctx, const char *kernel, const char *tensor, tdlcu_ptr at) {
    unsigned type = 0;
    tdlcu_result r = ctx->cuda->driver.cuPointerGetAttribute(&type, TDL_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
    if (r == TDL_CUDA_ERROR_INVALID_VALUE)
        return tdli_fail(
            ctx, TDL_BAD_ARGUMENT,
            "kernel `%s`: tensor `%s` is at %p, which is neither memory of a GPU nor pinned memory: the "
            "GPU cannot reach it",
            kernel, tensor, (void *)(uintptr_t)at);
    return tdlcu_check(ctx, &ctx->cuda->driver, r, "cuPointerGetAttribute", "tensor `%s` of kernel `%s`",
                       tensor, kernel);
}

static tdl_status check_pointers(tdl_ctx *ctx, const tdli_known *k) {
    int n = 0;
    tdl_status s = ctx->cuda->pageable ? TDL_OK : tdli_cuda_enter(ctx);
    if (s || ctx->cuda->pageable) return s;
    for (int i = 0; !s && i < k->kernel->n_args; i++) {
        const tdl_arg *a = &k->kernel->args[i];
        if (a->kind != TDL_ARG_TENSOR) continue;
        if (k->regions[n].bytes)
            s = check_pointer(ctx, k->kernel->name, a->name, (tdlcu_ptr)k->words[k->tensors + n]);
        n++;
    }
    tdli_cuda_leave(ctx);
    return s;
}

tdl_status tdli_cuda_look(tdl_ctx *ctx, void *stream, int *captured) {
    unsigned state = TDL_CU_STREAM_CAPTURE_STATUS_NONE;
    tdl_status s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = TDLI_CUDA(ctx, cuStreamIsCapturing, (stream, &state), "the stream of a launch");
    *captured = !s && state != TDL_CU_STREAM_CAPTURE_STATUS_NONE;
    tdli_cuda_leave(ctx);
    return s;
}

tdl_status tdli_cuda_admit(tdl_ctx *ctx, const tdli_known *k, int captured) {
    tdl_status s = ctx->cuda->checking ? check_pointers(ctx, k) : TDL_OK;
    if (s || !captured || k->prepared) return s;
    const tdli_needs *n = &k->needs;
    return tdli_fail(
        ctx, TDL_NEEDS_PREPARE,
        "kernel %s cannot be prepared while its stream records a graph (%lld bytes of scratch): call "
        "%s_prepare before",
        k->text,
        (long long)(n->buffers + n->local + 8 * (n->flags + n->joins) + n->workspace * ctx->cuda->sms),
        k->kernel->name);
}

/* ---- The parameter block ------------------------------------------------------------------------------- */
/* Keeps what a report of this launch will need; the result comes back in it. */
static uint64_t tag_of(tdli_known *k) {
    tdli_cuda_shapes *shapes = &k->cuda->shapes;
    if (!shapes->last || shapes->fingerprint != k->fingerprint) {
        if (!++shapes->last) shapes->last = 1;
        size_t at = shapes->last % TDLI_CUDA_SHAPES;
        memcpy(shapes->words + at * (size_t)k->shape_words, k->words,
               sizeof *k->words * (size_t)k->shape_words);
        memcpy(shapes->text[at], k->text, sizeof k->text);
        shapes->fingerprint = k->fingerprint;
    }
    return (uint64_t)k->cuda->number << 32 | shapes->last;
}

static uint64_t *copy(uint64_t *to, const int64_t *from, int n) {
    memcpy(to, from, sizeof *from * (size_t)n);
    return to + n;
}

static void fill(const tdl_ctx *ctx, tdli_known *k, int64_t workspace, uint64_t *w) {
    const tdli_cuda *c = ctx->cuda;
    const tdl_plan *p = k->plan;
    w[TDL_DEVICE_RANKS] = (uint64_t)ctx->ranks;
    w[TDL_DEVICE_RANK] = (uint64_t)ctx->rank;
    w[TDL_DEVICE_CONTROL] = c->counters.base;
    w[TDL_DEVICE_WORKSPACE] = workspace ? c->workspaces.base : 0;
    w[TDL_DEVICE_WORKSPACE_BYTES] = (uint64_t)workspace;
    w[TDL_DEVICE_TIMEOUT_NS] = (uint64_t)ctx->set.timeout_ms * 1000000;
    w[TDL_DEVICE_TAG] = tag_of(k);
    w += TDL_DEVICE_HEADER;
    w = copy(w, k->words, k->n_sizes + k->n_scalars);
    w = copy(w, k->words + k->tensors, k->n_tensors + k->n_dims);
    for (int i = 0; i < p->n_buffers; i++)
        *w++ =
            (uint64_t)k->words[k->buffers + i] + (p->buffers[i].kind == TDL_BUFFER_LOCAL ? c->local.base : 0);
    for (int i = 0; i < p->n_flags; i++)
        *w++ = p->flags[i].kind == TDL_FLAG_DONE ? offsetof(tdl_device_heap, done)
                                                 : (uint64_t)(ctx->zones.flags + 8 * k->words[k->flags + i]);
    for (int i = 0; i < p->n_joins; i++)
        *w++ = c->counters.base + TDLI_CUDA_COUNTERS + 8 * (uint64_t)k->words[k->joins + i];
    for (int r = 0; r < ctx->ranks; r++) *w++ = tdli_cuda_heap(ctx, r);
}

/* ---- The launch ---------------------------------------------------------------------------------------- */
/* Any number of blocks does; more than tickets, or than have a workspace, would be of no use. */
static int count_blocks(const tdl_ctx *ctx, const tdli_known *k, int64_t workspace) {
    int64_t blocks = k->cuda->blocks;
    if (workspace && blocks > ctx->cuda->workspaces.mapped / workspace)
        blocks = ctx->cuda->workspaces.mapped / workspace;
    if (blocks > k->tickets) blocks = k->tickets;
    return blocks < 1 ? 1 : (int)blocks;
}

static tdl_status start(tdl_ctx *ctx, const tdli_known *k, int blocks, void **parameters, void *stream) {
    const tdli_cuda_entry *e = k->cuda;
    return TDLI_CUDA(ctx, cuLaunchKernel,
                     (e->function, (unsigned)blocks, 1, 1, (unsigned)e->threads, 1, 1,
                      (unsigned)e->dynamic_shared, stream, parameters, NULL),
                     "kernel `%s` (plan `%s`), %d blocks of %d threads", k->kernel->name, k->plan->name,
                     blocks, e->threads);
}

static tdl_status mark_end(tdl_ctx *ctx, void *stream) {
    tdl_status s = TDLI_CUDA(ctx, cuEventRecord, (ctx->cuda->last, stream), "behind a launch");
    if (!s)
        ctx->cuda->launched = 1;
    else
        ctx->cuda->driver.cuStreamSynchronize(stream); /* no event for the next launch to wait for */
    return s;
}

static void count_launch(tdl_ctx *ctx) {
    uint64_t epoch = tdli_last(ctx) + 1;
    ctx->order++;
    atomic_store_explicit(&ctx->mine->called, epoch, memory_order_release);
    atomic_store_explicit(&ctx->called, epoch, memory_order_release);
}

tdl_status tdli_cuda_launch(tdl_ctx *ctx, tdli_known *k, void *stream, int captured) {
    tdli_cuda *c = ctx->cuda;
    uint64_t words[TDL_DEVICE_MAX_WORDS] = {0};
    void *parameters[] = {words}; /* the driver copies as many bytes as the entry declares */
    int64_t workspace = (k->needs.workspace + TDLI_ALIGN - 1) / TDLI_ALIGN * TDLI_ALIGN;
    fill(ctx, k, workspace, words);
    tdl_status s = tdli_cuda_enter(ctx);
    if (s) return s;
    if (!captured && c->launched)
        s = TDLI_CUDA(ctx, cuStreamWaitEvent, (stream, c->last, 0), "for the launch before");
    if (!s) s = start(ctx, k, count_blocks(ctx, k, workspace), parameters, stream);
    if (!s && captured) c->captured = 1;
    if (!s && !captured) {
        count_launch(ctx);
        s = mark_end(ctx, stream);
    }
    tdli_cuda_leave(ctx);
    return s;
}
