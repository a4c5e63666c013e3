/* heap.h: the memory a rank shares. One anonymous file (memfd) per rank, mapped by every rank, with the same
 * zones at the same offsets on all ranks:
 *
 *     0          64 KiB      bytes / 16                          low                       bytes
 *     | control  | flags     | buffers of kernels, growing ->    |   <- symmetric memory   |
 *
 * The file has its full size from the start and addresses never change; memory is taken only as pages are touched.
 * Nothing here has a name in a file system, so nothing is left behind, however a process ends. */
#ifndef TDLI_HEAP_H
#define TDLI_HEAP_H

#include "tdl.h"

#include <stdatomic.h>

typedef struct tdli_heap {
    char *base;
    int64_t bytes;
    int fd;           /* until peers have mapped it; then -1 */
    _Atomic int refs; /* contexts of this process that use it */
} tdli_heap;

typedef struct tdli_block {
    int64_t offset, bytes;
} tdli_block;
typedef struct tdli_zones {
    int64_t bytes, flags, buffers; /* size of a heap; where the zones start */
    int64_t low;                   /* where symmetric memory starts */
    tdli_block *blocks;            /* symmetric memory in use, by falling offset */
    int n_blocks, room;
} tdli_zones;

/* Largest heap this process may map for each rank, at most `wanted`; 0 wanted: the default. */
int64_t tdli_heap_limit(int64_t wanted, int ranks);
/* Makes this rank's heap of ctx->zones.bytes, exchanges it, fills heaps, bases, controls. Collective. */
tdl_status tdli_heaps_open(tdl_ctx *);
void tdli_heaps_close(tdl_ctx *);

#endif
