/* report.c: ending launches on all ranks, with a text that says where and why. Example:
 *
 *     rank 2 of 4: no progress for 10000 ms
 *       ag.tdl:12:5: kernel `ag` (plan `sequential`) M=100 N=64, launch 17, task `copy` tile (3, 1), ticket 14
 *       waits for flag `arrived`[5] to reach 17; it is 16
 *       rank 0 (process 4711) is in launch 17
 *       rank 1 (process 4712) has finished launch 16 and not started the next; it is stopped
 *       rank 3 (process 4714) is in launch 17 */
#include "context.h"

#include <stdio.h>
#include <string.h>

/* ---- Ending ------------------------------------------------------------------------------------------------ */
void tdli_abort_all(tdl_ctx *ctx, tdl_status status, uint64_t order, const char *text) {
    for (int i = 0; i < ctx->ranks; i++) {
        tdli_control *c = ctx->controls[(ctx->rank + i) % ctx->ranks]; /* this rank first */
        uint32_t none = 0;
        if (atomic_compare_exchange_strong_explicit(&c->abort.state, &none, 1, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            c->abort.status = status;
            c->abort.origin = ctx->rank;
            size_t n = strnlen(text, sizeof c->abort.text - 1);
            memcpy(c->abort.text, text, n);
            c->abort.text[n] = 0;
            atomic_store_explicit(&c->abort.state, 2, memory_order_release);
        }
        uint64_t from = atomic_load_explicit(&c->abort.from, memory_order_relaxed);
        while ((!from || from > order) &&
               !atomic_compare_exchange_weak_explicit(&c->abort.from, &from, order, memory_order_acq_rel,
                                                      memory_order_relaxed)) {
        }
        tdli_event_signal(&c->bell);
    }
}

/* ---- What the others do ------------------------------------------------------------------------------------- */
/* A process that is stopped (SIGSTOP, a debugger) explains a time-out better than anything else. */
static int is_stopped(int32_t pid) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = 0;
    const char *state = strrchr(line, ')'); /* the name before it may hold anything */
    return state && state[1] == ' ' && (state[2] == 'T' || state[2] == 't');
}

static uint64_t last_started(const tdli_control *c) {
    uint64_t last = 0;
    for (int i = 0; i < TDLI_SLOTS; i++) {
        uint64_t e = atomic_load_explicit(&c->slots[i].epoch, memory_order_acquire);
        if (e > last) last = e;
    }
    return last;
}

void tdli_text_peers(tdli_text *t, tdl_ctx *ctx) {
    for (int r = 0; r < ctx->ranks; r++) {
        if (r == ctx->rank) continue;
        tdli_control *c = ctx->controls[r];
        tdli_text_add(t, "\n  rank %d", r);
        if (!ctx->transport->same_process) tdli_text_add(t, " (process %d)", ctx->pids[r]);
        uint64_t left = atomic_load_explicit(&c->left, memory_order_acquire), started = last_started(c);
        uint64_t finished = atomic_load_explicit(&ctx->mine->peers[r].exit, memory_order_acquire);
        if (left) {
            tdli_text_add(t, " has finalised its context after launch %llu", (unsigned long long)left - 1);
            continue;
        }
        if (atomic_load(&ctx->lost[r])) tdli_text_add(t, " has ended without tdl_finalize;");
        if (started > finished)
            tdli_text_add(t, " is in launch %llu", (unsigned long long)started);
        else if (finished)
            tdli_text_add(t, " has finished launch %llu and not started the next",
                          (unsigned long long)finished);
        else
            tdli_text_add(t, " has not started a launch");
        for (int i = 0; i < 2; i++)
            if (atomic_load_explicit(&c->posts[i].sequence, memory_order_acquire) > ctx->collectives)
                tdli_text_add(t, "; called: %.*s", TDLI_TEXT - 1, c->posts[i].text);
        if (!ctx->transport->same_process && is_stopped(ctx->pids[r])) tdli_text_add(t, "; it is stopped");
    }
}

/* ---- Where this rank is -------------------------------------------------------------------------------------- */
/* The task of a ticket, and its coordinates, last one fastest. */
static void text_ticket(tdli_text *t, const tdli_job *job, int64_t ticket) {
    const tdl_plan *p = job->known->plan;
    const int64_t *count = job->words + job->known->raw + p->n_buffers + p->n_flags + p->n_joins;
    int64_t rest = ticket;
    for (int i = 0; i < p->n_tasks; count += p->tasks[i].ncoords, i++) {
        int64_t product = 1, coords[TDLI_MAX_DIMS];
        int n = p->tasks[i].ncoords;
        for (int c = 0; c < n; c++) product *= count[c];
        if (rest >= product) {
            rest -= product;
            continue;
        }
        tdli_text_add(t, ", task `%s`", p->tasks[i].name);
        for (int c = n - 1; c >= 0 && n <= TDLI_MAX_DIMS; c--) coords[c] = rest % count[c], rest /= count[c];
        for (int c = 0; c < n && n <= TDLI_MAX_DIMS; c++)
            tdli_text_add(t, "%s%lld", c ? ", " : " tile (", (long long)coords[c]);
        tdli_text_add(t, "%s, ticket %lld", n > 0 && n <= TDLI_MAX_DIMS ? ")" : "", (long long)ticket);
        return;
    }
}

static void text_place(tdli_text *t, const tdli_job *job, int64_t site, int64_t ticket) {
    const tdl_kernel *k = job->known->kernel;
    const tdl_plan *p = job->known->plan;
    int known = site >= 0 && site < p->n_sites;
    tdli_text_add(t, "\n  %s:%d", k->source, known ? p->sites[site].line : k->line);
    if (known && p->sites[site].column > 0) tdli_text_add(t, ":%d", p->sites[site].column);
    tdli_text_add(t, ": kernel %s, launch %llu", job->text, (unsigned long long)job->frame.epoch);
    if (ticket >= 0)
        text_ticket(t, job, ticket);
    else if (known && p->sites[site].task >= 0 && p->sites[site].task < p->n_tasks)
        tdli_text_add(t, ", task `%s`", p->tasks[p->sites[site].task].name);
}

static void text_wait(tdli_text *t, const tdli_wait_info *w, const char *verb) {
    /* What worker 0 waits for before the launch is no flag of the plan; its `index` is a rank. */
    if (!strcmp(w->kind, "flag") || !strcmp(w->kind, "join"))
        tdli_text_add(t, "\n  %s %s `%s`[%lld] to reach %llu; it is %llu", verb, w->kind, w->name,
                      (long long)w->index, (unsigned long long)w->expected, (unsigned long long)w->actual);
    else
        tdli_text_add(t, "\n  %s %s %llu %s %lld before this one starts; it has finished %llu", verb, w->kind,
                      (unsigned long long)w->expected, w->name, (long long)w->index,
                      (unsigned long long)w->actual);
}

static void begin(tdli_text *t, const tdli_job *job) {
    tdli_text_add(t, "rank %d of %d: ", job->ctx->rank, job->ctx->ranks);
}

static void end(tdli_text *t, tdli_job *job, tdl_status status) {
    if (job->ctx->ranks > 1) tdli_text_peers(t, job->ctx);
    tdli_abort_all(job->ctx, status, job->order, t->at);
}

/* ---- The reports --------------------------------------------------------------------------------------------- */
void tdli_report_timeout(tdli_job *job, const tdli_wait_info *info, int64_t site, int64_t ticket,
                         int64_t waited_ms) {
    char buffer[TDLI_REPORT];
    tdli_text t = {buffer, sizeof buffer, 0};
    begin(&t, job);
    tdli_text_add(&t, "no progress for %lld ms", (long long)waited_ms);
    text_place(&t, job, site, ticket);
    text_wait(&t, info, "waits for");
    end(&t, job, TDL_TIMEOUT);
}

void tdli_report_gone(tdli_job *job, int peer, const tdli_wait_info *info, int64_t site, int64_t ticket) {
    char buffer[TDLI_REPORT];
    tdli_text t = {buffer, sizeof buffer, 0};
    tdl_ctx *ctx = job->ctx;
    begin(&t, job);
    if (atomic_load(&ctx->controls[peer]->left))
        tdli_text_add(&t, "rank %d has finalised its context and is needed", peer);
    else
        tdli_text_add(&t, "rank %d (process %d) ended without tdl_finalize", peer, ctx->pids[peer]);
    text_place(&t, job, site, ticket);
    if (info) text_wait(&t, info, "waited for");
    end(&t, job, TDL_PEER_LOST);
}

void tdli_report_internal(tdli_job *job, int64_t site, int64_t ticket, const char *what) {
    char buffer[TDLI_REPORT];
    tdli_text t = {buffer, sizeof buffer, 0};
    begin(&t, job);
    tdli_text_add(&t, "%s: the object contradicts itself, please report this bug of tdlc", what);
    text_place(&t, job, site, ticket);
    tdli_abort_all(job->ctx, TDL_INTERNAL_ERROR, job->order, buffer);
}

static tdli_slot *slot_of(const tdli_job *job, int rank) {
    return &job->ctx->controls[rank]->slots[job->frame.epoch % TDLI_SLOTS];
}

static int reached(const tdli_job *job, int rank) {
    return atomic_load_explicit(&slot_of(job, rank)->epoch, memory_order_acquire) == job->frame.epoch;
}

/* Of two ranks that launch different things, the one that ends later has the other's slot before its eyes. */
int tdli_check_fingerprints(tdli_job *job) {
    tdl_ctx *ctx = job->ctx;
    int differs = 0;
    for (int r = 0; r < ctx->ranks && !differs; r++)
        differs =
            r != ctx->rank && reached(job, r) &&
            atomic_load_explicit(&slot_of(job, r)->fingerprint, memory_order_relaxed) != job->fingerprint;
    if (!differs) return 0;
    char buffer[TDLI_REPORT];
    tdli_text t = {buffer, sizeof buffer, 0};
    begin(&t, job);
    tdli_text_add(&t, "ranks launch different kernels, plans, sizes, scalars or versions of an object");
    text_place(&t, job, -1, -1);
    for (int r = 0; r < ctx->ranks; r++)
        if (reached(job, r)) tdli_text_add(&t, "\n  rank %d: %.*s", r, TDLI_TEXT - 1, slot_of(job, r)->text);
    tdli_abort_all(ctx, TDL_MISMATCH, job->order, buffer);
    return 1;
}

int tdli_check_collectives(tdli_job *job) {
    tdl_ctx *ctx = job->ctx;
    for (int r = 0; r < ctx->ranks; r++)
        for (int i = 0; i < 2; i++) {
            tdli_post *p = &ctx->controls[r]->posts[i];
            if (r == ctx->rank ||
                atomic_load_explicit(&p->sequence, memory_order_acquire) <= job->collectives ||
                atomic_load_explicit(&p->launches, memory_order_relaxed) >= job->frame.epoch)
                continue;
            char buffer[TDLI_REPORT];
            tdli_text t = {buffer, sizeof buffer, 0};
            begin(&t, job);
            tdli_text_add(&t, "rank %d makes a collective call where this rank launches a kernel", r);
            text_place(&t, job, -1, -1);
            tdli_text_add(&t, "\n  rank %d: %.*s", r, TDLI_TEXT - 1, p->text);
            tdli_abort_all(ctx, TDL_MISMATCH, job->order, buffer);
            return 1;
        }
    return 0;
}
