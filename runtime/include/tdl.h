/* tdl.h: the runtime library of objects made by tdlc (libtdl). Plain C, usable from C11 and C++17; man tdl(3).
 *
 * A program of R ranks (processes on one machine, or threads of one process) calls generated kernels like this:
 *
 *     tdl_ctx *ctx;
 *     if (tdl_init(&ctx, NULL)) { fprintf(stderr, "%s\n", tdl_last_error(NULL)); return 1; }
 *     int64_t begin, count, capacity;
 *     tdl_shard(ctx, M, &begin, &count, &capacity);        // my rows of a tensor [M @ ranks, K]
 *     float *A = malloc(capacity * K * sizeof *A);         // rows begin .. begin + count - 1 at its start
 *     ag_args a = {0}; a.M = M; a.K = K; a.A = A; a.C = C; // strides: 0 = dense
 *     tdl_status s = ag(ctx, &a, NULL);                    // generated; asynchronous
 *     s = tdl_synchronize(ctx, NULL);                      // waits, and says what went wrong on the way
 *     if (s) fprintf(stderr, "%s: %s\n", tdl_status_string(s), tdl_last_error(ctx));
 *     tdl_finalize(ctx);
 *
 * Rules. All ranks call the same kernels and the same collective functions (marked so below) of a context in
 * the same order, with equal sizes and scalars. A context is used by one thread at a time. A process or thread
 * may have several contexts; they share nothing. No function ends the process, prints (one warning of tdl_init
 * and what TDL_VERBOSE=1 asks for excepted), or installs a signal handler. Sizes are in elements unless they say
 * bytes. */
#ifndef TDL_H
#define TDL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TDL_VERSION_MAJOR 0
#define TDL_VERSION_MINOR 1
#define TDL_VERSION_PATCH 0

/* ---- Status --------------------------------------------------------------------------------------------- */
/* What every function returns. tdl_last_error gives the details in words. */
typedef enum tdl_status {
    TDL_OK = 0,
    TDL_BAD_ARGUMENT,   /* an argument, option or environment variable: which one, its value, what is allowed */
    TDL_NEEDS_PREPARE,  /* the launch needs more scratch than was prepared; the text says how many bytes */
    TDL_DEVICE_ERROR,   /* the processor or device cannot run the object, or a driver call failed */
    TDL_SYSTEM_ERROR,   /* a call of the operating system failed: which one and why */
    TDL_OUT_OF_MEMORY,  /* memory or address space of the context: what was asked for, what there is */
    TDL_TIMEOUT,        /* a wait made no progress for the time allowed: where, for what, since when */
    TDL_PEER_LOST,      /* a rank ended (was killed, exited, finalised) while others still needed it */
    TDL_MISMATCH,       /* ranks called different kernels, plans, sizes, scalars or collective functions */
    TDL_WRONG_VERSION,  /* object and library, or the libraries of two ranks, do not fit together */
    TDL_INTERNAL_ERROR  /* the object contradicts itself: a bug of tdlc, please report it */
} tdl_status;

/* The name of a status in words, e.g. "time-out"; never NULL. */
const char *tdl_status_string(tdl_status);

/* ---- Types of elements C has no name for ---------------------------------------------------------------- */
typedef uint16_t tdl_bf16;      /* upper half of an IEEE f32 */
typedef uint16_t tdl_f16;       /* IEEE binary16 */
typedef uint8_t tdl_f8e4m3;     /* OCP FP8, no infinities */
typedef uint8_t tdl_f8e5m2;
typedef uint8_t tdl_bool;       /* 0 or 1 */

/* Conversions, rounding to nearest, ties to even; NaN stays NaN. */
tdl_bf16 tdl_bf16_from_f32(float);
float tdl_bf16_to_f32(tdl_bf16);
tdl_f16 tdl_f16_from_f32(float);
float tdl_f16_to_f32(tdl_f16);

/* ---- Contexts ------------------------------------------------------------------------------------------- */
/* A rank's membership in a group of ranks, with its share of their common scratch memory and its workers. */
typedef struct tdl_ctx tdl_ctx;

/* The ranks of one process as threads (for tests, sanitizers, debugging): create one group, give it to the
 * tdl_init of every thread with its rank, destroy it after the last tdl_finalize. 1 <= ranks <= 256. */
typedef struct tdl_group tdl_group;
tdl_status tdl_group_create(int ranks, tdl_group **);
void tdl_group_destroy(tdl_group *);

/* Start-up through something that already connects the ranks (MPI, a framework). Both functions are called by
 * tdl_init only, return 0 for success, and are collective: `allgather` puts the `bytes` of rank r's `mine` at
 * all + r * bytes on every rank. */
typedef struct tdl_startup {
    int rank, ranks;
    int (*allgather)(void *user, const void *mine, void *all, size_t bytes);
    int (*barrier)(void *user);
    void *user;
} tdl_startup;

/* All zeros (or NULL for the whole) means defaults, which may come from the environment. An option overrides
 * the environment. Values that all ranks must agree on are compared by tdl_init. */
typedef struct tdl_options {
    int rank, ranks;            /* ranks = 0: TDL_RANK and TDL_RANKS, else what mpirun, mpiexec, srun or torchrun
                                   set, else rank 0 of 1. If a launcher seems to have started more ranks but
                                   does not say which one this is, tdl_init says so on stderr. */
    const char *socket;         /* name of a Unix-domain socket (abstract name space: no file) at which the ranks
                                   meet, the same on all ranks, at most 100 bytes. NULL: TDL_SOCKET, else derived
                                   from the launcher's job */
    const tdl_startup *startup; /* start up by these callbacks: rank, ranks, socket above are ignored */
    tdl_group *group;           /* ranks are threads of this process: `rank` counts, the group says how many */
    const char *device;         /* "host", "cuda:N" (a GPU), or "cuda" (the GPU number rank modulo GPUs). NULL:
                                   TDL_DEVICE, else "host". This version has one rank only on GPUs */
    int64_t heap_bytes;         /* address space for this rank's scratch and symmetric memory, at least 1 MiB,
                                   the least of all ranks counts; memory is used only as touched. 0: 64 GiB, or
                                   less where the process is limited */
    int threads;                /* workers of this rank, 1..1024. 0: TDL_THREADS, else the cores this rank may use
                                   / ranks that use the same, at least 1 */
    int timeout_ms;             /* how long a wait may see no progress. 0: TDL_TIMEOUT_MS, else 10,000 */
    int startup_timeout_ms;     /* how long tdl_init waits for other ranks. 0: TDL_STARTUP_TIMEOUT_MS, else 60,000 */
    const char *plan;           /* run this plan of every kernel. NULL: TDL_PLAN, else each kernel's default */
    uint64_t chaos;             /* seed of small random delays, for tests. 0: TDL_CHAOS, else none */
    int64_t reserved[8];        /* zeros */
} tdl_options;

/* Makes a context. Collective, bounded by startup_timeout_ms. On failure *ctx is NULL and tdl_last_error(NULL)
 * has the text.
 * Errors: BAD_ARGUMENT, SYSTEM_ERROR, OUT_OF_MEMORY, TIMEOUT, PEER_LOST, MISMATCH, WRONG_VERSION. */
tdl_status tdl_init(tdl_ctx **ctx, const tdl_options *options);

/* Ends a context: finishes its launches, then leaves the group. Does not wait for other ranks: a rank that still
 * launches gets PEER_LOST. Symmetric memory becomes invalid. NULL is allowed. Returns what tdl_synchronize would
 * have; the text is then in tdl_last_error(NULL). */
tdl_status tdl_finalize(tdl_ctx *);

int tdl_rank(const tdl_ctx *);  /* 0 .. ranks - 1 */
int tdl_ranks(const tdl_ctx *);

/* What the last failing call on this context had to say, in one or more lines, without a final newline; "" if
 * none failed. Valid until the next call on the context. With NULL: the last failing tdl_init, tdl_finalize or
 * tdl_group_create of this thread. */
const char *tdl_last_error(const tdl_ctx *);

/* "0.1.0": the library's version. The header's is in TDL_VERSION_*. */
const char *tdl_version(void);

/* ---- Data ----------------------------------------------------------------------------------------------- */
/* This rank's block of a distributed extent `E @ ranks`, with B = max(1, ceil(extent / ranks)):
 *   begin     first global index of the block (at most extent),
 *   count     its indices that exist, 0 .. B,
 *   capacity  B: what to allocate on every rank in that dimension.
 * Any of the three may be NULL. Errors: BAD_ARGUMENT (extent < 0). */
tdl_status tdl_shard(const tdl_ctx *, int64_t extent, int64_t *begin, int64_t *count, int64_t *capacity);

/* Symmetric memory: zeroed, page-aligned memory of this rank for which every rank asked at the same time.
 * Optional: kernels take tensors anywhere; symmetric ones let some plans skip a copy. Collective, `bytes` equal on
 * all ranks; 0 bytes give NULL. Errors: BAD_ARGUMENT, OUT_OF_MEMORY, TIMEOUT, PEER_LOST, MISMATCH. */
tdl_status tdl_alloc(tdl_ctx *, size_t bytes, void **);

/* Gives symmetric memory back, after this rank's launches have finished. Collective; NULL is allowed (on all
 * ranks). Errors: as tdl_alloc. */
tdl_status tdl_free(tdl_ctx *, void *);

/* ---- Launches ------------------------------------------------------------------------------------------- */
/* For a kernel k, the generated header declares
 *
 *     typedef struct k_args { ... } k_args;                            sizes, tensors, scalars; all zeros is a start
 *     tdl_status k(tdl_ctx *, const k_args *, void *stream);
 *     tdl_status k_prepare(tdl_ctx *, const k_args *);
 *
 * k starts the kernel and returns. The arguments are copied; the tensors must stay alive and untouched until
 * tdl_synchronize (outputs: unread). `stream` is ignored on the host, and a CUstream or cudaStream_t on a GPU.
 * Launches of one context run one at a time, in call order. When a launch has ended on a rank, its outputs are
 * complete there and no other rank touches that rank's tensors for it any more.
 *   On a GPU, tensors are in memory it can reach (TDL_CHECK=1 checks that); the order of launches holds across
 * streams. A launch into a stream that records a graph becomes part of the graph, and must have been prepared before;
 * then it is the user who orders the branches of the graph, and the graph and the context's other launches. Graphs
 * must not run any more when k_prepare, tdl_free, tdl_reset or tdl_finalize is called. TDL_MAX_SMS limits the
 * processors that a launch uses; the GPU's primary context is used, and what is current in the thread stays so.
 *   A tensor needs a pointer (NULL if this rank has none of its elements) aligned to its element type, and element
 * strides for all dimensions but the last: 0 means dense, over extents as stored (capacity in a distributed
 * dimension). Tensors that are written must not overlap any other argument.
 *   k_prepare reserves scratch memory for launches with these sizes (tensors may be NULL). Collective; waits for
 * this rank's launches. The first launch of a kernel in a context prepares by itself and is then collective, too;
 * afterwards launches neither allocate nor wait for other ranks, and return NEEDS_PREPARE if their sizes need
 * more than was prepared.
 *   Errors of both: BAD_ARGUMENT, DEVICE_ERROR, WRONG_VERSION, NEEDS_PREPARE, OUT_OF_MEMORY, and what
 * tdl_synchronize returns. */

/* Waits until all launches of this context (on a GPU, also all else in `stream`, for instance graphs with its
 * launches) have ended on this rank, and returns the first error among them:
 *   TIMEOUT    no flag, join or ticket of this rank made progress for timeout_ms,
 *   PEER_LOST  a rank ended without tdl_finalize, or before the launch,
 *   MISMATCH   ranks launched different things.
 * Each of these ends the launch on all ranks, and all of them return it with the same kind of text: rank, kernel,
 * source line, task, tile, flag, expected and actual value, and what the other ranks were doing. The contents of
 * outputs are then undefined, and the context refuses everything with that status until tdl_reset. */
tdl_status tdl_synchronize(tdl_ctx *, void *stream);

/* Makes a context usable again after an error, as new but for what was prepared and allocated. Collective: waits
 * for this rank's launches to stop and for all ranks to have come here. Allowed at any time. Errors: TIMEOUT,
 * PEER_LOST (then for good: finalize). */
tdl_status tdl_reset(tdl_ctx *);

#ifdef __cplusplus
}
#endif
#endif
