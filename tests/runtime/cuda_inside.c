/* cuda_inside.c: see cuda_inside.h. */
#include "cuda_device.h"

#include "cuda_inside.h"

cuda_inside cuda_look_inside(const tdl_ctx *ctx) {
    const tdli_cuda *c = ctx->cuda;
    return (cuda_inside){
        .heap = tdli_cuda_heap(ctx, ctx->rank),
        .control = c->counters.base,
        .joins = c->counters.base + TDLI_CUDA_COUNTERS,
        .local = c->local.base,
        .buffers = c->buffers.base,
        .workspaces = c->workspaces.base,
        .flags_offset = (uint64_t)ctx->zones.flags,
        .buffers_offset = (uint64_t)ctx->zones.buffers,
        .buffers_mapped = c->buffers.mapped,
        .joins_mapped = c->counters.mapped - TDLI_CUDA_COUNTERS,
        .local_mapped = c->local.mapped,
        .workspaces_mapped = c->workspaces.mapped,
    };
}
