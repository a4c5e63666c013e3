/* layout.c: how much scratch a launch needs, and where its parts lie. The plan's compiled `layout` gives sizes; here
 * they become places. Buffers and flags in the heap must lie at equal offsets on all ranks, and all ranks must agree
 * on whether a launch fits what was prepared, so the layout is evaluated for every rank:
 *     raw (bytes 300, 70 local; words 4; ...)  ->  buffers at 256-byte steps, flags and joins one after another */
#include "context.h"

#include <string.h>

static const int64_t LIMIT = INT64_MAX / 4; /* sums of a few such do not overflow */

static tdl_status too_large(tdl_ctx *ctx, const tdli_known *k, const char *kind, const char *name) {
    return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                     "kernel `%s`: %s `%s` of plan `%s` would be negative or beyond 64 bits with these sizes",
                     k->kernel->name, kind, name, k->plan->name);
}

/* at <- start of a part of `size`, *end <- its end, rounded up. Returns 0 if it is too large. */
static int place(int64_t size, int64_t align, int64_t *end, int64_t *at) {
    if (size < 0 || size > LIMIT || *end > LIMIT) return 0;
    *at = *end;
    *end += (size + align - 1) / align * align;
    return 1;
}

/* Per worker, or per block of a GPU. */
static int64_t workspace_of(const tdl_ctx *ctx, const tdli_known *k, const int64_t *raw, int rank) {
    tdl_shape shape = {ctx->ranks, rank, k->words, (const uint64_t *)(k->words + k->scalars)};
    if (!ctx->cuda) return raw[k->n_raw - 1];
    return k->plan->device_workspace ? k->plan->device_workspace(&shape) : 0;
}

/* Places of one rank's `raw` sizes, from the zones' starts; writes to words unless `words` is NULL. */
static tdl_status add_up(tdl_ctx *ctx, tdli_known *k, const int64_t *raw, int64_t *words, tdli_needs *needs) {
    const tdl_plan *p = k->plan;
    int64_t at;
    memset(needs, 0, sizeof *needs);
    for (int i = 0; i < p->n_buffers; i++, raw++) {
        int shared = p->buffers[i].kind == TDL_BUFFER_PROTOCOL;
        if (!place(*raw, TDLI_ALIGN, shared ? &needs->buffers : &needs->local, &at))
            return too_large(ctx, k, "buffer", p->buffers[i].name);
        if (words) words[k->buffers + i] = at + (shared ? ctx->zones.buffers : 0);
    }
    for (int i = 0; i < p->n_flags; i++, raw++) {
        int64_t none = 0, *end = p->flags[i].kind == TDL_FLAG_DONE ? &none : &needs->flags;
        if (!place(*raw, 1, end, &at)) return too_large(ctx, k, "flag", p->flags[i].name);
        if (words) words[k->flags + i] = at;
    }
    for (int i = 0; i < p->n_joins; i++, raw++) {
        if (!place(*raw, 1, &needs->joins, &at)) return too_large(ctx, k, "join", p->joins[i].name);
        if (words) words[k->joins + i] = at;
    }
    return TDL_OK;
}

static tdl_status count_tickets(tdl_ctx *ctx, tdli_known *k) {
    const tdl_plan *p = k->plan;
    const int64_t *count = k->words + k->raw + p->n_buffers + p->n_flags + p->n_joins;
    k->tickets = 0;
    for (int t = 0; t < p->n_tasks; t++) {
        int64_t product = 1;
        for (int c = 0; c < p->tasks[t].ncoords; c++, count++)
            if (*count < 0 || __builtin_mul_overflow(product, *count, &product))
                return too_large(ctx, k, "task", p->tasks[t].name);
        if (product > LIMIT || __builtin_add_overflow(k->tickets, product, &k->tickets))
            return too_large(ctx, k, "task", p->tasks[t].name);
    }
    return TDL_OK;
}

static void keep_largest(int64_t *a, int64_t b) {
    if (b > *a) *a = b;
}

/* Another rank's needs: what is in the heap must agree, the rest counts by its maximum. */
static tdl_status merge_rank(tdl_ctx *ctx, tdli_known *k, int rank) {
    const tdl_plan *p = k->plan;
    const int64_t *raw = k->words + k->raw;
    tdl_shape shape = {ctx->ranks, rank, k->words, (const uint64_t *)(k->words + k->scalars)};
    p->layout(&shape, k->probe);
    for (int i = 0; i < p->n_buffers + p->n_flags; i++) {
        int is_flag = i >= p->n_buffers;
        if (!is_flag && p->buffers[i].kind == TDL_BUFFER_LOCAL) continue;
        if (k->probe[i] != raw[i])
            return tdli_fail(ctx, TDL_INTERNAL_ERROR,
                             "kernel `%s`, plan `%s`: %s `%s` has size %lld on rank %d and %lld on rank %d",
                             k->kernel->name, p->name, is_flag ? "flag" : "buffer",
                             is_flag ? p->flags[i - p->n_buffers].name : p->buffers[i].name,
                             (long long)raw[i], ctx->rank, (long long)k->probe[i], rank);
    }
    tdli_needs other;
    tdl_status s = add_up(ctx, k, k->probe, NULL, &other);
    if (s) return s;
    keep_largest(&k->needs.local, other.local);
    keep_largest(&k->needs.joins, other.joins);
    keep_largest(&k->needs.workspace, workspace_of(ctx, k, k->probe, rank));
    return TDL_OK;
}

tdl_status tdli_lay_out(tdl_ctx *ctx, tdli_known *k) {
    int64_t *raw = k->words + k->raw;
    tdl_shape shape = {ctx->ranks, ctx->rank, k->words, (const uint64_t *)(k->words + k->scalars)};
    k->plan->layout(&shape, raw);
    tdl_status s = add_up(ctx, k, raw, k->words, &k->needs);
    k->needs.workspace = workspace_of(ctx, k, raw, ctx->rank);
    for (int r = 0; !s && r < ctx->ranks; r++)
        if (r != ctx->rank) s = merge_rank(ctx, k, r);
    if (!s && (k->needs.workspace < 0 || k->needs.workspace > LIMIT))
        s = too_large(ctx, k, "workspace", "of a worker");
    return s ? s : count_tickets(ctx, k);
}
