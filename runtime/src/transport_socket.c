/* transport_socket.c: ranks as processes. Rank 0 listens on a Unix-domain socket in the abstract name space (it has
 * no file, and vanishes with the process); the others connect and say who they are. Both sides check that the other
 * has the same user id. Rank 0 then hands out one socket pair for each two of the others:
 *
 *     1 ---hello---> 0 <---hello--- 2        then        1 ---- 0 ---- 2
 *                                                        '-------------'
 * Now every rank holds a socket to every other. It carries descriptors once; after that nothing, and its end of
 * file tells that the other process has ended. Packets keep their borders (SOCK_SEQPACKET). */
#include "context.h"
#include "packet.h"
#include "transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC = 0x74646c31 };

typedef struct hello {
    uint32_t magic;
    int32_t abi, rank, ranks, pid;
    char version[12];
} hello;

/* What rank 0 sends in front of every answer, so that one rank's failure reaches all with its text. */
typedef struct verdict {
    int32_t status;
    char text[508];
} verdict;

typedef struct socket_transport {
    tdli_transport base;
    tdl_ctx *ctx;
    int rank, ranks;
    int fds[TDLI_MAX_RANKS]; /* to rank r, -1: none (yet) */
    int64_t deadline_ns;
} socket_transport;

static void begin(socket_transport *t) {
    t->deadline_ns = tdli_now_ns() + (int64_t)t->ctx->set.startup_timeout_ms * 1000000;
}

static tdl_status lost(tdl_ctx *ctx, int rank, tdl_status s) {
    if (s != TDL_PEER_LOST) return s;
    return tdli_fail(ctx, s, "tdl_init: rank %d ended or gave up during start-up", rank);
}

static void close_all(socket_transport *t) {
    for (int r = 0; r < t->ranks; r++)
        if (t->fds[r] >= 0) close(t->fds[r]), t->fds[r] = -1;
}

/* ---- Rank 0 ------------------------------------------------------------------------------------------------ */
static verdict verdict_of(const socket_transport *t, tdl_status status) {
    verdict v = {.status = status};
    if (status) memcpy(v.text, t->ctx->error, sizeof v.text - 1);
    return v;
}

/* Best effort: whoever cannot be told finds the socket closed. The text of the failure must survive it. */
static void tell(socket_transport *t, int fd, const verdict *v, const void *data, size_t bytes) {
    tdl_status s =
        tdli_packet_send(t->ctx, fd, v, sizeof *v, data, v->status ? 0 : bytes, -1, t->deadline_ns);
    if (s && v->status) memcpy(t->ctx->error, v->text, sizeof v->text);
}

static void tell_all(socket_transport *t, tdl_status status, const void *data, size_t bytes) {
    verdict v = verdict_of(t, status);
    for (int r = 1; r < t->ranks; r++)
        if (t->fds[r] >= 0) tell(t, t->fds[r], &v, data, bytes);
}

static tdl_status check_hello(socket_transport *t, const hello *h) {
    tdl_ctx *ctx = t->ctx;
    if (h->magic != MAGIC)
        return tdli_fail(ctx, TDL_WRONG_VERSION, "socket `%s`: something else than tdl connected",
                         ctx->set.socket);
    if (h->abi != TDL_ABI_VERSION || strncmp(h->version, tdl_version(), sizeof h->version))
        return tdli_fail(ctx, TDL_WRONG_VERSION, "rank 0 has libtdl %s (ABI %d), rank %d has %.11s (ABI %d)",
                         tdl_version(), TDL_ABI_VERSION, h->rank, h->version, h->abi);
    if (h->ranks != t->ranks)
        return tdli_fail(ctx, TDL_MISMATCH, "rank 0 was started as one of %d ranks, rank %d as one of %d",
                         t->ranks, h->rank, h->ranks);
    if (h->rank < 1 || h->rank >= t->ranks || t->fds[h->rank] >= 0)
        return tdli_fail(ctx, TDL_MISMATCH, "two processes say that they are rank %d (processes %d and %d)",
                         h->rank, ctx->pids[h->rank > 0 && h->rank < t->ranks ? h->rank : 0], h->pid);
    return TDL_OK;
}

static tdl_status nobody_came(socket_transport *t) {
    char ranks[512];
    tdli_text text = {ranks, sizeof ranks, 0};
    for (int r = 1; r < t->ranks; r++)
        if (t->fds[r] < 0) tdli_text_add(&text, "%s%d", text.used ? ", " : "", r);
    return tdli_fail(t->ctx, TDL_TIMEOUT, "tdl_init: rank 0 of %d waited %d ms at socket `%s` for rank %s",
                     t->ranks, t->ctx->set.startup_timeout_ms, t->ctx->set.socket, ranks);
}

static tdl_status welcome(socket_transport *t, int listener) {
    tdl_ctx *ctx = t->ctx;
    for (int missing = t->ranks - 1; missing > 0;) {
        int fd;
        tdl_status s = tdli_packet_accept(ctx, listener, &fd, t->deadline_ns);
        if (s == TDL_TIMEOUT) return nobody_came(t);
        if (s) return s;
        if (tdli_packet_uid(fd) != (int64_t)getuid()) { /* not one of us: ignore it */
            close(fd);
            continue;
        }
        hello h;
        s = tdli_packet_receive(ctx, fd, &h, sizeof h, NULL, 0, NULL, t->deadline_ns);
        if (s == TDL_PEER_LOST) { /* came and went: a peer that dies now is missed below, by its absence */
            close(fd);
            continue;
        }
        if (!s) s = check_hello(t, &h);
        if (s) { /* the newcomer is told like all others */
            verdict v = verdict_of(t, s);
            tell(t, fd, &v, NULL, 0);
            close(fd);
            return s;
        }
        t->fds[h.rank] = fd;
        ctx->pids[h.rank] = h.pid;
        missing--;
    }
    return TDL_OK;
}

static tdl_status hand_out_pairs(socket_transport *t) {
    for (int i = 1; i < t->ranks; i++)
        for (int j = i + 1; j < t->ranks; j++) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
                return tdli_fail_system(t->ctx, errno, "socketpair for ranks %d and %d", i, j);
            int32_t to_i = j, to_j = i;
            tdl_status s = lost(
                t->ctx, i,
                tdli_packet_send(t->ctx, t->fds[i], &to_i, sizeof to_i, NULL, 0, pair[0], t->deadline_ns));
            if (!s)
                s = lost(t->ctx, j,
                         tdli_packet_send(t->ctx, t->fds[j], &to_j, sizeof to_j, NULL, 0, pair[1],
                                          t->deadline_ns));
            close(pair[0]);
            close(pair[1]);
            if (s) return s;
        }
    return TDL_OK;
}

static tdl_status open_as_root(socket_transport *t) {
    int listener;
    tdl_status s = tdli_packet_listen(t->ctx, t->ctx->set.socket, t->ranks, &listener);
    if (s) return s;
    s = welcome(t, listener);
    close(listener); /* before anyone goes on: the name is free for the next context */
    tell_all(t, s, t->ctx->pids, sizeof *t->ctx->pids * (size_t)t->ranks);
    return s ? s : hand_out_pairs(t);
}

/* ---- The other ranks --------------------------------------------------------------------------------------- */
static tdl_status hear(socket_transport *t, void *data, size_t bytes) {
    verdict v;
    tdl_status s = lost(
        t->ctx, 0, tdli_packet_receive(t->ctx, t->fds[0], &v, sizeof v, data, bytes, NULL, t->deadline_ns));
    if (s || !v.status) return s;
    v.text[sizeof v.text - 1] = 0;
    return tdli_fail(t->ctx, (tdl_status)v.status, "%s", v.text);
}

static tdl_status open_as_member(socket_transport *t) {
    tdl_ctx *ctx = t->ctx;
    tdl_status s = tdli_packet_connect(ctx, ctx->set.socket, &t->fds[0], t->deadline_ns);
    if (s) return s;
    if (tdli_packet_uid(t->fds[0]) != (int64_t)getuid())
        return tdli_fail(ctx, TDL_SYSTEM_ERROR, "socket `%s` belongs to user %lld, this process to user %u",
                         ctx->set.socket, (long long)tdli_packet_uid(t->fds[0]), (unsigned)getuid());
    hello h = {MAGIC, TDL_ABI_VERSION, t->rank, t->ranks, getpid(), ""};
    strncpy(h.version, tdl_version(), sizeof h.version - 1);
    s = lost(ctx, 0, tdli_packet_send(ctx, t->fds[0], &h, sizeof h, NULL, 0, -1, t->deadline_ns));
    if (!s) s = hear(t, ctx->pids, sizeof *ctx->pids * (size_t)t->ranks);
    for (int i = 2; !s && i < t->ranks; i++) {
        int32_t peer = -1;
        int fd = -1;
        s = lost(ctx, 0,
                 tdli_packet_receive(ctx, t->fds[0], &peer, sizeof peer, NULL, 0, &fd, t->deadline_ns));
        if (s) break;
        if (fd < 0 || peer < 1 || peer >= t->ranks || t->fds[peer] >= 0) {
            if (fd >= 0) close(fd);
            return tdli_fail(ctx, TDL_SYSTEM_ERROR,
                             "tdl_init: a descriptor got lost on its way (limit of open files?)");
        }
        t->fds[peer] = fd;
    }
    return s;
}

/* ---- The interface ----------------------------------------------------------------------------------------- */
static tdl_status allgather(tdli_transport *base, tdl_ctx *ctx, const void *mine, void *all, size_t bytes) {
    socket_transport *t = (socket_transport *)base;
    begin(t);
    memcpy((char *)all + (size_t)t->rank * bytes, mine, bytes);
    if (t->rank) {
        tdl_status s =
            lost(ctx, 0, tdli_packet_send(ctx, t->fds[0], mine, bytes, NULL, 0, -1, t->deadline_ns));
        return s ? s : hear(t, all, bytes * (size_t)t->ranks);
    }
    tdl_status s = TDL_OK;
    for (int r = 1; !s && r < t->ranks; r++)
        s = lost(ctx, r,
                 tdli_packet_receive(ctx, t->fds[r], (char *)all + (size_t)r * bytes, bytes, NULL, 0, NULL,
                                     t->deadline_ns));
    tell_all(t, s, all, bytes * (size_t)t->ranks);
    return s;
}

static tdl_status barrier(tdli_transport *base, tdl_ctx *ctx) {
    char all[TDLI_MAX_RANKS];
    return allgather(base, ctx, "", all, 1);
}

/* Step k: to rank + k, from rank - k; few descriptors are on their way at any time, which the system limits. */
static tdl_status exchange_fds(tdli_transport *base, tdl_ctx *ctx, int mine, int *all) {
    socket_transport *t = (socket_transport *)base;
    begin(t);
    for (int r = 0; r < t->ranks; r++) all[r] = -1;
    for (int k = 1; k < t->ranks; k++) {
        int to = (t->rank + k) % t->ranks, from = (t->rank - k + t->ranks) % t->ranks;
        int32_t word = t->rank;
        tdl_status s = lost(
            ctx, to, tdli_packet_send(ctx, t->fds[to], &word, sizeof word, NULL, 0, mine, t->deadline_ns));
        if (!s)
            s = lost(ctx, from,
                     tdli_packet_receive(ctx, t->fds[from], &word, sizeof word, NULL, 0, &all[from],
                                         t->deadline_ns));
        if (!s && all[from] < 0)
            s = tdli_fail(ctx, TDL_SYSTEM_ERROR,
                          "tdl_init: the descriptor of rank %d got lost (limit of open files?)", from);
        if (s) return s;
    }
    return TDL_OK;
}

static int liveness_fd(tdli_transport *base, int rank) {
    return ((socket_transport *)base)->fds[rank];
}

static void close_transport(tdli_transport *base) {
    close_all((socket_transport *)base);
    free(base);
}

tdl_status tdli_socket_transport(tdl_ctx *ctx, tdli_transport **out) {
    socket_transport *t = calloc(1, sizeof *t);
    if (!t) return tdli_fail_system(ctx, ENOMEM, "tdl_init");
    t->base = (tdli_transport){0, allgather, barrier, exchange_fds, liveness_fd, close_transport};
    t->ctx = ctx;
    ctx->rank = t->rank = ctx->set.rank;
    ctx->ranks = t->ranks = ctx->set.ranks;
    for (int r = 0; r < TDLI_MAX_RANKS; r++) t->fds[r] = -1;
    ctx->pids[t->rank] = getpid();
    begin(t);
    tdl_status s = t->ranks == 1 ? TDL_OK : t->rank ? open_as_member(t) : open_as_root(t);
    if (s) {
        close_transport(&t->base);
        return s;
    }
    *out = &t->base;
    return TDL_OK;
}
