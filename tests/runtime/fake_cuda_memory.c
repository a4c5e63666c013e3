/* fake_cuda_memory.c: the calls of the fake driver (fake_cuda.h) about memory, which is the process's own. */
#include "fake_cuda_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Memory -------------------------------------------------------------------------------------------- */
tdlcu_result cuMemGetAllocationGranularity(size_t *bytes, const tdlcu_prop *prop, unsigned option) {
    BEGIN(" %u", option);
    *bytes = GRAIN;
    return prop->type == TDL_CU_MEM_ALLOCATION_TYPE_PINNED ? 0 : TDL_CUDA_ERROR_INVALID_VALUE;
}
tdlcu_result cuMemAddressReserve(tdlcu_ptr *at, size_t bytes, size_t align, tdlcu_ptr hint,
                                 unsigned long long flags) {
    BEGIN(" %zu", bytes);
    NEEDS_CONTEXT;
    if (align || hint || flags || bytes % GRAIN) return TDL_CUDA_ERROR_INVALID_VALUE;
    char *p = mmap(NULL, bytes + GRAIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return TDL_CUDA_ERROR_OUT_OF_MEMORY;
    size_t head = (GRAIN - (uintptr_t)p % GRAIN) % GRAIN;
    if (head) munmap(p, head);
    munmap(p + head + bytes, GRAIN - head);
    *at = new_object(RANGE, (uint64_t)(uintptr_t)(p + head), bytes)->at;
    return 0;
}
tdlcu_result cuMemAddressFree(tdlcu_ptr at, size_t bytes) {
    object *o = find(RANGE, at);
    write_down(__func__, " %zu", bytes);
    tdlcu_result r = planned(__func__);
    if (!o || o->bytes != bytes) return TDL_CUDA_ERROR_INVALID_VALUE;
    for (object *m = objects; m < objects + OBJECTS; m++)
        if (m->kind == MAPPING && m->at >= at && m->at < at + bytes) return TDL_CUDA_ERROR_INVALID_VALUE;
    munmap((void *)(uintptr_t)at, bytes);
    o->kind = NONE;
    return r;
}
tdlcu_result cuMemCreate(tdlcu_memory *memory, size_t bytes, const tdlcu_prop *prop,
                         unsigned long long flags) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    if (!bytes || bytes % GRAIN || flags || prop->location.type != TDL_CU_MEM_LOCATION_TYPE_DEVICE) return 1;
    if (used + bytes > fake_cuda.memory) return TDL_CUDA_ERROR_OUT_OF_MEMORY;
    used += bytes;
    *memory = new_object(MEMORY, 0, bytes)->at;
    return 0;
}
static void drop_memory(object *o) {
    if (!o->released || o->users) return;
    used -= o->bytes;
    o->kind = NONE;
}
tdlcu_result cuMemRelease(tdlcu_memory memory) {
    object *o = find(MEMORY, memory);
    write_down(__func__, " ");
    tdlcu_result r = planned(__func__);
    if (!o) return TDL_CUDA_ERROR_INVALID_VALUE;
    o->released = 1;
    drop_memory(o);
    return r;
}
tdlcu_result cuMemMap(tdlcu_ptr at, size_t bytes, size_t offset, tdlcu_memory memory,
                      unsigned long long flags) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    object *o = find(MEMORY, memory);
    if (!o || o->bytes != bytes || offset || flags || at % GRAIN || !inside(RANGE, at, bytes)) return 1;
    for (object *m = objects; m < objects + OBJECTS; m++)
        if (m->kind == MAPPING && m->at < at + bytes && at < m->at + m->bytes) return 1;
    o->users++;
    new_object(MAPPING, at, bytes)->memory = o;
    return 0;
}
tdlcu_result cuMemUnmap(tdlcu_ptr at, size_t bytes) {
    object *o = find(MAPPING, at);
    write_down(__func__, " %zu", bytes);
    tdlcu_result r = planned(__func__);
    if (r) return r;
    if (!o || o->bytes != bytes) return TDL_CUDA_ERROR_INVALID_VALUE;
    mmap((void *)(uintptr_t)at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
    o->memory->users--;
    drop_memory(o->memory);
    o->kind = NONE;
    return 0;
}
tdlcu_result cuMemSetAccess(tdlcu_ptr at, size_t bytes, const tdlcu_access *access, size_t count) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    object *o = find(MAPPING, at);
    if (!o || o->bytes != bytes || count != 1 || access->flags != TDL_CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return 1;
    if (mprotect((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE)) return 1;
    memset((void *)(uintptr_t)at, 0xab, bytes);
    o->accessible = 1;
    return 0;
}
tdlcu_result cuMemsetD8Async(tdlcu_ptr at, unsigned char value, size_t count, tdlcu_stream stream) {
    BEGIN(" %zu", count);
    TOUCHES_GPU;
    if (!mapped(at, count) || stream_number(stream) < 0) return 1;
    memset((void *)(uintptr_t)at, value, count);
    return 0;
}
tdlcu_result cuMemcpyDtoHAsync(void *to, tdlcu_ptr from, size_t bytes, tdlcu_stream stream) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    if (from != (tdlcu_ptr)(uintptr_t)&dynamic_shared && !mapped(from, bytes)) return 1;
    if (!inside(HOST, (uint64_t)(uintptr_t)to, bytes) || stream_number(stream) < 0) return 1;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
tdlcu_result cuMemcpyHtoDAsync(tdlcu_ptr to, const void *from, size_t bytes, tdlcu_stream stream) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    if (!mapped(to, bytes) || !inside(HOST, (uint64_t)(uintptr_t)from, bytes) || stream_number(stream) < 0)
        return 1;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
tdlcu_result cuMemHostAlloc(void **p, size_t bytes, unsigned flags) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    *p = flags ? NULL : calloc(1, bytes);
    if (*p) new_object(HOST, (uint64_t)(uintptr_t)*p, bytes);
    return *p ? 0 : 1;
}
tdlcu_result cuMemFreeHost(void *p) {
    object *o = find(HOST, (uint64_t)(uintptr_t)p);
    write_down(__func__, " ");
    if (!o) return 1;
    free(p);
    o->kind = NONE;
    return planned(__func__);
}
/* Memory of the GPU is what was mapped, and what the test says is. */
tdlcu_result cuPointerGetAttribute(void *value, unsigned attribute, tdlcu_ptr at) {
    BEGIN(" %u", attribute);
    *(unsigned *)value = 2;
    return mapped(at, 1) ? 0 : TDL_CUDA_ERROR_INVALID_VALUE;
}
