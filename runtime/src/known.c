/* known.c: what a context remembers about each kernel. The first call with a kernel checks that library and machine
 * can run it, picks its plan and makes room for its arguments; later calls find it in a list. */
#include "cuda_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a, 64 bit, finished with a mixer: not for adversaries, but for mistakes. */
uint64_t tdli_hash(uint64_t seed, const void *data, size_t bytes) {
    const unsigned char *p = data;
    uint64_t h = seed ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

static tdl_status check_version(tdl_ctx *ctx, const tdl_kernel *kernel) {
    if (kernel->abi == TDL_ABI_VERSION) return TDL_OK;
    return tdli_fail(ctx, TDL_WRONG_VERSION,
                     "kernel `%s` was compiled for ABI %d, libtdl %s has ABI %d: compile it with the "
                     "tdlc of this library",
                     kernel->name, kernel->abi, tdl_version(), TDL_ABI_VERSION);
}

static tdl_status check_cpu(tdl_ctx *ctx, const tdl_kernel *kernel) {
    if (kernel->cpu_level <= 0) return TDL_OK;
    int level = tdli_cpu_level();
    if (kernel->cpu_level <= level) return TDL_OK;
    if (!level)
        return tdli_fail(ctx, TDL_DEVICE_ERROR,
                         "kernel `%s` was compiled for x86-64, which this processor is not", kernel->name);
    return tdli_fail(ctx, TDL_DEVICE_ERROR,
                     "kernel `%s` was compiled for x86-64-v%d, this processor offers x86-64-v%d: compile "
                     "with a lower --cpu",
                     kernel->name, kernel->cpu_level, level);
}

static tdl_status check_code(tdl_ctx *ctx, const tdl_kernel *kernel, const tdl_plan *plan) {
    if (ctx->cuda ? plan->device_entry && kernel->n_images > 0 : plan->run != NULL) return TDL_OK;
    return tdli_fail(
        ctx, TDL_DEVICE_ERROR,
        "the object has no code of kernel `%s`, plan `%s`, for %s: compile with --target=%s",
        kernel->name, plan->name, ctx->cuda ? "CUDA" : "the host", ctx->cuda ? "cuda" : "host");
}

static tdl_status pick_plan(tdl_ctx *ctx, const tdl_kernel *kernel, const tdl_plan **plan) {
    *plan = kernel->plans;
    if (kernel->n_plans < 1)
        return tdli_fail(ctx, TDL_INTERNAL_ERROR, "kernel `%s` has no plan", kernel->name);
    if (!ctx->set.plan[0]) return check_code(ctx, kernel, *plan);
    for (int i = 0; i < kernel->n_plans; i++)
        if (!strcmp(kernel->plans[i].name, ctx->set.plan)) {
            *plan = &kernel->plans[i];
            return check_code(ctx, kernel, *plan);
        }
    char names[512];
    tdli_text t = {names, sizeof names, 0};
    for (int i = 0; i < kernel->n_plans; i++)
        tdli_text_add(&t, "%s`%s`", i ? ", " : "", kernel->plans[i].name);
    return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                     "kernel `%s` has no plan `%s` (option `plan` or TDL_PLAN): it has %s", kernel->name,
                     ctx->set.plan, names);
}

static void count_arguments(tdli_known *k) {
    for (int i = 0; i < k->kernel->n_args; i++) {
        const tdl_arg *a = &k->kernel->args[i];
        switch ((tdl_arg_kind)a->kind) {
        case TDL_ARG_SIZE: k->n_sizes++; break;
        case TDL_ARG_SCALAR: k->n_scalars++; break;
        case TDL_ARG_TENSOR: k->n_tensors++, k->n_dims += a->ndims; break;
        }
    }
    const tdl_plan *p = k->plan;
    k->n_raw = p->n_buffers + p->n_flags + p->n_joins + 1;
    for (int i = 0; i < p->n_tasks; i++) k->n_raw += p->tasks[i].ncoords;
    k->scalars = k->n_sizes;
    k->raw = k->scalars + k->n_scalars;
    k->buffers = k->raw + k->n_raw;
    k->flags = k->buffers + p->n_buffers;
    k->joins = k->flags + p->n_flags;
    k->shape_words = k->tensors = k->joins + p->n_joins;
    k->strides = k->tensors + k->n_tensors;
    k->job_words = k->strides + k->n_dims;
}

static tdl_status check_dims(tdl_ctx *ctx, const tdl_kernel *kernel) {
    for (int i = 0; i < kernel->n_args; i++)
        if (kernel->args[i].ndims > TDLI_MAX_DIMS)
            return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                             "kernel `%s`: tensor `%s` has %d dimensions: at most %d are allowed",
                             kernel->name, kernel->args[i].name, kernel->args[i].ndims, TDLI_MAX_DIMS);
    return TDL_OK;
}

/* Every job must hold any kernel's arguments, because launches do not allocate. */
static tdl_status widen_jobs(tdl_ctx *ctx, int words) {
    if (ctx->cuda || ctx->jobs[TDLI_JOBS - 1].room >= words) return TDL_OK; /* no jobs on a GPU */
    tdli_drain(ctx);
    for (int i = 0; i < TDLI_JOBS; i++) {
        int64_t *more = realloc(ctx->jobs[i].words, sizeof *more * (size_t)words);
        if (!more) return tdli_fail_system(ctx, ENOMEM, "room for the arguments of launches");
        ctx->jobs[i].words = more;
        ctx->jobs[i].room = words;
    }
    return TDL_OK;
}

static void forget(tdli_known *k) {
    free(k->words);
    free(k->extents);
    free(k->regions);
    free(k->probe);
    tdli_cuda_forget(k);
    free(k);
}

static tdl_status remember(tdl_ctx *ctx, const tdl_kernel *kernel, const tdl_plan *plan, tdli_known **out) {
    tdli_known *k = calloc(1, sizeof *k);
    if (!k) return tdli_fail_system(ctx, ENOMEM, "kernel `%s`", kernel->name);
    k->kernel = kernel;
    k->identity = kernel->identity;
    k->plan = plan;
    count_arguments(k);
    k->words = calloc((size_t)k->job_words + 1, sizeof *k->words); /* + 1: never a request for nothing */
    k->extents = calloc((size_t)k->n_dims + 1, sizeof *k->extents);
    k->regions = calloc((size_t)k->n_tensors + 1, sizeof *k->regions);
    k->probe = calloc((size_t)k->n_raw, sizeof *k->probe);
    tdl_status s = TDL_OK;
    if (!k->words || !k->extents || !k->regions || !k->probe)
        s = tdli_fail_system(ctx, ENOMEM, "kernel `%s`", kernel->name);
    if (!s && ctx->cuda) s = tdli_cuda_remember(ctx, k);
    if (!s) s = widen_jobs(ctx, k->job_words);
    if (s) {
        forget(k);
        return s;
    }
    k->next = ctx->known;
    *out = ctx->known = k;
    return TDL_OK;
}

tdl_status tdli_know(tdl_ctx *ctx, const tdl_kernel *kernel, tdli_known **out) {
    for (tdli_known *k = ctx->known; k; k = k->next)
        if (k->kernel == kernel && k->identity == kernel->identity) {
            *out = k;
            return TDL_OK;
        }
    const tdl_plan *plan;
    tdl_status s = check_version(ctx, kernel);
    if (!s) s = check_cpu(ctx, kernel);
    if (!s) s = check_dims(ctx, kernel);
    if (!s) s = pick_plan(ctx, kernel, &plan);
    return s ? s : remember(ctx, kernel, plan, out);
}

void tdli_forget_all(tdl_ctx *ctx) {
    while (ctx->known) {
        tdli_known *k = ctx->known;
        ctx->known = k->next;
        forget(k);
    }
    for (int i = 0; i < TDLI_JOBS; i++) free(ctx->jobs[i].words);
}
