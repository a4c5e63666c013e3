/* context.c: the life of a context (context.h has the map), and the small questions one can ask it. */
#include "cuda_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void destroy(tdl_ctx *ctx) {
    tdli_workers_stop(ctx);
    tdli_watcher_stop(ctx);
    if (ctx->transport) ctx->transport->close(ctx->transport);
    tdli_cuda_close(ctx);
    tdli_heaps_close(ctx);
    tdli_local_close(ctx);
    tdli_forget_all(ctx);
    free(ctx);
}

/* The last step of start-up: nobody uses a context before all ranks have one. A rank that fails in it closes its
 * sockets and maps, which the others notice. */
static tdl_status start(tdl_ctx *ctx) {
    tdl_status s = tdli_open_transport(ctx);
    if (!s) s = tdli_heaps_open(ctx);
    if (!s) s = ctx->set.cuda ? tdli_cuda_open(ctx) : tdli_workers_start(ctx);
    int32_t mine = s, all[TDLI_MAX_RANKS];
    if (!ctx->mine) return s;
    tdl_status met = ctx->transport->allgather(ctx->transport, ctx, &mine, all, sizeof mine);
    if (s || met) return s ? s : met;
    for (int r = 0; r < ctx->ranks; r++)
        if (all[r])
            return tdli_fail(ctx, (tdl_status)all[r], "tdl_init: rank %d could not start its workers", r);
    return tdli_watcher_start(ctx); /* from here on the sockets are silent */
}

tdl_status tdl_init(tdl_ctx **out, const tdl_options *options) {
    if (!out) return tdli_fail(NULL, TDL_BAD_ARGUMENT, "tdl_init: the first argument is NULL");
    *out = NULL;
    tdli_settings set;
    tdl_status s = tdli_read_options(options, &set);
    if (s) return s;
    tdl_ctx *ctx = aligned_alloc(64, (sizeof *ctx + 63) / 64 * 64);
    if (!ctx) return tdli_fail_system(NULL, ENOMEM, "tdl_init");
    memset((void *)ctx, 0, sizeof *ctx);
    ctx->set = set;
    ctx->rank = set.rank;
    ctx->ranks = set.ranks;
    s = start(ctx);
    if (s) {
        tdli_keep_error(ctx);
        destroy(ctx);
        return s;
    }
    *out = ctx;
    return TDL_OK;
}

tdl_status tdl_finalize(tdl_ctx *ctx) {
    if (!ctx) return TDL_OK;
    tdl_status s = ctx->cuda ? tdli_cuda_finish(ctx) : tdl_synchronize(ctx, NULL);
    if (s) tdli_keep_error(ctx);
    atomic_store_explicit(&ctx->mine->left, atomic_load(&ctx->called) + 1, memory_order_release);
    tdli_ring_peers(ctx);
    destroy(ctx);
    return s;
}

int tdl_rank(const tdl_ctx *ctx) {
    return ctx ? ctx->rank : 0;
}
int tdl_ranks(const tdl_ctx *ctx) {
    return ctx ? ctx->ranks : 0;
}

tdl_status tdl_shard(const tdl_ctx *ctx, int64_t extent, int64_t *begin, int64_t *count, int64_t *capacity) {
    if (!ctx) return tdli_fail(NULL, TDL_BAD_ARGUMENT, "tdl_shard: the context is NULL");
    if (extent < 0)
        return tdli_fail((tdl_ctx *)(uintptr_t)ctx, TDL_BAD_ARGUMENT,
                         "tdl_shard: the extent is %lld: 0 or more is allowed", (long long)extent);
    int64_t block = extent / ctx->ranks + (extent % ctx->ranks != 0), first;
    if (block < 1) block = 1;
    /* rank * block may overflow only where the block begins beyond the extent. */
    if (__builtin_mul_overflow(block, ctx->rank, &first) || first > extent) first = extent;
    if (begin) *begin = first;
    if (count) *count = extent - first < block ? extent - first : block;
    if (capacity) *capacity = block;
    return TDL_OK;
}
