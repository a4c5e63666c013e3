/* tdl/abi_device.h: how the runtime calls device code. Part of the contract in tdl/abi.h, with its version.
 *
 * A plan's entry is a kernel with one parameter, a block of 64-bit words passed by value (so a captured graph holds
 * it, and no memory has to outlive the launch call). It may declare any size up to TDL_DEVICE_MAX_WORDS words; what is
 * behind the last word is zero. The entry runs any number of blocks, at least one, of as many threads (in one dimension)
 * as its .maxntid says (the attribute the runtime asks for does not see .reqntid: seen on driver 580); a block draws tickets until none is left, exactly like a worker of the host. An
 * entry E that needs dynamic shared memory says how many bytes in a variable of its module,
 * `.visible .global .align 4 .u32 E_dynamic_shared = BYTES;`. The words, in this order:
 *
 *     TDL_DEVICE_HEADER words       as enumerated below
 *     sizes | scalars               one word each; a scalar's value in the low bytes
 *     tensors                       device address of each tensor parameter
 *     strides                       element strides of all dimensions of all tensor parameters
 *     buffers                       address of each protocol buffer as an offset from a heap, of each local one in full
 *     flags                         per flag: byte offset of its words from a heap
 *     joins                         per join: address of its first counter
 *     heaps                         `ranks` words: where rank r's heap is mapped here
 *
 * The number of words before `heaps` is fixed by the plan, so generated code reads all of it at constant offsets. */
#ifndef TDL_ABI_DEVICE_H
#define TDL_ABI_DEVICE_H

#include <stdint.h>

enum {
    TDL_DEVICE_RANKS = 0,
    TDL_DEVICE_RANK = 1,
    TDL_DEVICE_CONTROL = 2,     /* address of the context's tdl_device_control */
    TDL_DEVICE_WORKSPACE = 3,   /* address of block 0's workspace; 0: it needs none */
    TDL_DEVICE_WORKSPACE_BYTES = 4, /* of one block, a multiple of 256 */
    TDL_DEVICE_TIMEOUT_NS = 5,  /* a wait without progress for so long aborts the launch */
    TDL_DEVICE_TAG = 6,         /* the runtime's number for this kernel and these sizes: goes into the report */
    TDL_DEVICE_HEADER = 8       /* word 7 is zero */
};
#define TDL_DEVICE_MAX_WORDS 500 /* the parameter is at most 4,000 bytes */

/* At the start of every rank's heap. A flag of kind TDL_FLAG_DONE is `done`. */
typedef struct tdl_device_heap {
    uint64_t done[256];         /* [p]: the last launch in which rank p has finished with what this rank pushed to it */
    uint64_t abort;             /* not 0: a peer has ended the launches */
} tdl_device_heap;

/* What a wait was waiting for when the launch was aborted. */
typedef struct tdl_device_report {
    uint64_t site, ticket;      /* as in tdl_wait_flag */
    uint64_t kind;              /* 0: flag, 1: join */
    uint64_t object, index;     /* which flag or join, which of its words */
    uint64_t expected, actual;
    uint64_t epoch, tag;        /* of the launch: a report is read later, when the host may have lost track */
} tdl_device_report;

/* In device memory, one per context, zero at first. A launch runs under epoch `epoch + 1`: every block reads it at its
 * start, and the last block to finish makes it so, zeroes `ticket`, `finished` and the joins of the plan, and thereby
 * readies everything for the next launch of the stream; the host touches nothing, so a captured graph can be replayed.
 * Before it advances the epoch, it stores the new one to done[rank] in the heap of every rank (this one, too) with
 * st.release.sys, unless the launch was aborted. */
typedef struct tdl_device_control {
    uint64_t epoch;
    uint64_t ticket;            /* drawn with atom.relaxed.gpu.add */
    uint64_t finished;          /* blocks that have ended, atom.acq_rel.gpu.add */
    uint64_t abort;             /* not 0: every wait and every draw of a ticket ends the block's work. Also written by the
                                   host and, through the heap, by peers */
    tdl_device_report report;   /* of the first wait that gave up (whoever turned `abort` from 0 to 1) */
} tdl_device_control;

#endif
