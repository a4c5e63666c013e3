/* cuda_device.h: contexts whose kernels run on a GPU. The rest of the runtime stays as it is (context.h): options,
 * start-up, control blocks and collective calls, checks of arguments, layouts, reports. Instead of workers there is:
 *
 *   tdl_init  --> cuda_device.c  (driver, GPU, its primary context)
 *   prepare   --> cuda_module.c  (image, entry, how many blocks), cuda_memory.c (scratch)
 *   k(...)    --> cuda_launch.c  (parameter block, order across streams)
 *   the end   --> cuda_sync.c    (waiting, reports of device code, reset)
 *
 * Device memory. All of it is reserved as addresses at start-up, and mapped as prepare asks for it, each page once;
 * so addresses never change and a captured graph stays valid:
 *     heaps      ranks x zones.bytes, rank r's at r * zones.bytes, with the zones of heap.h; at the start of each
 *                there is a tdl_device_heap instead of a control block
 *     counters   tdl_device_control, then the joins
 *     local, workspaces
 * All driver calls are made with the GPU's primary context as the current one, between tdli_cuda_enter and _leave;
 * what was current before is so again afterwards. */
#ifndef TDLI_CUDA_DEVICE_H
#define TDLI_CUDA_DEVICE_H

#include "context.h"
#include "cuda_driver.h"
#include "tdl/abi_device.h"

/* Memory that grows at its end. */
typedef struct tdli_cuda_area {
    const char *name;
    tdlcu_ptr base;
    int64_t room, mapped; /* bytes */
} tdli_cuda_area;

typedef struct tdli_cuda_chunk { /* one mapping */
    tdlcu_ptr at;
    int64_t bytes;
} tdli_cuda_chunk;

typedef struct tdli_cuda_module {
    tdlcu_module handle;
    const tdl_image *image;
    uint64_t hash; /* of the image */
    struct tdli_cuda_module *next;
} tdli_cuda_module;

/* What a report needs to name a launch's tile: the words and the text of a known kernel under one set of sizes. */
enum { TDLI_CUDA_SHAPES = 8, TDLI_CUDA_COUNTERS = 4096 /* bytes before the joins */ };
typedef struct tdli_cuda_shapes {
    uint32_t last; /* number of the newest one, from 1; n lies at n % TDLI_CUDA_SHAPES */
    uint64_t fingerprint;
    int64_t *words; /* TDLI_CUDA_SHAPES x shape_words */
    char text[TDLI_CUDA_SHAPES][TDLI_TEXT];
} tdli_cuda_shapes;

/* What the context has found out about a kernel's entry: tdli_known.cuda. */
typedef struct tdli_cuda_entry {
    uint32_t number;
    tdlcu_function function; /* NULL: not loaded yet */
    int threads, blocks;     /* of a block; resident ones */
    int dynamic_shared;
    tdli_cuda_shapes shapes;
} tdli_cuda_entry;

typedef struct tdli_cuda {
    tdlcu_driver driver;
    tdlcu_device device;
    tdlcu_context context; /* NULL: not retained */
    int ordinal, arch, sms;
    int pageable; /* kernels may read any host memory */
    int checking, verbose;
    char name[96];

    int64_t grain; /* of mappings */
    tdlcu_ptr reserved[4];
    int64_t reserved_bytes[4];
    tdli_cuda_area flags, buffers, counters, local, workspaces;
    tdli_cuda_chunk *chunks;
    int n_chunks, chunk_room;

    tdlcu_stream stream; /* the runtime's own: memsets and copies */
    tdlcu_event last;    /* behind the last launch */
    int launched;        /* `last` has been recorded */
    int captured;        /* a graph may launch, too, without our knowing */
    void *staging;       /* pinned: TDLI_CUDA_STAGING bytes */
    tdli_cuda_module *modules;
    uint32_t entries;
} tdli_cuda;

enum { TDLI_CUDA_STAGING = 4096 };

/* A driver call in the context `ctx`, checked: TDLI_CUDA(ctx, cuMemRelease, (handle), "of %s", name). */
#define TDLI_CUDA(ctx, call, arguments, ...)                                                                 \
    tdlcu_check(ctx, &(ctx)->cuda->driver, (ctx)->cuda->driver.call arguments, #call, __VA_ARGS__)

/* cuda_device.c. `text` is "host", "cuda" or "cuda:N"; `origin` says where it was written. */
tdl_status tdli_cuda_parse(const char *text, const char *origin, tdli_settings *);
tdl_status tdli_cuda_open(tdl_ctx *);
void tdli_cuda_close(tdl_ctx *);
tdl_status tdli_cuda_enter(tdl_ctx *);
void tdli_cuda_leave(tdl_ctx *);
void tdli_cuda_say(const tdl_ctx *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cuda_memory.c; all but tdli_cuda_symmetric and _free are called inside enter and leave. */
tdl_status tdli_cuda_reserve(tdl_ctx *);
void tdli_cuda_unreserve(tdl_ctx *);
/* Makes an area at least `bytes` long; what is new is zero when this returns. */
tdl_status tdli_cuda_grow(tdl_ctx *, tdli_cuda_area *, int64_t bytes);
/* Copies up to TDLI_CUDA_STAGING bytes, and waits for it. */
tdl_status tdli_cuda_read(tdl_ctx *, void *to, tdlcu_ptr from, size_t bytes, const char *what);
tdl_status tdli_cuda_write(tdl_ctx *, tdlcu_ptr to, const void *from, size_t bytes, const char *what);
/* Scratch for `needs`, on this rank (but workspaces, which follow from the entry). */
tdl_status tdli_cuda_enlarge(tdl_ctx *, const tdli_needs *);
/* Backs [offset, offset + bytes) of this rank's heap with zeroed memory, and takes it away. */
tdl_status tdli_cuda_back(tdl_ctx *, int64_t offset, int64_t bytes);
tdl_status tdli_cuda_unback(tdl_ctx *, int64_t offset);
tdlcu_ptr tdli_cuda_heap(const tdl_ctx *, int rank);

/* cuda_module.c. Index of the best image for sm_`arch` among those not in `tried`, or -1. */
int tdli_cuda_choose(const tdl_image *, int n, int arch, uint64_t tried);
/* Everything a launch of this kernel needs besides scratch in common: its code, and workspaces. */
tdl_status tdli_cuda_load(tdl_ctx *, tdli_known *);
void tdli_cuda_unload_all(tdl_ctx *);
tdl_status tdli_cuda_remember(tdl_ctx *, tdli_known *);
void tdli_cuda_forget(tdli_known *);

/* cuda_launch.c. *captured: the stream records a graph, so nothing may be waited for, loaded or allocated. */
tdl_status tdli_cuda_look(tdl_ctx *, void *stream, int *captured);
/* The checks of a launch that only a GPU needs. */
tdl_status tdli_cuda_admit(tdl_ctx *, const tdli_known *, int captured);
tdl_status tdli_cuda_launch(tdl_ctx *, tdli_known *, void *stream, int captured);

/* cuda_sync.c. Waits for this context's launches; an error of the second one stays in the context. */
tdl_status tdli_cuda_wait(tdl_ctx *);
void tdli_cuda_drain(tdl_ctx *);
tdl_status tdli_cuda_synchronize(tdl_ctx *, void *stream);
tdl_status tdli_cuda_finish(tdl_ctx *); /* for tdl_finalize */
/* Clean counters and no report; `epoch` is the last one used. */
tdl_status tdli_cuda_reset(tdl_ctx *, uint64_t epoch);

#endif
