/* cuda_memory.c: device memory of a context (cuda_device.h): addresses reserved once, memory mapped behind what is
 * mapped already:
 *     joins, 5000 bytes needed, 2 MiB mapped  ->  nothing            3 MiB needed  ->  2 MiB more, zeroed, at + 2 MiB */
#include "cuda_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t round_up(int64_t bytes, int64_t grain) {
    return (bytes + grain - 1) / grain * grain;
}

static tdlcu_prop properties(const tdl_ctx *ctx) {
    tdlcu_prop p;
    memset(&p, 0, sizeof p);
    p.type = TDL_CU_MEM_ALLOCATION_TYPE_PINNED;
    p.requestedHandleTypes = TDL_CU_MEM_HANDLE_TYPE_NONE;
    p.location = (tdlcu_location){TDL_CU_MEM_LOCATION_TYPE_DEVICE, ctx->cuda->device};
    return p;
}

/* ---- Mappings ------------------------------------------------------------------------------------------ */
static tdl_status make_room(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    if (c->n_chunks < c->chunk_room) return TDL_OK;
    int room = c->chunk_room ? 2 * c->chunk_room : 16;
    tdli_cuda_chunk *more = realloc(c->chunks, sizeof *more * (size_t)room);
    if (!more) return tdli_fail_system(ctx, ENOMEM, "a list of device memory");
    c->chunks = more;
    c->chunk_room = room;
    return TDL_OK;
}

static tdl_status make_visible(tdl_ctx *ctx, tdlcu_ptr at, int64_t bytes, const char *what) {
    tdli_cuda *c = ctx->cuda;
    tdlcu_access access = {{TDL_CU_MEM_LOCATION_TYPE_DEVICE, c->device},
                           TDL_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    tdl_status s = TDLI_CUDA(ctx, cuMemSetAccess, (at, (size_t)bytes, &access, 1), "%s", what);
    if (!s) s = TDLI_CUDA(ctx, cuMemsetD8Async, (at, 0, (size_t)bytes, c->stream), "%s", what);
    if (!s) s = TDLI_CUDA(ctx, cuStreamSynchronize, (c->stream), "zeroing %s", what);
    return s;
}

/* The memory lives as long as the mapping. */
static tdl_status map(tdl_ctx *ctx, tdlcu_ptr at, int64_t bytes, const char *what) {
    tdli_cuda *c = ctx->cuda;
    tdlcu_prop prop = properties(ctx);
    tdlcu_memory memory;
    tdl_status s = make_room(ctx);
    if (!s)
        s = TDLI_CUDA(ctx, cuMemCreate, (&memory, (size_t)bytes, &prop, 0), "%lld bytes for %s",
                      (long long)bytes, what);
    if (s) return s;
    s = TDLI_CUDA(ctx, cuMemMap, (at, (size_t)bytes, 0, memory, 0), "%lld bytes for %s", (long long)bytes,
                  what);
    int mapped = !s;
    if (mapped)
        s = TDLI_CUDA(ctx, cuMemRelease, (memory), "%s", what);
    else
        c->driver.cuMemRelease(memory);
    if (!s) s = make_visible(ctx, at, bytes, what);
    if (!s)
        c->chunks[c->n_chunks++] = (tdli_cuda_chunk){at, bytes};
    else if (mapped)
        c->driver.cuMemUnmap(at, (size_t)bytes);
    return s;
}

tdl_status tdli_cuda_grow(tdl_ctx *ctx, tdli_cuda_area *area, int64_t bytes) {
    int64_t needed = round_up(bytes, ctx->cuda->grain);
    if (needed <= area->mapped) return TDL_OK;
    if (needed > area->room)
        return tdli_fail(ctx, TDL_OUT_OF_MEMORY, "%lld bytes for %s on a GPU: there is room for %lld",
                         (long long)bytes, area->name, (long long)area->room);
    tdl_status s = map(ctx, area->base + (tdlcu_ptr)area->mapped, needed - area->mapped, area->name);
    if (!s) area->mapped = needed;
    return s;
}

/* ---- Addresses ----------------------------------------------------------------------------------------- */
tdlcu_ptr tdli_cuda_heap(const tdl_ctx *ctx, int rank) {
    return ctx->cuda->reserved[0] + (tdlcu_ptr)(ctx->zones.bytes * rank);
}

/* The zones of heap.h, at multiples of what can be mapped. */
static void place_zones(tdl_ctx *ctx) {
    tdli_zones *z = &ctx->zones;
    int64_t grain = ctx->cuda->grain;
    z->bytes = round_up(z->bytes, grain);
    if (z->bytes < 4 * grain) z->bytes = 4 * grain;
    z->buffers = round_up(z->flags + z->bytes / 16, grain);
    z->low = z->bytes;
}

static void place_areas(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    const tdli_zones *z = &ctx->zones;
    tdlcu_ptr heap = tdli_cuda_heap(ctx, ctx->rank);
    c->flags = (tdli_cuda_area){"flags", heap, z->buffers, 0};
    c->buffers = (tdli_cuda_area){"buffers of peers", heap + (tdlcu_ptr)z->buffers, z->bytes - z->buffers, 0};
    c->counters = (tdli_cuda_area){"joins", c->reserved[1], c->reserved_bytes[1], 0};
    c->local = (tdli_cuda_area){"scratch", c->reserved[2], c->reserved_bytes[2], 0};
    c->workspaces = (tdli_cuda_area){"workspaces", c->reserved[3], c->reserved_bytes[3], 0};
}

tdl_status tdli_cuda_reserve(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    tdlcu_prop prop = properties(ctx);
    size_t grain = 0, memory = 0;
    tdl_status s = TDLI_CUDA(ctx, cuMemGetAllocationGranularity,
                             (&grain, &prop, TDL_CU_MEM_ALLOC_GRANULARITY_MINIMUM), "`cuda:%d`", c->ordinal);
    if (!s) s = TDLI_CUDA(ctx, cuDeviceTotalMem, (&memory, c->device), "`cuda:%d`", c->ordinal);
    if (s) return s;
    c->grain = grain > TDLI_CUDA_COUNTERS ? (int64_t)grain : TDLI_CUDA_COUNTERS;
    place_zones(ctx);
    for (int i = 0; !s && i < 4; i++) {
        int64_t bytes = i ? round_up((int64_t)memory, c->grain) : ctx->zones.bytes * ctx->ranks;
        s = TDLI_CUDA(ctx, cuMemAddressReserve, (&c->reserved[i], (size_t)bytes, 0, 0, 0),
                      "%lld bytes of addresses%s", (long long)bytes,
                      i ? "" : " for heaps (option `heap_bytes`)");
        if (!s) c->reserved_bytes[i] = bytes;
    }
    if (s) return s;
    place_areas(ctx);
    s = tdli_cuda_grow(ctx, &c->flags, (int64_t)sizeof(tdl_device_heap));
    return s ? s : tdli_cuda_grow(ctx, &c->counters, TDLI_CUDA_COUNTERS);
}

void tdli_cuda_unreserve(tdl_ctx *ctx) {
    tdli_cuda *c = ctx->cuda;
    for (int i = 0; i < c->n_chunks; i++) c->driver.cuMemUnmap(c->chunks[i].at, (size_t)c->chunks[i].bytes);
    for (int i = 0; i < 4; i++)
        if (c->reserved_bytes[i]) c->driver.cuMemAddressFree(c->reserved[i], (size_t)c->reserved_bytes[i]);
    free(c->chunks);
}

/* ---- What the rest of the runtime asks for ------------------------------------------------------------- */
tdl_status tdli_cuda_enlarge(tdl_ctx *ctx, const tdli_needs *n) {
    tdli_cuda *c = ctx->cuda;
    tdl_status s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = tdli_cuda_grow(ctx, &c->flags, ctx->zones.flags + 8 * n->flags);
    if (!s) s = tdli_cuda_grow(ctx, &c->counters, TDLI_CUDA_COUNTERS + 8 * n->joins);
    if (!s) s = tdli_cuda_grow(ctx, &c->local, n->local);
    if (!s) s = tdli_cuda_grow(ctx, &c->buffers, n->buffers);
    tdli_cuda_leave(ctx);
    return s;
}

tdl_status tdli_cuda_back(tdl_ctx *ctx, int64_t offset, int64_t bytes) {
    tdl_status s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = map(ctx, tdli_cuda_heap(ctx, ctx->rank) + (tdlcu_ptr)offset, bytes, "tdl_alloc");
    tdli_cuda_leave(ctx);
    return s;
}

tdl_status tdli_cuda_unback(tdl_ctx *ctx, int64_t offset) {
    tdli_cuda *c = ctx->cuda;
    tdlcu_ptr at = tdli_cuda_heap(ctx, ctx->rank) + (tdlcu_ptr)offset;
    int i = 0;
    while (i < c->n_chunks && c->chunks[i].at != at) i++;
    if (i == c->n_chunks) return tdli_fail(ctx, TDL_INTERNAL_ERROR, "tdl_free: memory without a mapping");
    tdl_status s = tdli_cuda_enter(ctx);
    if (s) return s;
    s = TDLI_CUDA(ctx, cuMemUnmap, (at, (size_t)c->chunks[i].bytes), "tdl_free");
    tdli_cuda_leave(ctx);
    if (!s) c->chunks[i] = c->chunks[--c->n_chunks];
    return s;
}

tdl_status tdli_cuda_read(tdl_ctx *ctx, void *to, tdlcu_ptr from, size_t bytes, const char *what) {
    tdli_cuda *c = ctx->cuda;
    tdl_status s = TDLI_CUDA(ctx, cuMemcpyDtoHAsync, (c->staging, from, bytes, c->stream), "%s", what);
    if (!s) s = TDLI_CUDA(ctx, cuStreamSynchronize, (c->stream), "reading %s", what);
    if (!s) memcpy(to, c->staging, bytes);
    return s;
}

tdl_status tdli_cuda_write(tdl_ctx *ctx, tdlcu_ptr to, const void *from, size_t bytes, const char *what) {
    tdli_cuda *c = ctx->cuda;
    memcpy(c->staging, from, bytes);
    tdl_status s = TDLI_CUDA(ctx, cuMemcpyHtoDAsync, (to, c->staging, bytes, c->stream), "%s", what);
    return s ? s : TDLI_CUDA(ctx, cuStreamSynchronize, (c->stream), "writing %s", what);
}
