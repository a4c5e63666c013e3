/* watcher.c: a thread that notices the end of other ranks' processes. Nothing is ever sent over the sockets after
 * start-up, so one that becomes readable has reached its end: the process was killed, crashed or exited. The rank is
 * marked and everybody who waits here is woken; they find out in their own place what that means for them. */
#include "context.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void *watcher_main(void *argument) {
    tdl_ctx *ctx = argument;
    struct pollfd fds[TDLI_MAX_RANKS + 1];
    for (int r = 0; r < ctx->ranks; r++)
        fds[r] = (struct pollfd){.fd = r == ctx->rank ? -1 : ctx->transport->liveness_fd(ctx->transport, r),
                                 .events = POLLIN};
    fds[ctx->ranks] = (struct pollfd){.fd = ctx->wake_fd, .events = POLLIN};
    while (!atomic_load_explicit(&ctx->stop, memory_order_acquire)) {
        if (poll(fds, (nfds_t)ctx->ranks + 1, -1) < 0 && errno != EINTR && errno != EAGAIN) break;
        for (int r = 0; r < ctx->ranks; r++) {
            if (fds[r].fd < 0 || !fds[r].revents) continue;
            fds[r].fd = -1; /* poll skips it from now on */
            if (atomic_load_explicit(&ctx->controls[r]->left, memory_order_acquire))
                continue; /* said good-bye */
            atomic_store_explicit(&ctx->lost[r], 1, memory_order_release);
            atomic_fetch_add_explicit(&ctx->lost_count, 1, memory_order_acq_rel);
            tdli_event_signal(&ctx->mine->bell);
        }
    }
    return NULL;
}

tdl_status tdli_watcher_start(tdl_ctx *ctx) {
    if (ctx->transport->same_process || ctx->ranks == 1) return TDL_OK;
    ctx->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (ctx->wake_fd < 0) return tdli_fail_system(ctx, errno, "eventfd");
    tdl_status s = tdli_start_thread(ctx, &ctx->watcher, watcher_main, ctx);
    if (s) close(ctx->wake_fd);
    ctx->watching = !s;
    return s;
}

/* After ctx->stop has been set. */
void tdli_watcher_stop(tdl_ctx *ctx) {
    if (!ctx->watching) return;
    uint64_t one = 1;
    while (write(ctx->wake_fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
    pthread_join(ctx->watcher, NULL);
    close(ctx->wake_fd);
    ctx->watching = 0;
}
