/* fake_cuda.h: a CUDA driver without a GPU, as a shared library that libtdl loads through TDL_CUDA_LIBRARY. Memory is
 * the process's own, an allocation is filled with garbage, streams run what is launched at once (a C function the
 * test gives, or nothing), and everything is written down. It is stricter than a driver: a call without a current
 * context, with a handle it never gave out, or forbidden while a graph is recorded, is an error.
 *
 *     fake_cuda_fail("cuMemMap", 2, 999);                  the second call of cuMemMap from now fails, once
 *     tdl_prepare(...);
 *     fake_cuda_calls("cuMemMap"), fake_cuda_log(i)        what was called since fake_cuda_begin */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fake_cuda_launch {
    char entry[64];
    unsigned grid, threads, shared;
    const void *stream;
    int captured;
    uint64_t words[512]; /* the parameter, as many bytes as the entry declares */
} fake_cuda_launch;

typedef struct fake_cuda_setting {
    int devices, arch, sms, pageable, mapping;
    size_t memory;                         /* bytes of a GPU */
    const char *missing;                   /* a function the driver does not have */
    void (*run)(const fake_cuda_launch *); /* what a launch does, after it was written down */
} fake_cuda_setting;
extern fake_cuda_setting fake_cuda;

/* Default settings, no planned failure, empty log; objects stay. */
void fake_cuda_begin(void);
void fake_cuda_fail(const char *call, int nth, int result);
int fake_cuda_failed(void);       /* the planned failure has happened */
void fake_cuda_break(int result); /* from now on whatever touches the GPU fails with this; 0: repaired */

int fake_cuda_calls(const char *call);
const char *fake_cuda_log(int i); /* "cuStreamWaitEvent 2 1" (stream 2, event 1), NULL after the last */
const fake_cuda_launch *fake_cuda_launches(int i);
/* Objects that exist, in words; "" if none do. */
const char *fake_cuda_live(void);
void fake_cuda_clear(void);          /* ends them all: after a release was made to fail */
int fake_cuda_depth(void);           /* contexts on the stack of current ones */
const char *fake_cuda_loading(void); /* CUDA_MODULE_LOADING at the last cuInit */

/* Stream `n` of the user, 1 to 4. */
void *fake_cuda_stream(int n);
void fake_cuda_capture(void *stream, int on);
int fake_cuda_capture_ok(void); /* nothing forbidden was done since it began */
void fake_cuda_replay(void);    /* runs what was captured */

#ifdef __cplusplus
}
#endif
#endif
