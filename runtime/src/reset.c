/* reset.c: tdl_reset: back to a clean state after an error. In two phases, so that nobody cleans up under the feet
 * of a rank that still runs, and nobody launches into memory that is still being cleaned:
 *
 *     my launches have stopped --> word `reset` = 2 n + 1 --> all there --> clean my control block --> 2 n + 2 --> all
 *
 * The next launch gets an epoch above all that were ever used, so words left in scratch by aborted launches are old
 * news to it. A call that timed out can be repeated. */
#include "cuda_device.h"

#include <string.h>

static tdl_status fail(tdl_ctx *ctx, tdl_status s, int rank) {
    if (s == TDL_TIMEOUT)
        return tdli_fail(ctx, s, "rank %d of %d: tdl_reset waited %d ms for rank %d", ctx->rank, ctx->ranks,
                         ctx->set.timeout_ms, rank);
    return tdli_fail(ctx, s,
                     "rank %d of %d: tdl_reset needs all ranks, but rank %d is gone: call tdl_finalize",
                     ctx->rank, ctx->ranks, rank);
}

/* Sets this rank's phase and waits for that of all others. */
static tdl_status reach(tdl_ctx *ctx, uint64_t phase) {
    if (atomic_load_explicit(&ctx->mine->reset, memory_order_relaxed) < phase)
        atomic_store_explicit(&ctx->mine->reset, phase, memory_order_release);
    tdli_ring_peers(ctx);
    tdli_waiter w = {.event = &ctx->mine->bell};
    tdl_status s = TDL_OK;
    for (int r = 0; !s && r < ctx->ranks; r++)
        while (!s && atomic_load_explicit(&ctx->controls[r]->reset, memory_order_acquire) < phase) {
            if (!tdli_waiter_turn(&w)) continue;
            if (atomic_load(&ctx->lost[r]) || atomic_load(&ctx->controls[r]->left))
                s = fail(ctx, TDL_PEER_LOST, r);
            else if (w.waited_ns > (int64_t)ctx->set.timeout_ms * 1000000)
                s = fail(ctx, TDL_TIMEOUT, r);
        }
    tdli_waiter_end(&w);
    return s;
}

/* Everything in this rank's control block but the bell (others are in the middle of ringing it), `left` and the
 * phase itself. */
static void clean(tdl_ctx *ctx, uint64_t epoch) {
    tdli_control *c = ctx->mine;
    for (int i = 0; i < TDLI_SLOTS; i++) atomic_store_explicit(&c->slots[i].epoch, 0, memory_order_relaxed);
    for (int i = 0; i < 2; i++) atomic_store_explicit(&c->posts[i].sequence, 0, memory_order_relaxed);
    for (int r = 0; r < ctx->ranks; r++) {
        atomic_store_explicit(&c->peers[r].done, epoch, memory_order_relaxed);
        atomic_store_explicit(&c->peers[r].exit, epoch, memory_order_relaxed);
    }
    atomic_store_explicit(&c->called, epoch, memory_order_relaxed);
    atomic_store_explicit(&c->abort.state, 0, memory_order_relaxed);
    atomic_store_explicit(&c->abort.from, 0, memory_order_release);
    ctx->collectives = ctx->order = 0;
    ctx->exchange_epoch = 0;
    /* In this order: worker 0 looks for called > finished. */
    atomic_store_explicit(&ctx->finished, epoch, memory_order_release);
    atomic_store_explicit(&ctx->called, epoch, memory_order_release);
}

/* What each rank brings along: its epoch, and what it thinks is prepared. An interrupted preparation leaves ranks
 * with different ideas of that; the least is what all have. */
static uint64_t agree(tdl_ctx *ctx) {
    uint64_t epoch = 0;
    for (int r = 0; r < ctx->ranks; r++) {
        uint64_t e = atomic_load_explicit(&ctx->controls[r]->reset_epoch, memory_order_relaxed);
        if (e > epoch) epoch = e;
        const tdli_needs *n = &ctx->controls[r]->reset_prepared;
        if (n->flags < ctx->prepared.flags) ctx->prepared.flags = n->flags;
        if (n->buffers < ctx->prepared.buffers) ctx->prepared.buffers = n->buffers;
        if (n->local < ctx->prepared.local) ctx->prepared.local = n->local;
        if (n->joins < ctx->prepared.joins) ctx->prepared.joins = n->joins;
        if (n->workspace < ctx->prepared.workspace) ctx->prepared.workspace = n->workspace;
    }
    return epoch + 1;
}

tdl_status tdl_reset(tdl_ctx *ctx) {
    if (!ctx) return tdli_fail(NULL, TDL_BAD_ARGUMENT, "tdl_reset: the context is NULL");
    tdl_status s = TDL_OK;
    if (ctx->cuda)
        s = tdli_cuda_wait(ctx);
    else
        tdli_drain(ctx);
    if (s) return s;
    uint64_t n = ctx->resets;
    if (atomic_load_explicit(&ctx->mine->reset, memory_order_relaxed) <= 2 * n) {
        atomic_store_explicit(&ctx->mine->reset_epoch, tdli_last(ctx), memory_order_relaxed);
        ctx->mine->reset_prepared = ctx->prepared;
    }
    s = reach(ctx, 2 * n + 1);
    if (s) return s;
    /* Once only: a rank that timed out in the second phase comes here again, and others may be launching. */
    if (atomic_load_explicit(&ctx->mine->reset, memory_order_relaxed) < 2 * n + 2) {
        uint64_t epoch = agree(ctx);
        s = ctx->cuda ? tdli_cuda_reset(ctx, epoch) : TDL_OK;
        if (s) return s;
        clean(ctx, epoch);
    }
    s = reach(ctx, 2 * n + 2);
    if (s) return s;
    /* Whose first launch was interrupted on some ranks only is prepared again by all. */
    for (tdli_known *k = ctx->known; k; k = k->next) k->prepared = 0;
    ctx->resets++;
    return TDL_OK;
}
