/* launch.h: kernels, jobs and workers: what a launch is made of.
 *
 *   known   what the context remembers about a kernel: its plan, and everything that follows from the sizes and
 *           scalars of the last launch (extents, layout, needs, fingerprint), so that an equal launch is cheap
 *   job     one queued launch: a copy of that, plus tensors, tickets and the frame generated code sees
 *   worker  a thread that runs jobs
 *
 * known->words and job->words have the same layout; a job's first `shape_words` are one memcpy:
 *     sizes | scalars | raw layout | buffer offsets | flag offsets | join offsets || tensors | strides */
#ifndef TDLI_LAUNCH_H
#define TDLI_LAUNCH_H

#include "control.h"
#include "error.h"
#include "overlap.h"
#include "tdl/abi.h"

#include <pthread.h>

enum { TDLI_JOBS = 32, TDLI_MAX_THREADS = 1024, TDLI_MAX_DIMS = 16, TDLI_ALIGN = 256 };

typedef struct tdli_local {
    char *mapping, *workspace; /* joins and scratch; the workspaces of all workers */
    int64_t mapping_bytes, workspace_bytes;
    _Atomic uint64_t *joins;
    char *scratch;
    char *workspaces[TDLI_MAX_THREADS];
} tdli_local;

typedef struct tdli_known tdli_known;
struct tdli_known {
    const tdl_kernel *kernel;
    const tdl_plan *plan;
    uint64_t identity;
    int prepared;
    int n_sizes, n_scalars, n_tensors, n_dims, n_raw;
    int scalars, raw, buffers, flags, joins, tensors, strides; /* where each part of `words` starts */
    int shape_words, job_words;
    int64_t *words;
    int64_t *extents;     /* n_dims, global */
    tdli_region *regions; /* n_tensors */
    int64_t *probe;       /* n_raw: another rank's layout */
    int valid;            /* what follows belongs to words[0 .. n_sizes + n_scalars) */
    tdli_needs needs;
    int64_t tickets;
    uint64_t fingerprint; /* of all that ranks must agree on: kernel, plan, sizes, scalars */
    char text[TDLI_TEXT]; /* "`ag` (plan `overlap`) M=4096 N=512" */
    struct tdli_cuda_entry *cuda; /* of a context on a GPU */
    tdli_known *next;
};

typedef struct tdli_job {
    tdl_frame frame;
    tdl_ctx *ctx;
    const tdli_known *known;
    uint64_t fingerprint, order, collectives;
    int64_t tickets;
    int exchanges; /* has flags or buffers in the heap */
    int participants;
    int64_t *words; /* room for the largest known kernel */
    int room;
    char text[TDLI_TEXT];
    _Alignas(64) _Atomic int64_t ticket;
    _Alignas(64) _Atomic int running;
} tdli_job;

typedef struct tdli_worker {
    tdl_ctx *ctx;
    int64_t index;
    pthread_t thread;
    tdli_event event;
    _Atomic uint64_t go; /* the launch to take part in */
    uint64_t random;     /* state of TDL_CHAOS */
    _Alignas(64) _Atomic uint64_t progress;
} tdli_worker;

/* known.c */
tdl_status tdli_know(tdl_ctx *, const tdl_kernel *, tdli_known **);
void tdli_forget_all(tdl_ctx *);
uint64_t tdli_hash(uint64_t seed, const void *, size_t bytes);
/* cpu.c: the highest x86-64 level this processor and system offer, 0 elsewhere. */
int tdli_cpu_level(void);

/* args.c: reads sizes and scalars, and brings everything that follows from them up to date. */
tdl_status tdli_read_shape(tdl_ctx *, tdli_known *, const void *args);
/* args.c: reads and checks tensors and strides into known->words. */
tdl_status tdli_read_tensors(tdl_ctx *, tdli_known *, const void *args);
int64_t tdli_elem_bytes(int elem);
/* layout.c: evaluates the plan's layout for the sizes in known->words. */
tdl_status tdli_lay_out(tdl_ctx *, tdli_known *);
/* prepare.c: reserves what the known kernel needs. Collective: a rank that found an error before passes it. */
tdl_status tdli_prepare_known(tdl_ctx *, tdli_known *, const tdl_kernel *, tdl_status);
int tdli_fits(const tdli_needs *, const tdli_needs *prepared);
tdl_status tdli_too_small(tdl_ctx *, const tdli_known *);
void tdli_local_close(tdl_ctx *);

/* worker.c */
extern _Thread_local tdli_worker *tdli_self; /* NULL outside worker threads */
tdl_status tdli_start_thread(tdl_ctx *, pthread_t *, void *(*main)(void *), void *argument);
tdl_status tdli_workers_start(tdl_ctx *);
void tdli_workers_stop(tdl_ctx *);

int64_t tdli_join_words(const tdli_job *); /* of this launch, all joins together (sync.c) */

#endif
