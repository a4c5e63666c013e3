/* transport_threads.c: the ranks of one process, as threads. A group is a meeting place: everyone arrives with some
 * bytes, the last to arrive lets all go on. Data is kept for two rounds, so that a fast rank's next arrival does
 * not overwrite what a slow rank is still reading. */
#include "context.h"
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_BYTES = 512 };

struct tdl_group {
    int ranks, arrived;
    uint64_t round;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned char here[TDLI_MAX_RANKS];
    unsigned char (*data[2])[ROUND_BYTES];
};

typedef struct thread_transport {
    tdli_transport base;
    tdl_group *group;
    int rank;
} thread_transport;

tdl_status tdl_group_create(int ranks, tdl_group **out) {
    if (!out) return tdli_fail(NULL, TDL_BAD_ARGUMENT, "tdl_group_create: the second argument is NULL");
    *out = NULL;
    if (ranks < 1 || ranks > TDLI_MAX_RANKS)
        return tdli_fail(NULL, TDL_BAD_ARGUMENT, "tdl_group_create: `ranks` is %d: 1 to %d is allowed", ranks,
                         TDLI_MAX_RANKS);
    tdl_group *g = calloc(1, sizeof *g);
    unsigned char(*data)[ROUND_BYTES] = calloc((size_t)ranks * 2, ROUND_BYTES);
    pthread_condattr_t monotonic;
    int error = g && data ? 0 : ENOMEM, locked = 0, attributes = 0;
    if (!error) locked = !(error = pthread_mutex_init(&g->lock, NULL));
    if (!error) attributes = !(error = pthread_condattr_init(&monotonic));
    if (!error) error = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    if (!error) error = pthread_cond_init(&g->changed, &monotonic);
    if (attributes) pthread_condattr_destroy(&monotonic);
    if (error) {
        if (locked) pthread_mutex_destroy(&g->lock);
        free(data);
        free(g);
        return tdli_fail_system(NULL, error, "tdl_group_create");
    }
    g->ranks = ranks;
    g->data[0] = data;
    g->data[1] = data + ranks;
    *out = g;
    return TDL_OK;
}

void tdl_group_destroy(tdl_group *g) {
    if (!g) return;
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
    free(g->data[0]);
    free(g);
}

static struct timespec after_ms(int ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

static tdl_status too_late(tdl_ctx *ctx, const tdl_group *g) {
    char ranks[512];
    tdli_text t = {ranks, sizeof ranks, 0};
    for (int r = 0; r < g->ranks; r++)
        if (!g->here[r]) tdli_text_add(&t, "%s%d", t.used ? ", " : "", r);
    return tdli_fail(ctx, TDL_TIMEOUT, "tdl_init: rank %d of a group of %d threads waited %d ms for rank %s",
                     ctx->rank, g->ranks, ctx->set.startup_timeout_ms, ranks);
}

/* Called with the lock held; returns with it held. */
static tdl_status meet(tdl_group *g, tdl_ctx *ctx, int rank) {
    struct timespec deadline = after_ms(ctx->set.startup_timeout_ms);
    uint64_t round = g->round;
    g->here[rank] = 1;
    if (++g->arrived == g->ranks) {
        g->arrived = 0;
        memset(g->here, 0, sizeof g->here);
        g->round++;
        pthread_cond_broadcast(&g->changed);
    }
    while (g->round == round) {
        int error = pthread_cond_timedwait(&g->changed, &g->lock, &deadline);
        if (error == 0 || g->round != round) continue;
        tdl_status s =
            error == ETIMEDOUT ? too_late(ctx, g) : tdli_fail_system(ctx, error, "pthread_cond_timedwait");
        g->here[rank] = 0;
        g->arrived--;
        return s;
    }
    return TDL_OK;
}

static tdl_status allgather(tdli_transport *base, tdl_ctx *ctx, const void *mine, void *all, size_t bytes) {
    thread_transport *t = (thread_transport *)base;
    tdl_group *g = t->group;
    if (bytes > ROUND_BYTES) return tdli_fail(ctx, TDL_INTERNAL_ERROR, "allgather of %zu bytes", bytes);
    pthread_mutex_lock(&g->lock);
    tdl_status s = TDL_OK;
    if (g->here[t->rank])
        s = tdli_fail(ctx, TDL_BAD_ARGUMENT,
                      "option `rank` is %d, but another thread of the group is rank %d", t->rank, t->rank);
    unsigned char(*data)[ROUND_BYTES] = g->data[g->round & 1];
    if (!s && bytes) memcpy(data[t->rank], mine, bytes);
    if (!s) s = meet(g, ctx, t->rank);
    if (!s && bytes)
        for (int r = 0; r < g->ranks; r++) memcpy((char *)all + (size_t)r * bytes, data[r], bytes);
    pthread_mutex_unlock(&g->lock);
    return s;
}

static tdl_status barrier(tdli_transport *base, tdl_ctx *ctx) {
    return allgather(base, ctx, "", NULL, 0);
}

static tdl_status exchange_fds(tdli_transport *base, tdl_ctx *ctx, int mine, int *all) {
    thread_transport *t = (thread_transport *)base;
    tdl_status s = allgather(base, ctx, &mine, all, sizeof mine);
    for (int r = 0; !s && r < t->group->ranks; r++) {
        all[r] = r == t->rank ? -1 : fcntl(all[r], F_DUPFD_CLOEXEC, 0);
        if (r != t->rank && all[r] < 0)
            s = tdli_fail_system(ctx, errno, "duplicating the descriptor of rank %d", r);
    }
    tdl_status after = barrier(base, ctx); /* until then nobody closes what others duplicate */
    return s ? s : after;
}

static int liveness_fd(tdli_transport *t, int rank) {
    (void)t, (void)rank;
    return -1; /* a thread does not end alone */
}

static void close_transport(tdli_transport *t) {
    free(t);
}

tdl_status tdli_thread_transport(tdl_ctx *ctx, tdli_transport **out) {
    tdl_group *g = ctx->set.group;
    if (ctx->set.rank < 0 || ctx->set.rank >= g->ranks)
        return tdli_fail(ctx, TDL_BAD_ARGUMENT, "option `rank` is %d: 0 to %d is allowed in this group",
                         ctx->set.rank, g->ranks - 1);
    thread_transport *t = calloc(1, sizeof *t);
    if (!t) return tdli_fail_system(ctx, ENOMEM, "tdl_init");
    t->base = (tdli_transport){1, allgather, barrier, exchange_fds, liveness_fd, close_transport};
    t->group = g;
    t->rank = ctx->set.rank;
    ctx->rank = t->rank;
    ctx->ranks = g->ranks;
    *out = &t->base;
    return TDL_OK;
}
