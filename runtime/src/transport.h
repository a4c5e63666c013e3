/* transport.h: how the ranks of a context reach each other while it starts up. A transport is a few functions; all
 * later traffic goes through shared memory (control.h). There are two:
 *     transport_socket.c    processes of one machine: a Unix-domain socket, then one socket pair for each two ranks
 *     transport_threads.c   threads of one process: a tdl_group
 * All functions are collective and bounded by the context's startup_timeout_ms; errors are recorded in the
 * context. After an error the transport can only be closed. */
#ifndef TDLI_TRANSPORT_H
#define TDLI_TRANSPORT_H

#include "tdl.h"

typedef struct tdli_transport tdli_transport;
struct tdli_transport {
    int same_process; /* ranks share an address space: heaps are handed over as pointers, not as descriptors */
    /* Puts every rank's `bytes` (at most 512) from `mine` at all + r * bytes. */
    tdl_status (*allgather)(tdli_transport *, tdl_ctx *, const void *mine, void *all, size_t bytes);
    tdl_status (*barrier)(tdli_transport *, tdl_ctx *);
    /* Gives every peer a duplicate of the descriptor `mine`, and gets one from each: all[r], -1 for this rank. */
    tdl_status (*exchange_fds)(tdli_transport *, tdl_ctx *, int mine, int *all);
    /* A descriptor at which the end of `rank`'s process shows as end of file; -1 if there is none. */
    int (*liveness_fd)(tdli_transport *, int rank);
    void (*close)(tdli_transport *);
};

/* Each takes rank, ranks and name from the context's options. */
tdl_status tdli_socket_transport(tdl_ctx *, tdli_transport **);
tdl_status tdli_thread_transport(tdl_ctx *, tdli_transport **);

#endif
