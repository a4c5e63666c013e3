/* overlap.c: may two tensors touch the same byte? Exact for dense tensors and for the usual interleavings (column
 * blocks of one buffer, heads inside rows); a "maybe" counts as yes. Example, elements of 4 bytes:
 *     Q: rows of 8, row stride 24, at byte 0     touches [0, 32)  + 96 i
 *     K: rows of 8, row stride 24, at byte 32    touches [32, 64) + 96 i      disjoint, though their ranges overlap */
#include "overlap.h"

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static void sort_by_stride(tdli_dim *d, int n) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && d[j].stride < d[j - 1].stride; j--) {
            tdli_dim t = d[j];
            d[j] = d[j - 1];
            d[j - 1] = t;
        }
}

int tdli_region_of(const void *base, int64_t elem, tdli_dim *d, int n, tdli_region *out) {
    sort_by_stride(d, n);
    *out = (tdli_region){(uintptr_t)base, elem, elem, 0, 0};
    int contiguous = 1;
    for (int i = 0; i < n; i++) {
        int64_t stride, reach;
        if (d[i].extent <= 1) continue;
        if (__builtin_mul_overflow(d[i].stride, elem, &stride) ||
            __builtin_mul_overflow(d[i].extent - 1, stride, &reach))
            return 0;
        if (stride < out->bytes) out->self = 1;
        /* A dimension whose step is the row so far makes a longer row; from the first gap on, rows repeat. */
        contiguous = contiguous && stride == out->row;
        if (!contiguous) out->period = gcd(stride, out->period);
        if (__builtin_add_overflow(out->bytes, reach, &out->bytes)) return 0;
        if (contiguous) out->row = out->bytes;
    }
    uintptr_t end;
    return !__builtin_add_overflow(out->base, (uintptr_t)out->bytes, &end);
}

int tdli_regions_overlap(const tdli_region *a, const tdli_region *b) {
    if (a->base > b->base) {
        const tdli_region *t = a;
        a = b;
        b = t;
    }
    uintptr_t distance = b->base - a->base;
    if (distance >= (uintptr_t)a->bytes) return 0;
    int64_t period = gcd(a->period, b->period);
    if (!period) return 1;
    int64_t d = (int64_t)(distance % (uintptr_t)period);
    return a->row > d || d > period - b->row;
}
