/* collective.c: an all-gather of a few bytes through the control blocks, on which prepare, tdl_alloc and tdl_free
 * are built. Every rank posts what it calls, and reads what the others post; two different calls meet in an error
 * that names both instead of a hang:
 *     rank 0: tdl_alloc      rank 1: preparing `ag` ...      ->  MISMATCH on both, with both texts */
#include "context.h"

#include <string.h>

static tdl_status sticky_with(tdl_ctx *ctx, tdl_status s, const char *text) {
    tdli_abort_all(ctx, s, ctx->order, text);
    return tdli_usable(ctx, NULL);
}

static tdl_status report(tdl_ctx *ctx, tdl_status s, const char *what, const char *reason, int peer) {
    char text[TDLI_REPORT];
    tdli_text t = {text, sizeof text, 0};
    tdli_text_add(&t, "rank %d of %d: %s: ", ctx->rank, ctx->ranks, what);
    tdli_text_add(&t, reason, peer);
    tdli_text_peers(&t, ctx);
    return sticky_with(ctx, s, text);
}

/* Peer `r` launched something before it makes this call: it never made it where we do. */
static int ran_past(tdl_ctx *ctx, int r, uint64_t sequence) {
    tdli_control *c = ctx->controls[r];
    return atomic_load_explicit(&c->called, memory_order_acquire) >
               atomic_load_explicit(&ctx->called, memory_order_relaxed) &&
           atomic_load_explicit(&c->posts[sequence & 1].sequence, memory_order_acquire) < sequence;
}

static tdl_status wait_for(tdl_ctx *ctx, int r, uint64_t sequence, const char *what) {
    tdli_post *p = &ctx->controls[r]->posts[sequence & 1];
    tdli_waiter w = {.event = &ctx->mine->bell};
    tdl_status s = TDL_OK;
    int gone;
    uint64_t called = tdli_last(ctx);
    while (!s && atomic_load_explicit(&p->sequence, memory_order_acquire) < sequence) {
        if (!tdli_waiter_turn(&w)) continue;
        if (tdli_aborted(ctx, ctx->order))
            s = tdli_usable(ctx, NULL);
        else if (ran_past(ctx, r, sequence))
            s = report(ctx, TDL_MISMATCH, what,
                       "a collective call, but rank %d went on to a launch without it", r);
        else if ((gone = tdli_gone_peer(ctx, called + 1)) >= 0 &&
                 atomic_load_explicit(&p->sequence, memory_order_acquire) < sequence)
            s = report(ctx, TDL_PEER_LOST, what, "rank %d is gone", gone);
        else if (w.waited_ns > (int64_t)ctx->set.timeout_ms * 1000000)
            s = report(ctx, TDL_TIMEOUT, what, "waited for rank %d for longer than the time-out", r);
    }
    tdli_waiter_end(&w);
    return s;
}

static void post(tdl_ctx *ctx, const char *what, tdl_status s, const void *mine, size_t bytes) {
    tdli_post *p = &ctx->mine->posts[ctx->collectives & 1];
    tdli_text t = {p->text, sizeof p->text, 0};
    tdli_text_add(&t, "%s", s ? ctx->error : what);
    p->status = s;
    memcpy(p->data, mine, bytes);
    atomic_store_explicit(&p->launches, atomic_load_explicit(&ctx->called, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&p->sequence, ctx->collectives, memory_order_release);
    tdli_ring_peers(ctx);
}

/* All ranks see the same posts and come to the same conclusion. */
static tdl_status compare(tdl_ctx *ctx, const char *what, uint64_t sequence) {
    for (int r = 0; r < ctx->ranks; r++) {
        const tdli_post *p = &ctx->controls[r]->posts[sequence & 1];
        if (p->status)
            return tdli_fail(ctx, TDL_MISMATCH, "rank %d of %d: %s: rank %d cannot take part: %s: %s",
                             ctx->rank, ctx->ranks, what, r, tdl_status_string((tdl_status)p->status),
                             p->text);
    }
    const tdli_post *own = &ctx->mine->posts[sequence & 1];
    for (int r = 0; r < ctx->ranks; r++) {
        const tdli_post *p = &ctx->controls[r]->posts[sequence & 1];
        if (strcmp(p->text, own->text))
            return tdli_fail(ctx, TDL_MISMATCH, "ranks make different calls\n  rank %d: %s\n  rank %d: %s",
                             ctx->rank, own->text, r, p->text);
    }
    return TDL_OK;
}

tdl_status tdli_collective(tdl_ctx *ctx, const char *what, tdl_status mine_status, const void *mine,
                           void *all, size_t bytes) {
    uint64_t sequence = ++ctx->collectives;
    ctx->order++;
    if (bytes > TDLI_POST) return tdli_fail(ctx, TDL_INTERNAL_ERROR, "a collective call of %zu bytes", bytes);
    post(ctx, what, mine_status, mine, bytes);
    tdl_status s = TDL_OK;
    for (int r = 0; !s && r < ctx->ranks; r++) {
        if (r != ctx->rank) s = wait_for(ctx, r, sequence, what);
        if (!s) memcpy((char *)all + (size_t)r * bytes, ctx->controls[r]->posts[sequence & 1].data, bytes);
    }
    if (s) return s;
    return mine_status ? mine_status : compare(ctx, what, sequence);
}
