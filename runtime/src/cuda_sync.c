/* cuda_sync.c: the end of launches on a GPU. Device code never stops with an error of the GPU: a wait that made no
 * progress fills in the report of the control block, and everything drains. Here this becomes the same text as on the
 * host (report.c). What remains are errors of the driver: those that end the GPU's context for the whole process
 * (an address nobody mapped, say) stay in our context, too; others belong to the call that met them. */
#include "cuda_device.h"

#include <stdio.h>
#include <string.h>

/* ---- Errors that stay ---------------------------------------------------------------------------------- */
static void stick(tdl_ctx *ctx, tdl_status s) {
    char text[TDLI_REPORT];
    tdli_text t = {text, sizeof text, 0};
    tdli_text_add(&t, "rank %d of %d: %s", ctx->rank, ctx->ranks, ctx->error);
    tdli_abort_all(ctx, s, ctx->order ? ctx->order : 1, text);
}

static tdl_status check_alive(tdl_ctx *ctx) {
    return TDLI_CUDA(ctx, cuStreamSynchronize, (ctx->cuda->stream), "`cuda:%d`", ctx->cuda->ordinal);
}

/* An error in ctx->error, from a call that waits: of the call, or of the GPU? */
static tdl_status sort_out(tdl_ctx *ctx, tdl_status s) {
    char text[TDLI_ERROR_BYTES];
    memcpy(text, ctx->error, sizeof text);
    int dead = check_alive(ctx) != TDL_OK;
    memcpy(ctx->error, text, sizeof text);
    if (dead) stick(ctx, s);
    return s;
}

/* ---- Reports of device code ---------------------------------------------------------------------------- */
static const tdli_known *find_kernel(const tdl_ctx *ctx, uint64_t tag) {
    const tdli_known *k = ctx->known;
    while (k && k->cuda->number != tag >> 32) k = k->next;
    return k;
}

static void report_nonsense(tdl_ctx *ctx, const tdl_device_control *c) {
    char text[TDLI_REPORT];
    tdli_text t = {text, sizeof text, 0};
    const tdl_device_report *r = &c->report;
    tdli_text_add(&t,
                  "rank %d of %d: device code ended launch %llu with a report that makes no sense (abort "
                  "%llu, tag %llx, "
                  "site %llu, ticket %llu, kind %llu, object %llu[%llu]): please report this bug of tdlc",
                  ctx->rank, ctx->ranks, (unsigned long long)r->epoch, (unsigned long long)c->abort,
                  (unsigned long long)r->tag, (unsigned long long)r->site, (unsigned long long)r->ticket,
                  (unsigned long long)r->kind, (unsigned long long)r->object, (unsigned long long)r->index);
    tdli_abort_all(ctx, TDL_INTERNAL_ERROR, ctx->order ? ctx->order : 1, text);
}

/* The launch of a report, as a job for report.c. Sizes are known for the last TDLI_CUDA_SHAPES ones of a kernel. */
static void make_job(tdl_ctx *ctx, const tdli_known *k, const tdl_device_report *r, tdli_job *job) {
    const tdli_cuda_shapes *shapes = &k->cuda->shapes;
    uint32_t age = shapes->last - (uint32_t)r->tag;
    size_t at = (uint32_t)r->tag % TDLI_CUDA_SHAPES;
    memset((void *)job, 0, sizeof *job);
    job->ctx = ctx;
    job->known = k;
    job->order = ctx->order ? ctx->order : 1;
    job->frame.epoch = r->epoch;
    if (age < TDLI_CUDA_SHAPES) {
        job->words = shapes->words + at * (size_t)k->shape_words;
        memcpy(job->text, shapes->text[at], sizeof job->text);
    } else {
        snprintf(job->text, sizeof job->text, "`%s` (plan `%s`)", k->kernel->name, k->plan->name);
    }
}

static void report(tdl_ctx *ctx, const tdl_device_control *c) {
    const tdl_device_report *r = &c->report;
    const tdli_known *k = find_kernel(ctx, r->tag);
    int is_join = r->kind == 1;
    uint64_t count = !k ? 0 : (uint64_t)(is_join ? k->plan->n_joins : k->plan->n_flags);
    if (r->kind > 1 || r->object >= count) {
        report_nonsense(ctx, c);
        return;
    }
    tdli_job job;
    make_job(ctx, k, r, &job);
    tdli_wait_info info = {is_join ? "join" : "flag",
                           is_join ? k->plan->joins[r->object].name : k->plan->flags[r->object].name,
                           (int64_t)r->index, r->expected, r->actual};
    tdli_report_timeout(&job, &info, (int64_t)r->site, job.words ? (int64_t)r->ticket : -1,
                        ctx->set.timeout_ms);
}

/* After the launches have ended; a graph may have made some that were not counted. */
static tdl_status read_control(tdl_ctx *ctx) {
    tdl_device_control c;
    if (!ctx->cuda->launched && !ctx->cuda->captured) return TDL_OK;
    tdl_status s = tdli_cuda_read(ctx, &c, ctx->cuda->counters.base, sizeof c, "the control block");
    if (s) return sort_out(ctx, s);
    if (c.epoch > tdli_last(ctx)) {
        atomic_store_explicit(&ctx->mine->called, c.epoch, memory_order_release);
        atomic_store_explicit(&ctx->called, c.epoch, memory_order_release);
    }
    atomic_store_explicit(&ctx->finished, tdli_last(ctx), memory_order_release);
    if (c.abort && !tdli_aborted(ctx, UINT64_MAX)) report(ctx, &c);
    return TDL_OK;
}

/* ---- Waiting ------------------------------------------------------------------------------------------- */
static tdl_status wait_for_launches(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    tdl_status s = TDL_OK;
    if (c->launched) s = TDLI_CUDA(ctx, cuEventSynchronize, (c->last), "waiting for the last launch");
    /* Graphs are launched without our knowing. */
    if (!s && c->captured) s = TDLI_CUDA(ctx, cuCtxSynchronize, (), "waiting for graphs");
    return s;
}

tdl_status tdli_cuda_wait(tdl_ctx *ctx) {
    tdl_status s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = wait_for_launches(ctx);
    if (!s) s = check_alive(ctx);
    tdli_cuda_leave(ctx);
    return s;
}

void tdli_cuda_drain(tdl_ctx *ctx) {
    tdl_status s = tdli_cuda_wait(ctx);
    /* The caller goes on to change memory; whoever asks whether the context may be used gets the error first. */
    if (s)
        stick(ctx, s);
    else
        atomic_store_explicit(&ctx->finished, tdli_last(ctx), memory_order_release);
}

static tdl_status wait_for_stream(tdl_ctx *ctx, void *stream) {
    unsigned state = TDL_CU_STREAM_CAPTURE_STATUS_NONE;
    tdl_status s = TDLI_CUDA(ctx, cuStreamIsCapturing, (stream, &state), "the stream of tdl_synchronize");
    if (!s && state != TDL_CU_STREAM_CAPTURE_STATUS_NONE)
        return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                         "tdl_synchronize: the stream records a graph: nothing runs in it");
    if (!s) s = TDLI_CUDA(ctx, cuStreamSynchronize, (stream), "tdl_synchronize");
    /* The other streams of this context; those with graphs are the user's to wait for. */
    if (!s && ctx->cuda->launched)
        s = TDLI_CUDA(ctx, cuEventSynchronize, (ctx->cuda->last), "waiting for the last launch");
    return s ? sort_out(ctx, s) : TDL_OK;
}

tdl_status tdli_cuda_synchronize(tdl_ctx *ctx, void *stream) {
    tdl_status s = tdli_usable(ctx, NULL);
    if (!s) s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = wait_for_stream(ctx, stream);
    if (!s) s = read_control(ctx);
    tdli_cuda_leave(ctx);
    return s ? s : tdli_usable(ctx, NULL);
}

tdl_status tdli_cuda_finish(tdl_ctx *ctx) {
    tdl_status s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = wait_for_launches(ctx);
    if (!s) s = read_control(ctx);
    tdli_cuda_leave(ctx);
    return s ? s : tdli_usable(ctx, NULL);
}

/* ---- Reset --------------------------------------------------------------------------------------------- */
tdl_status tdli_cuda_reset(tdl_ctx *ctx, uint64_t epoch) {
    tdli_cuda *c = ctx->cuda;
    tdl_device_control control;
    tdl_device_heap heap;
    memset(&control, 0, sizeof control);
    memset(&heap, 0, sizeof heap);
    control.epoch = epoch;
    for (int r = 0; r < ctx->ranks; r++) heap.done[r] = epoch;
    tdl_status s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = TDLI_CUDA(ctx, cuMemsetD8Async,
                  (c->counters.base, 0, (size_t)(TDLI_CUDA_COUNTERS + 8 * ctx->prepared.joins), c->stream),
                  "joins");
    if (!s) s = tdli_cuda_write(ctx, c->counters.base, &control, sizeof control, "the control block");
    if (!s) s = tdli_cuda_write(ctx, tdli_cuda_heap(ctx, ctx->rank), &heap, sizeof heap, "done flags");
    tdli_cuda_leave(ctx);
    return s;
}
