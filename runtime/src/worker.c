/* worker.c: the threads that run launches. Worker 0 takes the jobs in order; the others join when told to:
 *
 *     worker 0    begin --+-- run(frame, 0) --+               +-- next job
 *     worker w            +-- run(frame, w) --+-- finish -----+
 *                                             (whoever is last)
 *
 * begin makes the launch's joins and tickets fresh, shows the other ranks what is being launched, and waits until no
 * rank is more than one launch behind. finish tells the other ranks that this one has let go of their data. */
#include "context.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

_Thread_local tdli_worker *tdli_self;

/* ---- One launch -------------------------------------------------------------------------------------------- */
static void show(tdl_ctx *ctx, const tdli_job *job) {
    tdli_slot *slot = &ctx->mine->slots[job->frame.epoch % TDLI_SLOTS];
    memcpy(slot->text, job->text, sizeof slot->text);
    atomic_store_explicit(&slot->fingerprint, job->fingerprint, memory_order_relaxed);
    atomic_store_explicit(&slot->epoch, job->frame.epoch, memory_order_release);
}

/* Two launches of equal fingerprint follow each other under the plan's own protection (done flags), one launch apart.
 * When another kernel or another size takes over the scratch, the same bytes have other writers: then everyone must
 * have left the last launch that used it. */
static int wait_for_peers(tdl_ctx *ctx, tdli_job *job) {
    uint64_t epoch = job->frame.epoch, needed = epoch < 2 ? 0 : epoch - 2;
    if (job->exchanges) {
        if (ctx->exchange_fingerprint != job->fingerprint && ctx->exchange_epoch > needed)
            needed = ctx->exchange_epoch;
        ctx->exchange_fingerprint = job->fingerprint;
        ctx->exchange_epoch = epoch;
    }
    for (int r = 0; r < ctx->ranks; r++) {
        tdli_wait_info info = {"the end of launch", "on rank", r, needed, 0};
        if (r != ctx->rank && tdli_wait_word(job, &ctx->mine->peers[r].exit, &info, -1, -1)) return 0;
    }
    return 1;
}

/* Returns 1 if the launch is to run. */
static int begin(tdl_ctx *ctx, tdli_job *job) {
    if (tdli_aborted(ctx, job->order)) return 0;
    int64_t joins = tdli_join_words(job);
    if (joins) memset((void *)ctx->local.joins, 0, 8 * (size_t)joins);
    atomic_store_explicit(&job->ticket, 0, memory_order_relaxed);
    show(ctx, job);
    return ctx->ranks == 1 || wait_for_peers(ctx, job);
}

static void finish(tdl_ctx *ctx, tdli_job *job) {
    uint64_t epoch = job->frame.epoch;
    int peer = -1;
    if (ctx->ranks > 1 && !tdli_aborted(ctx, job->order)) {
        if (atomic_load(&ctx->lost_count)) peer = tdli_gone_peer(ctx, epoch);
        if (peer >= 0)
            tdli_report_gone(job, peer, NULL, -1, -1);
        else
            tdli_check_fingerprints(job);
    }
    if (!tdli_aborted(ctx, job->order)) {
        for (int r = 0; r < ctx->ranks; r++) {
            tdli_peer *p = &ctx->controls[r]->peers[ctx->rank];
            atomic_store_explicit(&p->done, epoch, memory_order_release);
            atomic_store_explicit(&p->exit, epoch, memory_order_release);
        }
        tdli_ring_peers(ctx);
    }
    atomic_store_explicit(&ctx->finished, epoch, memory_order_release);
    tdli_event_signal(&ctx->finished_event);
}

static void run(tdli_job *job, tdli_worker *w) {
    tdl_ctx *ctx = w->ctx;
    job->known->plan->run(&job->frame, w->index);
    if (atomic_fetch_sub_explicit(&job->running, 1, memory_order_acq_rel) == 1) finish(ctx, job);
}

static void lead(tdl_ctx *ctx, tdli_job *job, tdli_worker *w) {
    uint64_t epoch = job->frame.epoch; /* once the launch has ended, the caller's thread may use the job anew */
    if (!begin(ctx, job)) {
        finish(ctx, job);
        return;
    }
    atomic_store_explicit(&job->running, job->participants, memory_order_relaxed);
    for (int i = 1; i < job->participants; i++) {
        atomic_store_explicit(&ctx->workers[i].go, epoch, memory_order_release);
        tdli_event_signal(&ctx->workers[i].event);
    }
    run(job, w);
    tdli_waiter wait = {.event = &ctx->finished_event, .idle = 1};
    while (atomic_load_explicit(&ctx->finished, memory_order_acquire) < epoch) tdli_waiter_turn(&wait);
    tdli_waiter_end(&wait);
}

/* ---- Threads ----------------------------------------------------------------------------------------------- */
/* Until *word exceeds `seen`; returns 0 when the context ends. */
static int wait_beyond(tdl_ctx *ctx, _Atomic uint64_t *word, uint64_t seen, tdli_event *event) {
    tdli_waiter w = {.event = event, .idle = 1};
    int stop = 0;
    while (atomic_load_explicit(word, memory_order_acquire) <= seen &&
           !(stop = atomic_load_explicit(&ctx->stop, memory_order_acquire)))
        tdli_waiter_turn(&w);
    tdli_waiter_end(&w);
    return !stop;
}

static void *worker_main(void *argument) {
    tdli_worker *w = argument;
    tdl_ctx *ctx = w->ctx;
    tdli_self = w;
    if (w->index == 0) {
        for (;;) {
            /* tdl_reset moves both words on; `finished` first, so that no job is seen where there is none. */
            uint64_t last = atomic_load_explicit(&ctx->finished, memory_order_acquire);
            if (!wait_beyond(ctx, &ctx->called, last, &ctx->called_event)) return NULL;
            last = atomic_load_explicit(&ctx->finished, memory_order_acquire);
            if (atomic_load_explicit(&ctx->called, memory_order_acquire) > last)
                lead(ctx, &ctx->jobs[(last + 1) % TDLI_JOBS], w);
        }
    }
    for (uint64_t epoch = 0; wait_beyond(ctx, &w->go, epoch, &w->event);) {
        epoch = atomic_load_explicit(&w->go, memory_order_acquire);
        run(&ctx->jobs[epoch % TDLI_JOBS], w);
    }
    return NULL;
}

/* Signals of the program are not for our threads. */
tdl_status tdli_start_thread(tdl_ctx *ctx, pthread_t *thread, void *(*main)(void *), void *argument) {
    sigset_t all, old;
    sigfillset(&all);
    int error = pthread_sigmask(SIG_SETMASK, &all, &old);
    if (error) return tdli_fail_system(ctx, error, "pthread_sigmask");
    error = pthread_create(thread, NULL, main, argument);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error ? tdli_fail_system(ctx, error, "pthread_create") : TDL_OK;
}

tdl_status tdli_workers_start(tdl_ctx *ctx) {
    int n = ctx->set.threads;
    ctx->workers = aligned_alloc(64, sizeof *ctx->workers * (size_t)n);
    if (!ctx->workers) return tdli_fail_system(ctx, ENOMEM, "%d workers", n);
    memset((void *)ctx->workers, 0, sizeof *ctx->workers * (size_t)n);
    for (int i = 0; i < n; i++) {
        tdli_worker *w = &ctx->workers[i];
        w->ctx = ctx;
        w->index = i;
        w->random = tdli_hash(ctx->set.chaos, (int64_t[]){ctx->rank, i}, 16) | 1;
        tdl_status s = tdli_start_thread(ctx, &w->thread, worker_main, w);
        if (s) return s;
        ctx->n_workers++;
    }
    return TDL_OK;
}

void tdli_workers_stop(tdl_ctx *ctx) {
    atomic_store_explicit(&ctx->stop, 1, memory_order_release);
    tdli_event_signal(&ctx->called_event);
    for (int i = 0; i < ctx->n_workers; i++) tdli_event_signal(&ctx->workers[i].event);
    for (int i = 0; i < ctx->n_workers; i++) pthread_join(ctx->workers[i].thread, NULL);
    free(ctx->workers);
}
