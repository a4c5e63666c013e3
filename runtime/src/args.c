/* args.c: reads and checks the arguments of a launch. Sizes and scalars come first; what follows from them (extents,
 * layout, fingerprint, description) is kept and only computed again when one of them has changed. Then tensors:
 * pointers, alignment, strides (0 becomes dense), overlap. Before/after, for A: bf16[M @ ranks, K] on 2 ranks:
 *     {.M = 5, .K = 8, .A = p, .A_stride = {0}}  ->  extents 5 8, strides 8 1, tensors p */
#include "context.h"

#include <inttypes.h>
#include <string.h>

int64_t tdli_elem_bytes(int elem) {
    switch ((tdl_elem)elem) {
    case TDL_BOOL:
    case TDL_I8:
    case TDL_F8E4M3:
    case TDL_F8E5M2: return 1;
    case TDL_F16:
    case TDL_BF16: return 2;
    case TDL_I32:
    case TDL_F32: return 4;
    case TDL_I64:
    case TDL_F64: return 8;
    }
    return 0;
}

/* ---- Sizes and scalars ------------------------------------------------------------------------------------- */
static void describe_scalar(tdli_text *t, const tdl_arg *a, uint64_t bits) {
    int32_t i32;
    float f32;
    double f64;
    switch ((tdl_elem)a->elem) {
    case TDL_BOOL: tdli_text_add(t, " %s=%s", a->name, bits ? "true" : "false"); return;
    case TDL_I8: tdli_text_add(t, " %s=%d", a->name, (int8_t)bits); return;
    case TDL_I32:
        memcpy(&i32, &bits, 4);
        tdli_text_add(t, " %s=%d", a->name, i32);
        return;
    case TDL_I64: tdli_text_add(t, " %s=%" PRId64, a->name, (int64_t)bits); return;
    case TDL_F16: tdli_text_add(t, " %s=%g", a->name, (double)tdl_f16_to_f32((tdl_f16)bits)); return;
    case TDL_BF16: tdli_text_add(t, " %s=%g", a->name, (double)tdl_bf16_to_f32((tdl_bf16)bits)); return;
    case TDL_F32:
        memcpy(&f32, &bits, 4);
        tdli_text_add(t, " %s=%g", a->name, (double)f32);
        return;
    case TDL_F64:
        memcpy(&f64, &bits, 8);
        tdli_text_add(t, " %s=%g", a->name, f64);
        return;
    case TDL_F8E4M3:
    case TDL_F8E5M2: tdli_text_add(t, " %s=0x%02x", a->name, (unsigned)bits & 0xff); return;
    }
}

static void describe(tdli_known *k) {
    tdli_text t = {k->text, sizeof k->text, 0};
    const int64_t *size = k->words, *scalar = k->words + k->scalars;
    tdli_text_add(&t, "`%s` (plan `%s`)", k->kernel->name, k->plan->name);
    for (int i = 0; i < k->kernel->n_args; i++) {
        const tdl_arg *a = &k->kernel->args[i];
        if (a->kind == TDL_ARG_SIZE) tdli_text_add(&t, " %s=%" PRId64, a->name, *size++);
        if (a->kind == TDL_ARG_SCALAR) describe_scalar(&t, a, (uint64_t)*scalar++);
    }
}

static uint64_t fingerprint(const tdli_known *k) {
    uint64_t h = tdli_hash(k->identity, k->plan->name, strlen(k->plan->name));
    h = tdli_hash(h, k->kernel->name, strlen(k->kernel->name));
    return tdli_hash(h, k->words, sizeof *k->words * (size_t)(k->n_sizes + k->n_scalars));
}

/* Copies sizes and scalars into words; returns 1 if any differs from what was there. */
static int take_values(tdli_known *k, const char *args) {
    int changed = 0;
    int64_t *size = k->words, *scalar = k->words + k->scalars;
    for (int i = 0; i < k->kernel->n_args; i++) {
        const tdl_arg *a = &k->kernel->args[i];
        int64_t value = 0, **to = a->kind == TDL_ARG_SIZE ? &size : &scalar;
        if (a->kind == TDL_ARG_TENSOR) continue;
        memcpy(&value, args + a->offset, (size_t)tdli_elem_bytes(a->elem)); /* little-endian: the low bytes */
        changed |= **to != value;
        *(*to)++ = value;
    }
    return changed;
}

static tdl_status check_sizes(tdl_ctx *ctx, const tdli_known *k) {
    const int64_t *size = k->words;
    for (int i = 0; i < k->kernel->n_args; i++) {
        const tdl_arg *a = &k->kernel->args[i];
        if (a->kind != TDL_ARG_SIZE) continue;
        if (*size < 0)
            return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                             "kernel `%s`: size `%s` is %" PRId64 ": 0 or more is allowed", k->kernel->name,
                             a->name, *size);
        size++;
    }
    return TDL_OK;
}

/* Extent of a dimension as stored on every rank: the block of a distributed one. */
static int64_t stored(const tdl_ctx *ctx, const tdl_arg *a, int dim, int64_t extent) {
    if (dim != a->dist_dim) return extent;
    int64_t block = extent / ctx->ranks + (extent % ctx->ranks != 0);
    return block < 1 ? 1 : block;
}

/* How many of them this rank has. */
static int64_t owned(const tdl_ctx *ctx, const tdl_arg *a, int dim, int64_t extent) {
    if (dim != a->dist_dim) return extent;
    int64_t count;
    tdl_shard(ctx, extent, NULL, &count, NULL);
    return count;
}

static tdl_status check_extents(tdl_ctx *ctx, const tdli_known *k) {
    const char *name = k->kernel->name;
    const int64_t *extent = k->extents;
    for (int i = 0; i < k->kernel->n_args; i++) {
        const tdl_arg *a = &k->kernel->args[i];
        int64_t bytes = tdli_elem_bytes(a->elem);
        int too_large = 0;
        for (int d = 0; d < a->ndims; d++, extent++) {
            if (*extent < 0)
                return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                                 "kernel `%s`: extent `%s` of `%s` is %" PRId64 ": 0 or more is allowed",
                                 name, a->extents[d], a->name, *extent);
            too_large |=
                *extent == INT64_MAX || __builtin_mul_overflow(bytes, stored(ctx, a, d, *extent), &bytes);
        }
        if (too_large)
            return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                             "kernel `%s`: tensor `%s` would have more than 2^63 bytes with these sizes",
                             name, a->name);
    }
    return TDL_OK;
}

tdl_status tdli_read_shape(tdl_ctx *ctx, tdli_known *k, const void *args) {
    const tdl_kernel *kernel = k->kernel;
    if (!args) return tdli_fail(ctx, TDL_BAD_ARGUMENT, "kernel `%s`: the arguments are NULL", kernel->name);
    if (!take_values(k, args) && k->valid) return TDL_OK;
    k->valid = 0;
    describe(k);
    tdl_status s = check_sizes(ctx, k);
    if (s) return s;
    tdl_shape shape = {ctx->ranks, ctx->rank, k->words, (const uint64_t *)(k->words + k->scalars)};
    int64_t failed = kernel->shape(&shape, k->extents);
    if (failed >= 0 && failed < kernel->n_requires)
        return tdli_fail(ctx, TDL_BAD_ARGUMENT, "%s:%d: kernel %s: `require %s` does not hold",
                         kernel->source, kernel->required[failed].line, k->text,
                         kernel->required[failed].text);
    s = check_extents(ctx, k);
    if (!s) s = tdli_lay_out(ctx, k);
    if (s) return s;
    k->fingerprint = fingerprint(k);
    k->valid = 1;
    return TDL_OK;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------- */
/* Element strides of all dimensions, from the last to the first. */
static tdl_status read_strides(tdl_ctx *ctx, const tdli_known *k, const tdl_arg *a, const char *args,
                               const int64_t *extent, int64_t *stride) {
    if (a->ndims) stride[a->ndims - 1] = 1;
    for (int d = a->ndims - 2; d >= 0; d--) {
        int64_t given = 0;
        if (a->stride_offset) memcpy(&given, args + a->stride_offset + 8 * d, sizeof given);
        if (given < 0)
            return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                             "kernel `%s`: `%s_stride[%d]` is %" PRId64 ": a number of elements, or 0 for "
                             "dense, is allowed",
                             k->kernel->name, a->name, d, given);
        stride[d] = given;
        if (!given && __builtin_mul_overflow(stride[d + 1], stored(ctx, a, d + 1, extent[d + 1]), &stride[d]))
            return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                             "kernel `%s`: the dense `%s_stride[%d]` does not fit 64 bits", k->kernel->name,
                             a->name, d);
    }
    return TDL_OK;
}

/* Pointer and strides of one tensor that has elements on this rank. */
static tdl_status check_tensor(tdl_ctx *ctx, const tdli_known *k, const tdl_arg *a, const char *base,
                               const int64_t *extent, const int64_t *stride, tdli_region *region) {
    const char *name = k->kernel->name;
    int64_t elem = tdli_elem_bytes(a->elem);
    tdli_dim dims[TDLI_MAX_DIMS];
    for (int d = 0; d < a->ndims; d++) dims[d] = (tdli_dim){owned(ctx, a, d, extent[d]), stride[d]};
    if (!base)
        return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                         "kernel `%s`: tensor `%s` is NULL, but this rank has elements of it", name, a->name);
    if ((uintptr_t)base % (uintptr_t)elem)
        return tdli_fail(
            ctx, TDL_BAD_ARGUMENT,
            "kernel `%s`: tensor `%s` is at %p: a multiple of %d bytes, the size of its elements, "
            "is allowed",
            name, a->name, (const void *)base, (int)elem);
    if (!tdli_region_of(base, elem, dims, a->ndims, region))
        return tdli_fail(ctx, TDL_BAD_ARGUMENT,
                         "kernel `%s`: tensor `%s` with its strides reaches beyond the address space", name,
                         a->name);
    if (region->self && a->mode != TDL_IN)
        return tdli_fail(
            ctx, TDL_BAD_ARGUMENT,
            "kernel `%s`: elements of `%s` overlap each other with these strides, but it is written", name,
            a->name);
    return TDL_OK;
}

static const tdl_arg *tensor_argument(const tdl_kernel *kernel, int index) {
    const tdl_arg *a = kernel->args;
    for (;; a++)
        if (a->kind == TDL_ARG_TENSOR && index-- == 0) return a;
}

static tdl_status check_overlaps(tdl_ctx *ctx, const tdli_known *k) {
    for (int i = 0; i < k->n_tensors; i++)
        for (int j = 0; j < i; j++) {
            const tdli_region *p = &k->regions[i], *q = &k->regions[j];
            if (!p->bytes || !q->bytes || !tdli_regions_overlap(p, q)) continue;
            const tdl_arg *a = tensor_argument(k->kernel, i), *b = tensor_argument(k->kernel, j);
            if (a->mode == TDL_IN && b->mode == TDL_IN) continue;
            const tdl_arg *written = a->mode == TDL_IN ? b : a;
            return tdli_fail(
                ctx, TDL_BAD_ARGUMENT,
                "kernel `%s`: tensors `%s` and `%s` overlap in memory, but `%s` is written: only "
                "tensors that are read may share memory",
                k->kernel->name, b->name, a->name, written->name);
        }
    return TDL_OK;
}

tdl_status tdli_read_tensors(tdl_ctx *ctx, tdli_known *k, const void *args) {
    const int64_t *extent = k->extents;
    int64_t *stride = k->words + k->strides;
    int n = 0;
    for (int i = 0; i < k->kernel->n_args; i++) {
        const tdl_arg *a = &k->kernel->args[i];
        if (a->kind != TDL_ARG_TENSOR) continue;
        const char *base;
        memcpy(&base, (const char *)args + a->offset, sizeof base);
        k->words[k->tensors + n] = (int64_t)(uintptr_t)base;
        tdl_status s = read_strides(ctx, k, a, args, extent, stride);
        int empty = 0;
        for (int d = 0; d < a->ndims; d++) empty |= owned(ctx, a, d, extent[d]) == 0;
        k->regions[n] = (tdli_region){0, 0, 0, 0, 0};
        if (!s && !empty) s = check_tensor(ctx, k, a, base, extent, stride, &k->regions[n]);
        if (s) return s;
        n++;
        extent += a->ndims;
        stride += a->ndims;
    }
    return check_overlaps(ctx, k);
}
