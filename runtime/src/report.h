/* report.h: waiting inside a launch, and ending launches on all ranks with a text that says why.
 *
 *     tdli_wait_info info = {"flag", "arrived", 5, epoch, 0};
 *     if (tdli_wait_word(job, word, &info, site, ticket)) return;  // somebody, perhaps this wait, ended it */
#ifndef TDLI_REPORT_H
#define TDLI_REPORT_H

#include "launch.h"

typedef struct tdli_wait_info {
    const char *kind, *name; /* "flag", "arrived" */
    int64_t index;
    uint64_t expected, actual;
} tdli_wait_info;
/* sync.c: waits until *word >= info->expected; 1: the launch was ended instead. `site` and `ticket` -1: none. */
int tdli_wait_word(tdli_job *, _Atomic uint64_t *word, tdli_wait_info *, int64_t site, int64_t ticket);

/* report.c */
void tdli_report_timeout(tdli_job *, const tdli_wait_info *, int64_t site, int64_t ticket, int64_t waited_ms);
void tdli_report_gone(tdli_job *, int peer, const tdli_wait_info *, int64_t site, int64_t ticket);
void tdli_report_internal(tdli_job *, int64_t site, int64_t ticket, const char *what);
/* Compares fingerprints with all ranks that have reached this launch; returns 1 if it ended the launch. */
int tdli_check_fingerprints(tdli_job *);
/* A peer is in a collective call that this rank should have made before this launch. Returns 1 if so. */
int tdli_check_collectives(tdli_job *);
/* Ends call number `order` and all after it on all ranks; the first report on each rank stays. */
void tdli_abort_all(tdl_ctx *, tdl_status, uint64_t order, const char *text);
int tdli_aborted(const tdl_ctx *, uint64_t order);
/* What the other ranks are doing, one line each. */
void tdli_text_peers(tdli_text *, tdl_ctx *);

#endif
