/* sync.c: what compiled kernels call: tickets, waits, arrivals, notifications. The fast path of each is one or two
 * atomic operations; everything else (other ranks gone, time-out, mismatch) is looked at only while waiting. */
#include "context.h"

#include <sched.h>
#include <time.h>

static void progress(void) {
    tdli_worker *w = tdli_self;
    if (!w) return;
    uint64_t n = atomic_load_explicit(&w->progress, memory_order_relaxed);
    atomic_store_explicit(&w->progress, n + 1, memory_order_relaxed); /* its only writer */
}

static uint64_t progress_of_all(const tdl_ctx *ctx) {
    uint64_t sum = 0;
    for (int i = 0; i < ctx->n_workers; i++)
        sum += atomic_load_explicit(&ctx->workers[i].progress, memory_order_relaxed);
    return sum;
}

/* TDL_CHAOS: now and then a short delay, so that tests meet more interleavings. */
static void chaos(const tdl_ctx *ctx) {
    tdli_worker *w = tdli_self;
    if (!ctx->set.chaos || !w) return;
    uint64_t x = w->random;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* xorshift64 */
    w->random = x;
    unsigned kind = x >> 60, length = (unsigned)(x >> 32 & 1023);
    struct timespec nap = {0, (long)length * 300};
    if (kind < 8) return;
    if (kind == 15)
        nanosleep(&nap, NULL);
    else if (kind >= 12)
        sched_yield();
    else
        for (volatile unsigned i = 0; i < length; i++) {
        }
}

static tdli_job *job_of(tdl_frame *f) {
    return f->launch;
}

/* ---- Tickets ----------------------------------------------------------------------------------------------- */
int64_t tdl_next_ticket(tdl_frame *f, int64_t worker) {
    tdli_job *job = job_of(f);
    tdl_ctx *ctx = job->ctx;
    (void)worker;
    chaos(ctx);
    if (tdli_aborted(ctx, job->order)) return -1;
    int peer = -1;
    if (atomic_load_explicit(&ctx->lost_count, memory_order_relaxed)) peer = tdli_gone_peer(ctx, f->epoch);
    if (peer >= 0) {
        tdli_report_gone(job, peer, NULL, -1, -1);
        return -1;
    }
    /* Past the end the counter stays put: no run of a launch can make it wrap. */
    if (atomic_load_explicit(&job->ticket, memory_order_relaxed) >= job->tickets) return -1;
    int64_t ticket = atomic_fetch_add_explicit(&job->ticket, 1, memory_order_relaxed);
    progress();
    return ticket < job->tickets ? ticket : -1;
}

/* ---- Waits ------------------------------------------------------------------------------------------------- */
static int reached(_Atomic uint64_t *word, uint64_t expected) {
    return atomic_load_explicit(word, memory_order_acquire) >= expected;
}

/* The rare conditions of a wait that has not been satisfied for a while. Returns 1 if the launch is over. */
static int look_around(tdli_job *job, _Atomic uint64_t *word, tdli_wait_info *info, int64_t site,
                       int64_t ticket, int64_t idle_ns) {
    tdl_ctx *ctx = job->ctx;
    if (tdli_aborted(ctx, job->order)) return 1;
    if (ctx->ranks > 1) {
        int peer = tdli_gone_peer(ctx, job->frame.epoch);
        if (peer >= 0) {
            if (reached(word, info->expected)) return 0; /* its last act */
            tdli_report_gone(job, peer, info, site, ticket);
            return 1;
        }
        if (tdli_check_fingerprints(job) || tdli_check_collectives(job)) return 1;
    }
    if (idle_ns < (int64_t)ctx->set.timeout_ms * 1000000) return 0;
    info->actual = atomic_load_explicit(word, memory_order_acquire);
    if (info->actual >= info->expected) return 0;
    tdli_report_timeout(job, info, site, ticket, idle_ns / 1000000);
    return 1;
}

int tdli_wait_word(tdli_job *job, _Atomic uint64_t *word, tdli_wait_info *info, int64_t site,
                   int64_t ticket) {
    tdl_ctx *ctx = job->ctx;
    chaos(ctx);
    if (reached(word, info->expected)) {
        progress();
        return 0;
    }
    tdli_waiter w = {.event = &ctx->mine->bell};
    uint64_t seen = progress_of_all(ctx);
    int64_t since_ns = 0; /* waited_ns at the last progress of any worker of this rank */
    int over = 0;
    while (!over && !reached(word, info->expected)) {
        if (!tdli_waiter_turn(&w)) continue;
        uint64_t now = progress_of_all(ctx);
        if (now != seen) since_ns = w.waited_ns;
        seen = now;
        info->actual = atomic_load_explicit(word, memory_order_relaxed);
        over = look_around(job, word, info, site, ticket, w.waited_ns - since_ns);
    }
    tdli_waiter_end(&w);
    progress();
    return over;
}

/* A place outside of what the layout asked for is a bug of the object; going on would corrupt memory. */
static int outside(tdli_job *job, int64_t which, int64_t count, int64_t index, int64_t words, int64_t site,
                   int64_t ticket, const char *what) {
    if (which >= 0 && which < count && index >= 0 && index < words) return 0;
    tdli_report_internal(job, site, ticket, what);
    return 1;
}

static int64_t flag_words(const tdli_job *job, int64_t flag) {
    const tdli_known *k = job->known;
    return flag >= 0 && flag < k->plan->n_flags ? job->words[k->raw + k->plan->n_buffers + flag] : 0;
}

static int64_t join_words(const tdli_job *job, int64_t join) {
    const tdli_known *k = job->known;
    return join >= 0 && join < k->plan->n_joins
               ? job->words[k->raw + k->plan->n_buffers + k->plan->n_flags + join]
               : 0;
}

int64_t tdli_join_words(const tdli_job *job) {
    int64_t sum = 0;
    for (int i = 0; i < job->known->plan->n_joins; i++) sum += join_words(job, i);
    return sum;
}

/* Word `index` of a data flag in the heap of rank `at`. */
static _Atomic uint64_t *flag_word(const tdli_job *job, int64_t at, int64_t flag, int64_t index) {
    const tdl_ctx *ctx = job->ctx;
    char *zone = ctx->bases[at] + ctx->zones.flags;
    return (_Atomic uint64_t *)(void *)zone + job->words[job->known->flags + flag] + index;
}

int tdl_wait_flag(tdl_frame *f, int64_t flag, int64_t index, uint64_t expected, int64_t site,
                  int64_t ticket) {
    tdli_job *job = job_of(f);
    const tdl_plan *p = job->known->plan;
    if (outside(job, flag, p->n_flags, index, flag_words(job, flag), site, ticket,
                "a flag outside of its array is waited for"))
        return 1;
    tdli_wait_info info = {"flag", p->flags[flag].name, index, expected, 0};
    int done = p->flags[flag].kind == TDL_FLAG_DONE;
    if (done &&
        outside(job, flag, p->n_flags, index, f->ranks, site, ticket, "a done flag of no rank is waited for"))
        return 1;
    return tdli_wait_word(job,
                          done ? &job->ctx->mine->peers[index].done : flag_word(job, f->rank, flag, index),
                          &info, site, ticket);
}

int tdl_wait_join(tdl_frame *f, int64_t join, int64_t index, uint64_t total, int64_t site, int64_t ticket) {
    tdli_job *job = job_of(f);
    const tdl_plan *p = job->known->plan;
    if (outside(job, join, p->n_joins, index, join_words(job, join), site, ticket,
                "a join outside of its array is waited for"))
        return 1;
    tdli_wait_info info = {"join", p->joins[join].name, index, total, 0};
    return tdli_wait_word(job, job->ctx->local.joins + job->words[job->known->joins + join] + index, &info,
                          site, ticket);
}

/* ---- Arrivals, notifications --------------------------------------------------------------------------------- */
int tdl_arrive(tdl_frame *f, int64_t join, int64_t index, uint64_t total) {
    tdli_job *job = job_of(f);
    tdl_ctx *ctx = job->ctx;
    if (outside(job, join, job->known->plan->n_joins, index, join_words(job, join), -1, -1,
                "an arrival at a join outside of its array"))
        return 0;
    _Atomic uint64_t *word = ctx->local.joins + job->words[job->known->joins + join] + index;
    uint64_t now = atomic_fetch_add_explicit(word, 1, memory_order_acq_rel) + 1;
    progress();
    if (now > total) tdli_report_internal(job, -1, -1, "more arrivals at a join than its total");
    if (now != total) return 0;
    tdli_event_signal(&ctx->mine->bell);
    return 1;
}

void tdl_notify(tdl_frame *f, int64_t to, int64_t flag, int64_t index) {
    tdli_job *job = job_of(f);
    tdl_ctx *ctx = job->ctx;
    const tdl_plan *p = job->known->plan;
    chaos(ctx);
    if (outside(job, flag, p->n_flags, index, flag_words(job, flag), -1, -1,
                "a flag outside of its array is notified") ||
        outside(job, flag, p->n_flags, to, f->ranks, -1, -1, "a rank that does not exist is notified"))
        return;
    int done = p->flags[flag].kind == TDL_FLAG_DONE;
    if (done && index != f->rank) {
        tdli_report_internal(job, -1, -1, "a done flag of another rank is notified");
        return;
    }
    _Atomic uint64_t *word = done ? &ctx->controls[to]->peers[index].done : flag_word(job, to, flag, index);
    atomic_store_explicit(word, f->epoch, memory_order_release);
    progress();
    tdli_event_signal(&ctx->controls[to]->bell);
}
