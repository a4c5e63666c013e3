/* cuda_module.c: from the images of an object to an entry that can be launched. Of the images, the one made for this
 * GPU is taken; where the driver refuses one (PTX newer than it knows, say), the next best:
 *     on sm_90, of {PTX 80, cubin 80, cubin 90, cubin 90a, PTX 90}:  cubin 90a, cubin 90, PTX 90, PTX 80
 * Several kernels of an object share images, so a context keeps its modules and knows them by content. */
#include "cuda_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which image --------------------------------------------------------------------------------------- */
/* Higher is better, negative: does not run here. A cubin runs on later GPUs of its generation, PTX on all later ones. */
static int merit(const tdl_image *image, int arch) {
    int exact = image->arch == arch;
    switch ((tdl_image_kind)image->kind) {
    case TDL_IMAGE_CUBIN:
        if (image->specific) return exact ? 4000 : -1;
        return image->arch / 10 == arch / 10 && image->arch <= arch ? 3000 + image->arch : -1;
    case TDL_IMAGE_PTX:
        if (image->specific) return exact ? 2000 : -1;
        return image->arch <= arch ? 1000 + image->arch : -1;
    }
    return -1;
}

int tdli_cuda_choose(const tdl_image *images, int n, int arch, uint64_t tried) {
    int best = -1;
    for (int i = 0; i < n && i < 64; i++) {
        if (tried >> i & 1 || merit(&images[i], arch) < 0) continue;
        if (best < 0 || merit(&images[i], arch) > merit(&images[best], arch)) best = i;
    }
    return best;
}

static void describe(tdli_text *t, const tdl_image *image) {
    tdli_text_add(t, "%s sm_%d%s", image->kind == TDL_IMAGE_PTX ? "PTX" : "cubin", image->arch,
                  image->specific ? "a" : "");
}

static tdl_status no_image(tdl_ctx *ctx, const tdl_kernel *kernel) {
    char names[512];
    tdli_text t = {names, sizeof names, 0};
    for (int i = 0; i < kernel->n_images; i++) {
        if (i) tdli_text_add(&t, ", ");
        describe(&t, &kernel->images[i]);
    }
    return tdli_fail(
        ctx, TDL_DEVICE_ERROR,
        "kernel `%s`: the object has device code for %s, none of which runs on `cuda:%d`, a %s (sm_%d): "
        "compile with --arch=sm_%d",
        kernel->name, names, ctx->cuda->ordinal, ctx->cuda->name, ctx->cuda->arch, ctx->cuda->arch);
}

/* ---- Loading ------------------------------------------------------------------------------------------- */
/* Another image of the object may fare better. */
static int refuses_image(tdlcu_result r) {
    return r == TDL_CUDA_ERROR_INVALID_IMAGE || r == TDL_CUDA_ERROR_NO_BINARY_FOR_GPU ||
           r == TDL_CUDA_ERROR_INVALID_PTX || r == TDL_CUDA_ERROR_JIT_COMPILER_NOT_FOUND ||
           r == TDL_CUDA_ERROR_UNSUPPORTED_PTX_VERSION || r == TDL_CUDA_ERROR_JIT_COMPILATION_DISABLED;
}

static tdlcu_result load(tdl_ctx *ctx, const tdl_kernel *kernel, const tdl_image *image, tdlcu_module *module,
                         tdl_status *status) {
    enum { LOG = 2048 };
    char info[LOG] = "", errors[LOG] = "", what[64];
    unsigned options[] = {TDL_CU_JIT_INFO_LOG_BUFFER, TDL_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                          TDL_CU_JIT_ERROR_LOG_BUFFER, TDL_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {info, (void *)(uintptr_t)LOG, errors, (void *)(uintptr_t)LOG};
    tdli_text t = {what, sizeof what, 0};
    describe(&t, image);
    tdlcu_result r = ctx->cuda->driver.cuModuleLoadDataEx(module, image->data, 4, options, values);
    info[LOG - 1] = errors[LOG - 1] = 0;
    *status = tdlcu_check(ctx, &ctx->cuda->driver, r, "cuModuleLoadDataEx", "%s of kernel `%s`%s%s", what,
                          kernel->name, errors[0] ? ", which says: " : "", errors);
    if (!r && info[0]) tdli_cuda_say(ctx, "%s of kernel `%s`: %s", what, kernel->name, info);
    if (r) tdli_cuda_say(ctx, "%s", ctx->error);
    return r;
}

static tdl_status add_module(tdl_ctx *ctx, const tdl_image *image, uint64_t hash, tdlcu_module handle,
                             tdli_cuda_module **out) {
    tdli_cuda_module *m = calloc(1, sizeof *m);
    if (!m) {
        ctx->cuda->driver.cuModuleUnload(handle);
        return tdli_fail_system(ctx, ENOMEM, "a module");
    }
    *m = (tdli_cuda_module){handle, image, hash, ctx->cuda->modules};
    *out = ctx->cuda->modules = m;
    return TDL_OK;
}

/* The first refusal is the one to report: it is that of the image meant for this GPU. */
static tdl_status find_module(tdl_ctx *ctx, const tdl_kernel *kernel, tdli_cuda_module **out) {
    uint64_t tried = 0;
    char first[TDLI_ERROR_BYTES] = "";
    for (;;) {
        int i = tdli_cuda_choose(kernel->images, kernel->n_images, ctx->cuda->arch, tried);
        if (i < 0) return tried ? tdli_fail(ctx, TDL_DEVICE_ERROR, "%s", first) : no_image(ctx, kernel);
        const tdl_image *image = &kernel->images[i];
        uint64_t hash = tdli_hash((uint64_t)image->bytes, image->data, (size_t)image->bytes);
        for (tdli_cuda_module *m = ctx->cuda->modules; m; m = m->next)
            if (m->hash == hash) {
                *out = m;
                return TDL_OK;
            }
        tdlcu_module handle;
        tdl_status s;
        tdlcu_result r = load(ctx, kernel, image, &handle, &s);
        if (!r) return add_module(ctx, image, hash, handle, out);
        if (!refuses_image(r)) return s;
        if (!tried) memcpy(first, ctx->error, sizeof first);
        tried |= (uint64_t)1 << i;
    }
}

void tdli_cuda_unload_all(tdl_ctx *ctx) {
    while (ctx->cuda->modules) {
        tdli_cuda_module *m = ctx->cuda->modules;
        ctx->cuda->modules = m->next;
        ctx->cuda->driver.cuModuleUnload(m->handle);
        free(m);
    }
}

/* ---- The entry ----------------------------------------------------------------------------------------- */
/* The variable ENTRY_dynamic_shared; 0 if there is none. */
static tdl_status read_dynamic_shared(tdl_ctx *ctx, const tdli_cuda_module *m, const char *entry,
                                      int *bytes) {
    char name[512];
    tdli_text t = {name, sizeof name, 0};
    tdli_text_add(&t, "%s_dynamic_shared", entry);
    tdlcu_ptr at = 0;
    size_t size = 0;
    uint32_t value = 0;
    *bytes = 0;
    tdlcu_result r = ctx->cuda->driver.cuModuleGetGlobal(&at, &size, m->handle, name);
    if (r == TDL_CUDA_ERROR_NOT_FOUND) return TDL_OK;
    tdl_status s = tdlcu_check(ctx, &ctx->cuda->driver, r, "cuModuleGetGlobal", "`%s`", name);
    if (!s && size != sizeof value)
        s = tdli_fail(ctx, TDL_INTERNAL_ERROR, "`%s` has %zu bytes instead of 4", name, size);
    if (!s) s = tdli_cuda_read(ctx, &value, at, sizeof value, name);
    if (!s && value > INT32_MAX) s = tdli_fail(ctx, TDL_INTERNAL_ERROR, "`%s` is %u", name, (unsigned)value);
    if (!s) *bytes = (int)value;
    return s;
}

static tdl_status function_attribute(tdl_ctx *ctx, tdlcu_function f, unsigned which, const char *entry,
                                     int *value) {
    return TDLI_CUDA(ctx, cuFuncGetAttribute, (value, which, f), "attribute %u of `%s`", which, entry);
}

static void say_facts(const tdl_ctx *ctx, const tdli_known *k, const tdli_cuda_module *m,
                      const tdli_cuda_entry *e, int registers, int local, int shared) {
    char what[64];
    tdli_text t = {what, sizeof what, 0};
    describe(&t, m->image);
    tdli_cuda_say(
        ctx,
        "kernel `%s` (plan `%s`), %s: %d threads, %d registers, %d bytes of shared memory and %d dynamic, "
        "%d blocks on %d SMs%s",
        k->kernel->name, k->plan->name, what, e->threads, registers, shared, e->dynamic_shared, e->blocks,
        ctx->cuda->sms, local ? "" : ", no local memory");
    if (local)
        tdli_cuda_say(
            ctx,
            "kernel `%s` (plan `%s`): %d bytes of local memory per thread: registers were spilled, or an "
            "array is indexed at run time",
            k->kernel->name, k->plan->name, local);
}

/* Loads the code, finds out how many blocks are resident at a time, and leaves nothing for the first launch to load. */
static tdl_status load_entry(tdl_ctx *ctx, tdli_known *k, tdli_cuda_entry *e) {
    const char *entry = k->plan->device_entry;
    tdli_cuda_module *m = NULL;
    tdlcu_function f;
    int registers = 0, local = 0, shared = 0, per_sm = 0;
    tdl_status s = find_module(ctx, k->kernel, &m);
    if (!s) s = TDLI_CUDA(ctx, cuModuleGetFunction, (&f, m->handle, entry), "`%s`", entry);
    if (!s && ctx->cuda->driver.cuFuncLoad) s = TDLI_CUDA(ctx, cuFuncLoad, (f), "`%s`", entry);
    if (!s) s = function_attribute(ctx, f, TDL_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, entry, &e->threads);
    if (!s) s = function_attribute(ctx, f, TDL_CU_FUNC_ATTRIBUTE_NUM_REGS, entry, &registers);
    if (!s) s = function_attribute(ctx, f, TDL_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, entry, &local);
    if (!s) s = function_attribute(ctx, f, TDL_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, entry, &shared);
    if (!s) s = read_dynamic_shared(ctx, m, entry, &e->dynamic_shared);
    if (!s && e->dynamic_shared)
        s = TDLI_CUDA(ctx, cuFuncSetAttribute,
                      (f, TDL_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, e->dynamic_shared),
                      "%d bytes of dynamic shared memory for `%s`", e->dynamic_shared, entry);
    if (!s)
        s = TDLI_CUDA(ctx, cuOccupancyMaxActiveBlocksPerMultiprocessor,
                      (&per_sm, f, e->threads, (size_t)e->dynamic_shared), "`%s`, %d threads", entry,
                      e->threads);
    if (s) return s;
    if (per_sm < 1)
        return tdli_fail(ctx, TDL_DEVICE_ERROR,
                         "kernel `%s` (plan `%s`): no block of %d threads, %d registers each and %d bytes of "
                         "shared memory "
                         "fits an SM of `cuda:%d` (%s)",
                         k->kernel->name, k->plan->name, e->threads, registers, shared + e->dynamic_shared,
                         ctx->cuda->ordinal, ctx->cuda->name);
    e->blocks = per_sm * ctx->cuda->sms;
    e->function = f;
    say_facts(ctx, k, m, e, registers, local, shared);
    return TDL_OK;
}

/* Workspaces are sized by what runs here at a time, so their number is nothing that ranks agree on. */
static tdl_status grow_workspaces(tdl_ctx *ctx, const tdli_known *k) {
    int64_t bytes;
    if (__builtin_mul_overflow((k->needs.workspace + TDLI_ALIGN - 1) / TDLI_ALIGN * TDLI_ALIGN,
                               k->cuda->blocks, &bytes))
        bytes = INT64_MAX / 2;
    return tdli_cuda_grow(ctx, &ctx->cuda->workspaces, bytes);
}

tdl_status tdli_cuda_load(tdl_ctx *ctx, tdli_known *k) {
    tdl_status s = tdli_usable(ctx, k->kernel);
    if (!s) s = tdli_cuda_enter(ctx);
    if (s) return s;
    if (!k->cuda->function) s = load_entry(ctx, k, k->cuda);
    if (!s) s = grow_workspaces(ctx, k);
    tdli_cuda_leave(ctx);
    return s;
}

/* ---- What is kept of a kernel -------------------------------------------------------------------------- */
tdl_status tdli_cuda_remember(tdl_ctx *ctx, tdli_known *k) {
    int words = TDL_DEVICE_HEADER + k->job_words - k->n_raw + ctx->ranks;
    if (words > TDL_DEVICE_MAX_WORDS)
        return tdli_fail(ctx, TDL_DEVICE_ERROR,
                         "kernel `%s` (plan `%s`) has %d words of parameters, %d fit a GPU", k->kernel->name,
                         k->plan->name, words, TDL_DEVICE_MAX_WORDS);
    tdli_cuda_entry *e = k->cuda = calloc(1, sizeof *e);
    if (e) e->shapes.words = calloc((size_t)(TDLI_CUDA_SHAPES * k->shape_words + 1), sizeof *e->shapes.words);
    if (!e || !e->shapes.words) return tdli_fail_system(ctx, ENOMEM, "kernel `%s`", k->kernel->name);
    e->number = ++ctx->cuda->entries;
    return TDL_OK;
}

void tdli_cuda_forget(tdli_known *k) {
    if (k->cuda) free(k->cuda->shapes.words);
    free(k->cuda);
}
