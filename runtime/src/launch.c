/* launch.c: what a call of a generated kernel does on the caller's thread: check, prepare the first time, copy the
 * arguments into a job, queue it. The workers do the rest (worker.c). */
#include "cuda_device.h"

#include <string.h>

/* The job for the next launch, once the launch that used it last has ended. */
static tdli_job *next_job(tdl_ctx *ctx, uint64_t epoch) {
    tdli_waiter w = {.event = &ctx->finished_event, .idle = 1};
    while (atomic_load_explicit(&ctx->finished, memory_order_acquire) + TDLI_JOBS < epoch)
        tdli_waiter_turn(&w);
    tdli_waiter_end(&w);
    return &ctx->jobs[epoch % TDLI_JOBS];
}

static int exchanges(const tdli_known *k) {
    return k->needs.buffers > 0 || k->plan->n_flags > 0;
}

static void fill(tdl_ctx *ctx, tdli_job *job, const tdli_known *k, uint64_t epoch) {
    memcpy(job->words, k->words, sizeof *job->words * (size_t)k->job_words);
    memcpy(job->text, k->text, sizeof job->text);
    job->ctx = ctx;
    job->known = k;
    job->fingerprint = k->fingerprint;
    job->collectives = ctx->collectives;
    job->order = ++ctx->order;
    job->tickets = k->tickets;
    job->exchanges = exchanges(k);
    job->participants = k->tickets < ctx->n_workers ? (k->tickets > 1 ? (int)k->tickets : 1) : ctx->n_workers;
    job->frame = (tdl_frame){
        .ranks = ctx->ranks,
        .rank = ctx->rank,
        .epoch = epoch,
        .sizes = job->words,
        .scalars = (const uint64_t *)(job->words + k->scalars),
        .tensors = (char *const *)(void *)(job->words + k->tensors),
        .strides = job->words + k->strides,
        .heaps = ctx->bases,
        .buffers = job->words + k->buffers,
        .local = ctx->local.scratch,
        .workspaces = ctx->local.workspaces,
        .launch = job,
    };
}

static tdl_status queue(tdl_ctx *ctx, const tdli_known *k) {
    uint64_t epoch = tdli_last(ctx) + 1;
    fill(ctx, next_job(ctx, epoch), k, epoch);
    atomic_store_explicit(&ctx->mine->called, epoch, memory_order_release);
    atomic_store_explicit(&ctx->called, epoch, memory_order_release);
    tdli_event_signal(&ctx->called_event);
    return TDL_OK;
}

/* A rank that has finalised will never take part. */
static tdl_status check_members(tdl_ctx *ctx, const tdli_known *k) {
    uint64_t epoch = tdli_last(ctx) + 1;
    int gone = tdli_gone_peer(ctx, epoch);
    if (gone < 0) return TDL_OK;
    char text[TDLI_REPORT];
    tdli_text t = {text, sizeof text, 0};
    tdli_text_add(&t, "rank %d of %d: %s:%d: kernel %s, launch %llu, needs all ranks, but rank %d is gone",
                  ctx->rank, ctx->ranks, k->kernel->source, k->kernel->line, k->text,
                  (unsigned long long)epoch, gone);
    tdli_text_peers(&t, ctx);
    tdli_abort_all(ctx, TDL_PEER_LOST, ctx->order + 1, text);
    return tdli_usable(ctx, k->kernel);
}

tdl_status tdl_launch(tdl_ctx *ctx, const tdl_kernel *kernel, const void *args, void *stream) {
    if (!ctx || !kernel)
        return tdli_fail(ctx, TDL_BAD_ARGUMENT, "%s: the context is NULL",
                         kernel ? kernel->name : "tdl_launch");
    int captured = 0;
    tdl_status s = tdli_usable(ctx, kernel);
    if (!s && ctx->cuda) s = tdli_cuda_look(ctx, stream, &captured);
    if (s) return s;
    tdli_known *k = NULL;
    s = tdli_know(ctx, kernel, &k);
    if (!s) s = tdli_read_shape(ctx, k, args);
    if (!s) s = tdli_read_tensors(ctx, k, args);
    if (!s && ctx->cuda) s = tdli_cuda_admit(ctx, k, captured);
    if (s && captured) return s;
    if (!k || !k->prepared)
        s = tdli_prepare_known(ctx, k, kernel, s);
    else if (!s && !tdli_fits(&k->needs, &ctx->prepared))
        s = tdli_too_small(ctx, k);
    if (!s) s = check_members(ctx, k);
    if (s) return s;
    return ctx->cuda ? tdli_cuda_launch(ctx, k, stream, captured) : queue(ctx, k); /* the host has its own order */
}
