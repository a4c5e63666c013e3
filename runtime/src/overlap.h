/* overlap.h: which bytes a tensor touches, and whether two tensors may touch the same. */
#ifndef TDLI_OVERLAP_H
#define TDLI_OVERLAP_H

#include <stdint.h>

typedef struct tdli_region {
    uintptr_t base;
    int64_t bytes;       /* from base to the end of the last element */
    int64_t row, period; /* touches only [base + i * period, + row) for i >= 0; period 0: one row */
    int self;            /* 1: two of its own elements may share memory */
} tdli_region;

typedef struct tdli_dim {
    int64_t extent, stride;
} tdli_dim;

/* Extents > 0 and strides in elements. Returns 0 if 64 bits do not suffice. `dims` are reordered. */
int tdli_region_of(const void *base, int64_t elem_bytes, tdli_dim *dims, int n, tdli_region *);
/* Never 0 when they share a byte; may be 1 when they do not. */
int tdli_regions_overlap(const tdli_region *, const tdli_region *);

#endif
