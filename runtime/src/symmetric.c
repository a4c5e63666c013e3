/* symmetric.c: tdl_alloc and tdl_free: blocks at equal offsets of all heaps, from the high end down, first fit. All
 * ranks make the same calls, so all find the same place without talking; they talk to be sure of it. */
#include "cuda_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int64_t grain(const tdl_ctx *ctx) {
    return ctx->cuda ? ctx->cuda->grain : 64 * 1024; /* pages are 4, 16 or 64 KiB */
}

static uintptr_t heap(const tdl_ctx *ctx) {
    return ctx->cuda ? (uintptr_t)tdli_cuda_heap(ctx, ctx->rank) : (uintptr_t)ctx->bases[ctx->rank];
}

static int64_t scratch_end(const tdl_ctx *ctx) {
    return ctx->zones.buffers + ctx->prepared.buffers;
}

/* Index at which a block of `bytes` would be inserted, and its offset; -1 if there is no room. */
static int find_place(const tdl_ctx *ctx, int64_t bytes, int64_t *offset) {
    const tdli_zones *z = &ctx->zones;
    int64_t above = z->bytes;
    for (int i = 0; i <= z->n_blocks; i++) {
        int64_t below = i < z->n_blocks ? z->blocks[i].offset + z->blocks[i].bytes : scratch_end(ctx);
        if (above - below >= bytes) {
            *offset = above - bytes;
            return i;
        }
        if (i < z->n_blocks) above = z->blocks[i].offset;
    }
    return -1;
}

static tdl_status make_room(tdl_ctx *ctx) {
    tdli_zones *z = &ctx->zones;
    if (z->n_blocks < z->room) return TDL_OK;
    int room = z->room ? 2 * z->room : 16;
    tdli_block *blocks = realloc(z->blocks, sizeof *blocks * (size_t)room);
    if (!blocks) return tdli_fail_system(ctx, ENOMEM, "tdl_alloc");
    z->blocks = blocks;
    z->room = room;
    return TDL_OK;
}

static void set_low(tdli_zones *z) {
    z->low = z->n_blocks ? z->blocks[z->n_blocks - 1].offset : z->bytes;
}

/* All ranks must have asked for the same. */
static tdl_status agree(tdl_ctx *ctx, const char *what, tdl_status s, int64_t value) {
    int64_t all[TDLI_MAX_RANKS];
    s = tdli_collective(ctx, what, s, &value, all, sizeof value);
    for (int r = 0; !s && r < ctx->ranks; r++)
        if (all[r] != value)
            s = tdli_fail(ctx, TDL_MISMATCH, "%s: rank %d gave %lld, rank %d %lld", what, ctx->rank,
                          (long long)value, r, (long long)all[r]);
    return s;
}

tdl_status tdl_alloc(tdl_ctx *ctx, size_t bytes, void **out) {
    if (!ctx) return tdli_fail(NULL, TDL_BAD_ARGUMENT, "tdl_alloc: the context is NULL");
    if (!out) return tdli_fail(ctx, TDL_BAD_ARGUMENT, "tdl_alloc: the third argument is NULL");
    *out = NULL;
    tdl_status s = tdli_usable(ctx, NULL);
    if (s) return s;
    tdli_zones *z = &ctx->zones;
    int64_t g = grain(ctx), offset = 0,
            rounded = bytes > (size_t)z->bytes ? INT64_MAX : ((int64_t)bytes + g - 1) / g * g;
    int at = find_place(ctx, rounded, &offset);
    s = make_room(ctx);
    if (!s && at < 0)
        s = tdli_fail(ctx, TDL_OUT_OF_MEMORY,
                      "tdl_alloc: %zu bytes of symmetric memory, but %lld of this heap of %lld bytes "
                      "are free (option `heap_bytes`)",
                      bytes, (long long)(z->low - scratch_end(ctx)), (long long)z->bytes);
    int backed = !s && ctx->cuda && bytes;
    if (backed) s = tdli_cuda_back(ctx, offset, rounded);
    backed = backed && !s;
    s = agree(ctx, "tdl_alloc", s, (int64_t)bytes);
    if (s && backed) tdli_cuda_unback(ctx, offset);
    if (s || !bytes) return s;
    memmove(z->blocks + at + 1, z->blocks + at, sizeof *z->blocks * (size_t)(z->n_blocks - at));
    z->blocks[at] = (tdli_block){offset, rounded};
    z->n_blocks++;
    set_low(z);
    *out = (void *)(heap(ctx) + (uintptr_t)offset);
    return TDL_OK;
}

tdl_status tdl_free(tdl_ctx *ctx, void *p) {
    if (!ctx) return tdli_fail(NULL, TDL_BAD_ARGUMENT, "tdl_free: the context is NULL");
    tdli_drain(ctx);
    tdl_status s = tdli_usable(ctx, NULL);
    if (s) return s;
    tdli_zones *z = &ctx->zones;
    int64_t offset = p ? (int64_t)((uintptr_t)p - heap(ctx)) : 0;
    int at = 0;
    while (p && at < z->n_blocks && z->blocks[at].offset != offset) at++;
    if (p && at == z->n_blocks)
        s = tdli_fail(ctx, TDL_BAD_ARGUMENT, "tdl_free: %p is not from tdl_alloc of this context", p);
    s = agree(ctx, "tdl_free", s, offset);
    if (s || !p) return s;
    /* Back to the system, and zeros for the next owner. */
    if (ctx->cuda && (s = tdli_cuda_unback(ctx, offset))) return s;
    if (!ctx->cuda && madvise(p, (size_t)z->blocks[at].bytes, MADV_REMOVE))
        s = tdli_fail_system(ctx, errno, "tdl_free: madvise");
    memmove(z->blocks + at, z->blocks + at + 1, sizeof *z->blocks * (size_t)(z->n_blocks - at - 1));
    z->n_blocks--;
    set_low(z);
    return s;
}
