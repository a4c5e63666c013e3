/* startup.c: opens the transport that the settings ask for, and lets the ranks agree on what must be equal. */
#include "context.h"

#include <sched.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Rank 0 makes up a name nobody else has; the callbacks carry it to the others, who then connect as usual. */
static tdl_status meet_by_callbacks(tdl_ctx *ctx) {
    const tdl_startup *u = ctx->set.startup;
    char mine[108] = "", all[TDLI_MAX_RANKS][108];
    uint64_t random[2] = {0, 0};
    if (u->rank == 0) {
        ssize_t n = getrandom(random, sizeof random, 0);
        if (n != sizeof random) return tdli_fail(ctx, TDL_SYSTEM_ERROR, "getrandom gave %zd bytes", n);
        tdli_text t = {mine, sizeof mine, 0};
        tdli_text_add(&t, "tdl.%u.%016llx%016llx", (unsigned)getuid(), (unsigned long long)random[0],
                      (unsigned long long)random[1]);
    }
    int result = u->allgather(u->user, mine, all, sizeof mine);
    if (result)
        return tdli_fail(ctx, TDL_SYSTEM_ERROR, "`allgather` of option `startup` returned %d", result);
    memcpy(ctx->set.socket, all[0], sizeof mine);
    ctx->set.socket[sizeof mine - 1] = 0;
    return TDL_OK;
}

typedef struct agreement {
    int64_t heap_bytes; /* 0: this rank cannot have one */
    uint64_t cores;     /* which cores this rank may use, as a hash */
    int32_t n_cores, pid;
    char plan[64];
} agreement;

static void find_cores(agreement *a) {
    cpu_set_t set;
    CPU_ZERO(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    a->n_cores = online < 1 ? 1 : (int32_t)online;
    if (sched_getaffinity(0, sizeof set, &set) || CPU_COUNT(&set) < 1) return; /* more cores than the set holds */
    a->n_cores = CPU_COUNT(&set);
    a->cores = tdli_hash(0, &set, sizeof set);
}

/* A launcher that binds ranks to cores gives each its own; otherwise all ranks share the same. */
static int default_threads(const agreement *all, int rank, int ranks) {
    int sharing = 0;
    for (int r = 0; r < ranks; r++) sharing += all[r].cores == all[rank].cores;
    int n = all[rank].n_cores / sharing;
    return n < 1 ? 1 : n > TDLI_MAX_THREADS ? TDLI_MAX_THREADS : n;
}

static tdl_status agree(tdl_ctx *ctx) {
    agreement mine, all[TDLI_MAX_RANKS];
    memset(&mine, 0, sizeof mine);
    mine.heap_bytes = tdli_heap_limit(ctx->set.heap_bytes, ctx->ranks);
    mine.pid = getpid();
    find_cores(&mine);
    memcpy(mine.plan, ctx->set.plan, sizeof mine.plan);
    tdl_status s = ctx->transport->allgather(ctx->transport, ctx, &mine, all, sizeof mine);
    if (s) return s;
    int64_t least = mine.heap_bytes;
    for (int r = 0; r < ctx->ranks; r++) {
        ctx->pids[r] = all[r].pid;
        if (all[r].heap_bytes < least) least = all[r].heap_bytes;
        if (strncmp(all[r].plan, mine.plan, sizeof mine.plan))
            return tdli_fail(ctx, TDL_MISMATCH,
                             "plan (option `plan` or TDL_PLAN) is `%s` on rank %d, but `%.63s` on rank %d",
                             mine.plan, ctx->rank, all[r].plan, r);
    }
    if (least < 1 << 20)
        return tdli_fail(ctx, TDL_OUT_OF_MEMORY,
                         "a rank cannot map a heap of 1 MiB (limit of address space or file size)");
    ctx->zones.bytes = least;
    if (!ctx->set.threads) ctx->set.threads = default_threads(all, ctx->rank, ctx->ranks);
    return TDL_OK;
}

tdl_status tdli_open_transport(tdl_ctx *ctx) {
    tdl_status s = TDL_OK;
    if (ctx->set.group) {
        s = tdli_thread_transport(ctx, &ctx->transport);
    } else {
        if (ctx->set.startup && ctx->set.ranks > 1) s = meet_by_callbacks(ctx);
        if (!s) s = tdli_socket_transport(ctx, &ctx->transport);
    }
    return s ? s : agree(ctx);
}
