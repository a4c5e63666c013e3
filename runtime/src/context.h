/* context.h: the inside of a tdl_ctx, and which file does what with it.
 *
 *   tdl_init  --> options.c (what the user and the environment say) --> transport_*.c (meet the other ranks)
 *             --> heap.c (this rank's memory, mapped by all) --> watcher.c, worker.c (threads)
 *   k(...)    --> launch.c --> known.c, args.c (check) --> prepare.c (first time) --> queue of jobs
 *   worker.c  takes jobs in order: begin, kernel->run on all workers, finish; the kernel calls sync.c
 *   anything that goes wrong in a launch --> report.c, which ends it on all ranks
 *
 * Threads: the user's, `threads` workers, one watcher. The user's thread fills jobs and prepared memory while no
 * launch runs; worker 0 begins and the last worker finishes a job; all else they share is atomic. */
#ifndef TDLI_CONTEXT_H
#define TDLI_CONTEXT_H

#include "control.h"
#include "error.h"
#include "heap.h"
#include "launch.h"
#include "report.h"
#include "transport.h"

#include <pthread.h>

/* The options after defaults and environment. */
typedef struct tdli_settings {
    int rank, ranks;
    char socket[108];
    const tdl_startup *startup;
    tdl_group *group;
    int64_t heap_bytes;
    int threads, timeout_ms, startup_timeout_ms;
    char plan[64]; /* "": each kernel's default */
    uint64_t chaos;
    int cuda, ordinal; /* on a GPU; which one, -1: by rank */
    int max_sms;       /* 0: all */
    int checking, verbose;
} tdli_settings;

struct tdl_ctx {
    int rank, ranks;
    tdli_settings set;
    tdli_transport *transport;

    tdli_heap *heaps[TDLI_MAX_RANKS];
    char *bases[TDLI_MAX_RANKS]; /* heaps[r]->base: tdl_frame.heaps */
    tdli_control *controls[TDLI_MAX_RANKS];
    tdli_control *mine; /* controls[rank] */
    int32_t pids[TDLI_MAX_RANKS];
    tdli_zones zones; /* what is where in all heaps */

    tdli_needs prepared;  /* what launches may use, equal on all ranks */
    tdli_local local;     /* this rank's private scratch, joins, workspaces */
    tdli_known *known;    /* kernels seen so far */
    _Atomic uint64_t collectives; /* collective calls made: the sequence of posts */
    uint64_t order;       /* launches and collective calls made, equal on all ranks */

    tdli_job jobs[TDLI_JOBS];          /* the job of epoch e is jobs[e % TDLI_JOBS] */
    _Atomic uint64_t called, finished; /* last epoch queued, and ended, on this rank */
    tdli_event called_event, finished_event;
    uint64_t exchange_epoch,
        exchange_fingerprint; /* the last launch that used scratch of peers (worker 0's) */
    tdli_worker *workers;
    int n_workers; /* started */
    _Atomic int stop;

    pthread_t watcher;
    int watching, wake_fd;
    _Atomic int lost_count;
    _Atomic unsigned char lost[TDLI_MAX_RANKS];

    uint64_t resets;
    struct tdli_cuda *cuda; /* NULL: on the host (cuda_device.h) */
    char error[TDLI_ERROR_BYTES];
};

/* watcher.c: notices ended peers. */
tdl_status tdli_watcher_start(tdl_ctx *);
void tdli_watcher_stop(tdl_ctx *);

/* options.c: defaults, environment, launchers. Errors go to the thread. */
tdl_status tdli_read_options(const tdl_options *, tdli_settings *);
/* startup.c: chooses and opens the transport. */
tdl_status tdli_open_transport(tdl_ctx *);

/* collective.c: over the control blocks. `mine` and each of `all` are `bytes` <= TDLI_POST long. A rank that cannot
 * take part in what follows posts its status (with ctx->error), and then all ranks get an error: their own, or one
 * that quotes the other's. `what` names the call in reports, `epoch` 0 allowed. */
tdl_status tdli_collective(tdl_ctx *, const char *what, tdl_status status, const void *mine, void *all,
                           size_t bytes);

/* state.c: TDL_OK if the context may be used, else the error, which stays, recorded in ctx->error. `kernel`: what is
 * about to be launched, for the text; NULL: nothing. */
tdl_status tdli_usable(tdl_ctx *, const tdl_kernel *kernel);
uint64_t tdli_last(const tdl_ctx *); /* the last launch called */
/* Waits until all launches called so far have ended on this rank. */
void tdli_drain(tdl_ctx *);
/* Signals the bells of all other ranks. */
void tdli_ring_peers(tdl_ctx *);
/* A rank that cannot take part any more in what comes after launch `epoch - 1`, or -1. */
int tdli_gone_peer(tdl_ctx *, uint64_t epoch);

#endif
