/* prepare.c: reserves scratch. All kernels of a context share one region, because launches run one at a time and are
 * isolated from each other, so what is prepared is a maximum over what was asked for:
 *     prepared {flags 8, buffers 1 MiB, ...}, a kernel needs {flags 2, buffers 3 MiB, ...}
 *       ->  prepared {flags 8, buffers 3 MiB, ...} on all ranks, or an error on all ranks */
#include "cuda_device.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int tdli_fits(const tdli_needs *n, const tdli_needs *p) {
    return n->flags <= p->flags && n->buffers <= p->buffers && n->local <= p->local && n->joins <= p->joins &&
           n->workspace <= p->workspace;
}

static int64_t total(const tdl_ctx *ctx, const tdli_needs *n) {
    return n->buffers + n->local + 8 * (n->flags + n->joins) + n->workspace * ctx->set.threads;
}

tdl_status tdli_too_small(tdl_ctx *ctx, const tdli_known *k) {
    const tdli_needs *n = &k->needs, *p = &ctx->prepared;
    return tdli_fail(ctx, TDL_NEEDS_PREPARE,
                     "kernel %s needs %lld bytes of scratch: %lld in buffers of peers, %lld of its own, %lld "
                     "in flags, %lld in joins, "
                     "%lld per worker; prepared are %lld, %lld, %lld, %lld, %lld. Call %s_prepare with the "
                     "largest sizes on all ranks",
                     k->text, (long long)total(ctx, n), (long long)n->buffers, (long long)n->local,
                     8 * (long long)n->flags, 8 * (long long)n->joins, (long long)n->workspace,
                     (long long)p->buffers, (long long)p->local, 8 * (long long)p->flags,
                     8 * (long long)p->joins, (long long)p->workspace, k->kernel->name);
}

static void keep_largest(int64_t *a, int64_t b) {
    if (b > *a) *a = b;
}

static void merge(tdli_needs *to, const tdli_needs *n) {
    keep_largest(&to->flags, n->flags);
    keep_largest(&to->buffers, n->buffers);
    keep_largest(&to->local, n->local);
    keep_largest(&to->joins, n->joins);
    keep_largest(&to->workspace, n->workspace);
}

/* ---- This rank's own memory: pages that appear when touched, on no rank's books but its own -------------------- */
static char *map(int64_t bytes) {
    void *p =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void unmap(void *p, int64_t bytes) {
    if (p) munmap(p, (size_t)bytes);
}

static const int64_t PAGE = 4096;
static int64_t pages(int64_t bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Replaces one mapping by a larger one; nothing is running that could use the old one. */
static tdl_status enlarge(tdl_ctx *ctx, const char *what, char **at, int64_t *have, int64_t bytes) {
    if (bytes <= *have) return TDL_OK;
    char *more = map(bytes);
    if (!more) return tdli_fail_system(ctx, errno, "%lld bytes for %s", (long long)bytes, what);
    unmap(*at, *have);
    *at = more;
    *have = bytes;
    return TDL_OK;
}

/* Scratch and joins share a mapping, joins first. */
static tdl_status enlarge_local(tdl_ctx *ctx, const tdli_needs *n) {
    tdli_local *l = &ctx->local;
    int64_t joins = pages(8 * n->joins), stride = pages(n->workspace);
    tdl_status s = enlarge(ctx, "scratch and joins", &l->mapping, &l->mapping_bytes, joins + pages(n->local));
    if (s) return s;
    l->joins = (_Atomic uint64_t *)(void *)l->mapping;
    l->scratch = l->mapping ? l->mapping + joins : NULL;
    s = enlarge(ctx, "workspaces", &l->workspace, &l->workspace_bytes, stride * ctx->set.threads);
    if (s) return s;
    for (int w = 0; w < ctx->set.threads; w++)
        l->workspaces[w] = l->workspace ? l->workspace + w * stride : NULL;
    return TDL_OK;
}

void tdli_local_close(tdl_ctx *ctx) {
    unmap(ctx->local.mapping, ctx->local.mapping_bytes);
    unmap(ctx->local.workspace, ctx->local.workspace_bytes);
}

/* ---- Together ---------------------------------------------------------------------------------------------- */
static tdl_status check_room(tdl_ctx *ctx, const tdli_needs *n) {
    const tdli_zones *z = &ctx->zones;
    int64_t flags = z->buffers - z->flags, buffers = z->low - z->buffers;
    if (n->flags > flags / 8 || n->buffers > buffers)
        return tdli_fail(
            ctx, TDL_OUT_OF_MEMORY,
            "scratch of %lld bytes and %lld flags, but this heap of %lld bytes has room for %lld "
            "and %lld (option `heap_bytes`)",
            (long long)n->buffers, (long long)n->flags, (long long)z->bytes, (long long)buffers,
            (long long)(flags / 8));
    if (ctx->cuda) return TDL_OK; /* the driver knows */
    /* Pages appear when touched, so nothing would fail before the system runs out of memory. */
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (n->workspace > memory / ctx->set.threads || total(ctx, n) > memory)
        return tdli_fail(ctx, TDL_OUT_OF_MEMORY,
                         "scratch of %lld bytes, but this machine has %lld bytes of memory",
                         (long long)total(ctx, n), (long long)memory);
    return TDL_OK;
}

typedef struct request {
    tdli_needs needs;
    uint64_t fingerprint;
} request;

static tdl_status compare(tdl_ctx *ctx, const tdli_known *k, const request *all) {
    for (int r = 0; r < ctx->ranks; r++)
        if (all[r].fingerprint != k->fingerprint || memcmp(&all[r].needs, &k->needs, sizeof k->needs))
            return tdli_fail(ctx, TDL_MISMATCH,
                             "rank %d and rank %d prepare different objects or sizes of kernel %s", ctx->rank,
                             r, k->text);
    return TDL_OK;
}

tdl_status tdli_prepare_known(tdl_ctx *ctx, tdli_known *k, const tdl_kernel *kernel, tdl_status status) {
    char what[TDLI_TEXT];
    tdli_text t = {what, sizeof what, 0};
    tdli_text_add(&t, "%s:%d: preparing kernel ", kernel->source, kernel->line);
    if (k && k->text[0]) tdli_text_add(&t, "%s", k->text);
    else tdli_text_add(&t, "`%s`", kernel->name);
    tdli_drain(ctx);
    if (!status && ctx->cuda) status = tdli_cuda_load(ctx, k);
    request mine, all[TDLI_MAX_RANKS];
    memset(&mine, 0, sizeof mine);
    if (!status) mine.needs = k->needs, mine.fingerprint = k->fingerprint;
    tdl_status s = tdli_collective(ctx, what, status, &mine, all, sizeof mine);
    if (!s) s = compare(ctx, k, all);
    if (s) return s;
    /* From here on all ranks do the same. */
    if (!tdli_fits(&k->needs, &ctx->prepared)) {
        tdli_needs needs = ctx->prepared;
        char nothing[TDLI_MAX_RANKS];
        merge(&needs, &k->needs);
        s = check_room(ctx, &needs);
        if (!s) s = ctx->cuda ? tdli_cuda_enlarge(ctx, &needs) : enlarge_local(ctx, &needs);
        s = tdli_collective(ctx, what, s, "", nothing, 1);
        if (s) return s;
        ctx->prepared = needs;
    }
    k->prepared = 1;
    return TDL_OK;
}

tdl_status tdl_prepare(tdl_ctx *ctx, const tdl_kernel *kernel, const void *args) {
    if (!ctx || !kernel)
        return tdli_fail(ctx, TDL_BAD_ARGUMENT, "%s_prepare: the context is NULL",
                         kernel ? kernel->name : "tdl");
    tdl_status s = tdli_usable(ctx, kernel);
    if (s) return s;
    tdli_known *k = NULL;
    s = tdli_know(ctx, kernel, &k);
    if (!s) s = tdli_read_shape(ctx, k, args);
    return tdli_prepare_known(ctx, k, kernel, s);
}
