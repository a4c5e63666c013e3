/* heap.c: making, exchanging and mapping heaps (heap.h). */
#include "heap.h"

#include "context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const int64_t PAGE = 64 * 1024; /* a multiple of the page size of every machine */

/* Address space is plentiful but for limits of the process. A file larger than RLIMIT_FSIZE would not only fail, but
 * raise SIGXFSZ. */
int64_t tdli_heap_limit(int64_t wanted, int ranks) {
    int64_t bytes = wanted ? wanted : (int64_t)64 << 30;
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (uint64_t)bytes)
        bytes = (int64_t)limit.rlim_cur;
    /* All heaps together at most half of what is allowed. */
    if (!wanted && !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY) {
        uint64_t share = limit.rlim_cur / 2 / (uint64_t)ranks;
        if (share < (uint64_t)bytes) bytes = (int64_t)share;
    }
    return bytes / PAGE * PAGE;
}

static char *map(int fd, int64_t bytes) {
    char *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* A heap without mapping, or NULL. */
static tdli_heap *new_heap(int64_t bytes) {
    tdli_heap *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->bytes = bytes;
    h->fd = -1;
    atomic_init(&h->refs, 1);
    return h;
}

static void release(tdli_heap *h) {
    if (!h || atomic_fetch_sub(&h->refs, 1) != 1) return;
    if (h->base) munmap(h->base, (size_t)h->bytes);
    if (h->fd >= 0) close(h->fd);
    free(h);
}

/* The seals keep any holder of the descriptor from cutting the file short, which would make the others' accesses
 * raise SIGBUS. */
static tdl_status make_mine(tdl_ctx *ctx) {
    int64_t bytes = ctx->zones.bytes;
    tdli_heap *h = ctx->heaps[ctx->rank] = new_heap(bytes);
    if (!h) return tdli_fail_system(ctx, ENOMEM, "tdl_init");
    h->fd = memfd_create("tdl-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (h->fd < 0) return tdli_fail_system(ctx, errno, "memfd_create");
    if (ftruncate(h->fd, bytes))
        return tdli_fail_system(ctx, errno, "ftruncate of a heap to %lld bytes", (long long)bytes);
    if (fcntl(h->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return tdli_fail_system(ctx, errno, "sealing a heap");
    h->base = map(h->fd, bytes);
    if (!h->base)
        return tdli_fail_system(ctx, errno, "mapping a heap of %lld bytes (option `heap_bytes`)",
                                (long long)bytes);
    return TDL_OK;
}

static tdl_status map_theirs(tdl_ctx *ctx, int rank, int fd) {
    tdli_heap *h = ctx->heaps[rank] = new_heap(ctx->zones.bytes);
    if (!h) return tdli_fail_system(ctx, ENOMEM, "tdl_init");
    h->base = map(fd, h->bytes);
    if (h->base) return TDL_OK;
    return tdli_fail_system(ctx, errno, "mapping the heap of rank %d, %lld bytes (option `heap_bytes`)", rank,
                            (long long)h->bytes);
}

/* Threads share a mapping: the pointers are handed over, each with a reference of its own for every rank. */
static tdl_status share_pointers(tdl_ctx *ctx) {
    tdli_heap *mine = ctx->heaps[ctx->rank], *all[TDLI_MAX_RANKS];
    atomic_fetch_add(&mine->refs, ctx->ranks - 1);
    tdl_status s = ctx->transport->allgather(ctx->transport, ctx, &mine, all, sizeof mine);
    if (s) {
        atomic_fetch_sub(&mine->refs, ctx->ranks - 1);
        return s;
    }
    for (int r = 0; r < ctx->ranks; r++) ctx->heaps[r] = all[r];
    return TDL_OK;
}

static tdl_status share_descriptors(tdl_ctx *ctx) {
    int fds[TDLI_MAX_RANKS];
    for (int r = 0; r < ctx->ranks; r++) fds[r] = -1;
    tdl_status s = ctx->transport->exchange_fds(ctx->transport, ctx, ctx->heaps[ctx->rank]->fd, fds);
    for (int r = 0; r < ctx->ranks; r++) {
        if (!s && r != ctx->rank) s = map_theirs(ctx, r, fds[r]);
        if (fds[r] >= 0) close(fds[r]);
    }
    return s;
}

/* A rank that cannot make or map heaps tells the others, so that all fail together. */
static tdl_status agree_on(tdl_ctx *ctx, tdl_status mine) {
    int32_t status = mine, all[TDLI_MAX_RANKS];
    tdl_status s = ctx->transport->allgather(ctx->transport, ctx, &status, all, sizeof status);
    if (mine || s) return mine ? mine : s;
    for (int r = 0; r < ctx->ranks; r++)
        if (all[r])
            return tdli_fail(ctx, (tdl_status)all[r],
                             "tdl_init: rank %d failed to make or map heaps (%s); its own text says more", r,
                             tdl_status_string((tdl_status)all[r]));
    return TDL_OK;
}

tdl_status tdli_heaps_open(tdl_ctx *ctx) {
    tdli_zones *z = &ctx->zones;
    z->flags = TDLI_CONTROL_BYTES;
    z->buffers = (z->flags + z->bytes / 16 + PAGE - 1) / PAGE * PAGE;
    z->low = z->bytes;
    tdl_status s = agree_on(ctx, make_mine(ctx));
    if (s) return s;
    s = ctx->transport->same_process ? share_pointers(ctx) : share_descriptors(ctx);
    if (!ctx->transport->same_process || s) s = agree_on(ctx, s);
    if (s) return s;
    for (int r = 0; r < ctx->ranks; r++) {
        ctx->bases[r] = ctx->heaps[r]->base;
        ctx->controls[r] = (tdli_control *)(void *)ctx->bases[r];
    }
    ctx->mine = ctx->controls[ctx->rank];
    tdli_heap *mine = ctx->heaps[ctx->rank];
    if (mine->fd >= 0) close(mine->fd);
    mine->fd = -1;
    return TDL_OK;
}

void tdli_heaps_close(tdl_ctx *ctx) {
    for (int r = 0; r < ctx->ranks; r++) release(ctx->heaps[r]);
    free(ctx->zones.blocks);
}
