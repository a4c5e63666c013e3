/* state.c: whether a context may be used, and waiting for its own launches. */
#include "cuda_device.h"

#include <string.h>
#include <time.h>

int tdli_aborted(const tdl_ctx *ctx, uint64_t order) {
    uint64_t from = atomic_load_explicit(&ctx->mine->abort.from, memory_order_acquire);
    return from && from <= order;
}

uint64_t tdli_last(const tdl_ctx *ctx) {
    return atomic_load_explicit(&ctx->called, memory_order_relaxed);
}

/* Copies the report that ended the launches. Another rank may be writing it just now, or may have been killed while
 * it did. */
static tdl_status sticky(tdl_ctx *ctx) {
    tdli_abort *a = &ctx->mine->abort;
    struct timespec pause = {0, 1000000};
    for (int i = 0; i < 200 && atomic_load_explicit(&a->state, memory_order_acquire) != 2; i++)
        nanosleep(&pause, NULL);
    if (atomic_load_explicit(&a->state, memory_order_acquire) != 2)
        return tdli_fail(ctx, TDL_PEER_LOST,
                         "rank %d of %d: another rank ended the launches and died while it reported why",
                         ctx->rank, ctx->ranks);
    memcpy(ctx->error, a->text, sizeof a->text);
    return (tdl_status)a->status;
}

int tdli_gone_peer(tdl_ctx *ctx, uint64_t epoch) {
    for (int r = 0; r < ctx->ranks; r++) {
        if (r == ctx->rank) continue;
        uint64_t left = atomic_load_explicit(&ctx->controls[r]->left, memory_order_acquire);
        if (left ? left - 1 < epoch : atomic_load_explicit(&ctx->lost[r], memory_order_acquire)) return r;
    }
    return -1;
}

tdl_status tdli_usable(tdl_ctx *ctx, const tdl_kernel *kernel) {
    if (atomic_load_explicit(&ctx->mine->abort.from, memory_order_acquire)) return sticky(ctx);
    if (!atomic_load_explicit(&ctx->lost_count, memory_order_acquire)) return TDL_OK;
    /* Killed, or gone without a word, while no launch of ours waited for it. One that finalised may be missed only
     * by a later launch. */
    int peer = tdli_gone_peer(ctx, 0);
    if (peer < 0) return TDL_OK;
    char text[TDLI_REPORT];
    tdli_text t = {text, sizeof text, 0};
    uint64_t called = tdli_last(ctx);
    tdli_text_add(&t, "rank %d of %d: rank %d (process %d) ended without tdl_finalize", ctx->rank, ctx->ranks,
                  peer, ctx->pids[peer]);
    const tdli_job *last = &ctx->jobs[called % TDLI_JOBS];
    if (kernel)
        tdli_text_add(&t, "\n  %s:%d: kernel `%s`, launch %llu, not started", kernel->source, kernel->line,
                      kernel->name, (unsigned long long)called + 1);
    else if (last->known && last->frame.epoch == called)
        tdli_text_add(&t, "\n  %s:%d: kernel %s, launch %llu, the last one here", last->known->kernel->source,
                      last->known->kernel->line, last->text, (unsigned long long)called);
    tdli_text_peers(&t, ctx);
    tdli_abort_all(ctx, TDL_PEER_LOST, ctx->order + 1, text);
    return sticky(ctx);
}

void tdli_ring_peers(tdl_ctx *ctx) {
    for (int r = 0; r < ctx->ranks; r++)
        if (r != ctx->rank) tdli_event_signal(&ctx->controls[r]->bell);
}

void tdli_drain(tdl_ctx *ctx) {
    if (ctx->cuda) {
        tdli_cuda_drain(ctx);
        return;
    }
    tdli_waiter w = {.event = &ctx->finished_event, .idle = 1};
    uint64_t called = tdli_last(ctx);
    while (atomic_load_explicit(&ctx->finished, memory_order_acquire) < called) tdli_waiter_turn(&w);
    tdli_waiter_end(&w);
}

tdl_status tdl_synchronize(tdl_ctx *ctx, void *stream) {
    if (!ctx) return tdli_fail(NULL, TDL_BAD_ARGUMENT, "tdl_synchronize: the context is NULL");
    if (ctx->cuda) return tdli_cuda_synchronize(ctx, stream);
    tdli_drain(ctx);
    return tdli_usable(ctx, NULL);
}
