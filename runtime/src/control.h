/* control.h: the first pages of every rank's heap, which all ranks map: what ranks tell each other besides data.
 *
 * Each word has one writer, its owner or one peer; only the abort record may be claimed by any rank (by
 * compare-and-swap). Whoever writes to a rank's control block signals that rank's bell, on which everything on
 * that rank sleeps that waits for other ranks, or for a flag or join of the running launch.
 *
 *   who launched what    slots[epoch % 8]: written by the owner at the start of a launch, read by all
 *   how far a peer is    peers[p].exit: the last launch p has finished; peers[p].done: the last launch in which p has
 *                        finished reading what this rank pushed to it (plans.md, "Launches are isolated")
 *   collective calls     posts[n % 2]: the owner's contribution to its n-th collective call
 *   failure              abort: the report of the first error that ended launches on this rank
 *
 * Eight slots suffice: a rank starts launch n when all others have finished n - 2, so nobody rewrites a slot that
 * another still compares. Two posts suffice: to make its call n + 2 a rank has seen everybody's call n + 1. */
#ifndef TDLI_CONTROL_H
#define TDLI_CONTROL_H

#include "event.h"
#include "tdl.h"

enum {
    TDLI_MAX_RANKS = 256,
    TDLI_SLOTS = 8,
    TDLI_TEXT = 256, /* "`ag` (plan `overlap`) M=4096 N=512" */
    TDLI_REPORT = 4096,
    TDLI_POST = 128, /* bytes a collective call carries */
    TDLI_CONTROL_BYTES = 64 * 1024
};

/* Memory for a launch. The first two are in the heap and equal on all ranks; the others are the largest that any
 * rank needs, so that all ranks agree on whether a launch fits. */
typedef struct tdli_needs {
    int64_t flags;     /* words in the zone of flags */
    int64_t buffers;   /* bytes in the zone of buffers */
    int64_t local;     /* bytes of scratch that no peer sees */
    int64_t joins;     /* words */
    int64_t workspace; /* bytes per worker */
} tdli_needs;

typedef struct tdli_slot {
    _Atomic uint64_t epoch; /* stored last, with release */
    _Atomic uint64_t fingerprint;
    char text[TDLI_TEXT];
} tdli_slot;

typedef struct tdli_post {
    _Atomic uint64_t sequence; /* stored last, with release */
    _Atomic uint64_t launches; /* how many the owner had called before this */
    int32_t status;            /* tdl_status: a rank that cannot go on says so here, with `text` */
    char text[TDLI_TEXT];
    unsigned char data[TDLI_POST];
} tdli_post;

typedef struct tdli_abort {
    _Atomic uint64_t from;  /* the first call (launch or collective, counted from 1) that is ended, 0: none.
                                     Earlier ones go on: whoever ended this one has done its part in them */
    _Atomic uint32_t state; /* of the report: 0 none, 1 being written, 2 there */
    int32_t status, origin;
    char text[TDLI_REPORT];
} tdli_abort;

typedef struct tdli_peer {
    _Alignas(64) _Atomic uint64_t done;
    _Atomic uint64_t exit;
} tdli_peer;

typedef struct tdli_control {
    tdli_event bell;
    _Atomic uint64_t left;        /* 1 + last epoch, once the owner has finalised */
    _Atomic uint64_t called;      /* launches the owner has called */
    _Atomic uint64_t reset;       /* phases of tdl_reset passed (reset.c) */
    _Atomic uint64_t reset_epoch; /* what the owner brings into the reset */
    tdli_needs reset_prepared;
    tdli_abort abort;
    tdli_post posts[2];
    tdli_slot slots[TDLI_SLOTS];
    tdli_peer peers[TDLI_MAX_RANKS];
} tdli_control;

_Static_assert(sizeof(tdli_control) <= TDLI_CONTROL_BYTES, "the control block outgrew its pages");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2,
               "64-bit atomics must be lock-free to be shared between processes");

#endif
