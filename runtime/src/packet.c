/* packet.c: packets with descriptors over Unix-domain sockets (packet.h). Sockets block, but every call polls first
 * and then does not wait, so that deadlines hold. */
#include "packet.h"

#include "error.h"
#include "event.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static socklen_t address_of(const char *name, struct sockaddr_un *a) {
    size_t n = strlen(name);
    memset(a, 0, sizeof *a);
    a->sun_family = AF_UNIX;
    if (n > sizeof a->sun_path - 1) n = sizeof a->sun_path - 1; /* options.c has checked */
    memcpy(a->sun_path + 1, name, n);                           /* sun_path[0] = 0: abstract */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

/* Until `fd` is ready for `what`. */
static tdl_status wait_for(tdl_ctx *ctx, int fd, short what, int64_t deadline_ns) {
    for (;;) {
        int64_t left_ms = (deadline_ns - tdli_now_ns()) / 1000000;
        struct pollfd p = {.fd = fd, .events = what};
        int n = poll(&p, 1, left_ms <= 0 ? 0 : left_ms > 1000 ? 1000 : (int)left_ms);
        if (n > 0) return TDL_OK; /* also on hang-up: the call that follows finds out */
        if (n < 0 && errno != EINTR) return tdli_fail_system(ctx, errno, "poll");
        if (left_ms <= 0) return tdli_fail(ctx, TDL_TIMEOUT, "tdl_init: no answer from another rank in time");
    }
}

tdl_status tdli_packet_listen(tdl_ctx *ctx, const char *name, int backlog, int *listener) {
    struct sockaddr_un a;
    socklen_t n = address_of(name, &a);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return tdli_fail_system(ctx, errno, "socket");
    if (!bind(fd, (struct sockaddr *)&a, n) && !listen(fd, backlog)) {
        *listener = fd;
        return TDL_OK;
    }
    int error = errno;
    close(fd);
    if (error == EADDRINUSE)
        return tdli_fail(ctx, TDL_SYSTEM_ERROR,
                         "socket `%s` is in use: another rank 0, or another job of that name", name);
    return tdli_fail_system(ctx, error, "listening on socket `%s`", name);
}

tdl_status tdli_packet_accept(tdl_ctx *ctx, int listener, int *fd, int64_t deadline_ns) {
    for (;;) {
        tdl_status s = wait_for(ctx, listener, POLLIN, deadline_ns);
        if (s) return s;
        *fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (*fd >= 0) return TDL_OK;
        if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED)
            return tdli_fail_system(ctx, errno, "accept");
    }
}

tdl_status tdli_packet_connect(tdl_ctx *ctx, const char *name, int *fd, int64_t deadline_ns) {
    struct sockaddr_un a;
    socklen_t n = address_of(name, &a);
    for (;;) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (s < 0) return tdli_fail_system(ctx, errno, "socket");
        if (!connect(s, (struct sockaddr *)&a, n)) {
            *fd = s;
            return TDL_OK;
        }
        int error = errno;
        close(s);
        if (error != ECONNREFUSED && error != EAGAIN && error != EINTR)
            return tdli_fail_system(ctx, error, "connecting to socket `%s`", name);
        if (tdli_now_ns() >= deadline_ns)
            return tdli_fail(ctx, TDL_TIMEOUT, "tdl_init: rank 0 has not opened socket `%s` in time", name);
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
}

int64_t tdli_packet_uid(int fd) {
    struct ucred c;
    socklen_t n = sizeof c;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) ? -1 : (int64_t)c.uid;
}

/* Room for one descriptor, aligned as control messages must be. */
typedef union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
} control;

tdl_status tdli_packet_send(tdl_ctx *ctx, int fd, const void *a, size_t a_bytes, const void *b,
                            size_t b_bytes, int pass, int64_t deadline_ns) {
    struct iovec parts[2] = {{(void *)a, a_bytes}, {(void *)b, b_bytes}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = b_bytes ? 2 : 1};
    control c;
    memset(&c, 0, sizeof c);
    if (pass >= 0) {
        m.msg_control = &c;
        m.msg_controllen = sizeof c;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof pass);
        memcpy(CMSG_DATA(h), &pass, sizeof pass);
    }
    for (;;) {
        tdl_status s = wait_for(ctx, fd, POLLOUT, deadline_ns);
        if (s) return s;
        if (sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return TDL_OK;
        if (errno == EPIPE || errno == ECONNRESET) return TDL_PEER_LOST;
        /* ETOOMANYREFS: too many descriptors on their way; the others are fetching theirs. */
        if (errno != EINTR && errno != EAGAIN && errno != ETOOMANYREFS)
            return tdli_fail_system(ctx, errno, "sendmsg");
        struct timespec pause = {0, 100000};
        nanosleep(&pause, NULL);
    }
}

tdl_status tdli_packet_receive(tdl_ctx *ctx, int fd, void *a, size_t a_bytes, void *b, size_t b_bytes,
                               int *passed, int64_t deadline_ns) {
    struct iovec parts[2] = {{a, a_bytes}, {b, b_bytes}};
    for (;;) {
        control c;
        memset(&c, 0, sizeof c);
        struct msghdr m = {
            .msg_iov = parts, .msg_iovlen = b_bytes ? 2 : 1, .msg_control = &c, .msg_controllen = sizeof c};
        tdl_status s = wait_for(ctx, fd, POLLIN, deadline_ns);
        if (s) return s;
        ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n == 0 || (n < 0 && errno == ECONNRESET)) return TDL_PEER_LOST;
        if (n < 0) return tdli_fail_system(ctx, errno, "recvmsg");
        int got = -1;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
            memcpy(&got, CMSG_DATA(h), sizeof got);
        if (passed)
            *passed = got;
        else if (got >= 0)
            close(got);
        /* The first part alone is an answer without data (a failure). */
        if ((size_t)n == a_bytes + b_bytes || (b_bytes && (size_t)n == a_bytes)) return TDL_OK;
        return tdli_fail(ctx, TDL_WRONG_VERSION, "tdl_init: a packet of %zd bytes instead of %zu", n,
                         a_bytes + b_bytes);
    }
}
