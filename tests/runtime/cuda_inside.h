/* cuda_inside.h: what tests want to know of a context on a GPU, whose structs are C11 only. */
#ifndef CUDA_INSIDE_H
#define CUDA_INSIDE_H

#include "tdl/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuda_inside {
    uint64_t heap, control, joins, local, buffers, workspaces; /* addresses */
    uint64_t flags_offset, buffers_offset;                     /* in a heap */
    int64_t buffers_mapped, joins_mapped, local_mapped, workspaces_mapped;
} cuda_inside;
cuda_inside cuda_look_inside(const tdl_ctx *);

/* runtime/src/cuda_module.c */
int tdli_cuda_choose(const tdl_image *, int n, int arch, uint64_t tried);

#ifdef __cplusplus
}
#endif
#endif
