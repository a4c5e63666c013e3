/* fake_cuda.c: a CUDA driver without a GPU (fake_cuda.h). An image is text, of lines that say what an entry
 * is like: entry axpy threads=128 registers=40 local=0 shared=0 dynamic=0 per_sm=2 bytes=4000 refuse 222 (the
 * driver does not take this image) Here is what was called, what exists, and what a test asks and sets; the
 * calls of the driver are in fake_cuda_calls.c and, those about memory, in fake_cuda_memory.c. */
#include "fake_cuda_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LOG = 4096 };

fake_cuda_setting fake_cuda;
static const fake_cuda_setting defaults = {2, 90, 4, 0, 1, (size_t)1 << 30, NULL, NULL};

/* ---- What was called ----------------------------------------------------------------------------------- */
static char lines[LOG][96];
static int n_lines;
static char fail_call[64];
static int fail_nth, fail_result, fail_happened;
int broken;
fake_cuda_launch launches[LAUNCHES];
int n_launches;
char loading[32];
int depth;

void write_down(const char *call, const char *format, ...) {
    if (n_lines == LOG) abort();
    int n = snprintf(lines[n_lines], sizeof lines[0], "%s", call);
    va_list list;
    va_start(list, format);
    vsnprintf(lines[n_lines] + n, sizeof lines[0] - (size_t)n, format, list);
    va_end(list);
    n_lines++;
}

/* Whether this call is to fail. */
tdlcu_result planned(const char *call) {
    if (strcmp(call, fail_call) || --fail_nth) return 0;
    fail_happened = 1;
    return (tdlcu_result)fail_result;
}

int fake_cuda_calls(const char *call) {
    int n = 0;
    size_t length = strlen(call);
    for (int i = 0; i < n_lines; i++)
        n += !strncmp(lines[i], call, length) && (lines[i][length] == ' ' || !lines[i][length]);
    return n;
}

const char *fake_cuda_log(int i) {
    return i < n_lines ? lines[i] : NULL;
}

/* ---- Objects ------------------------------------------------------------------------------------------- */
static const char *const kind_names[] = {"",     "context", "module", "stream", "event",
                                         "host", "range",   "memory", "mapping"};

object objects[OBJECTS];
static int counters[16];
user_state streams[STREAMS];
size_t used;

object *new_object(kind k, uint64_t at, uint64_t bytes) {
    for (object *o = objects; o < objects + OBJECTS; o++)
        if (o->kind == NONE) {
            memset(o, 0, sizeof *o);
            o->kind = k;
            o->number = ++counters[k];
            o->at = at ? at : (uint64_t)(uintptr_t)o;
            o->bytes = bytes;
            return o;
        }
    abort();
}

object *find(kind k, uint64_t at) {
    for (object *o = objects; o < objects + OBJECTS; o++)
        if (o->kind == k && o->at == at && !o->released) return o;
    return NULL;
}

int inside(kind k, uint64_t at, uint64_t bytes) {
    for (object *o = objects; o < objects + OBJECTS; o++)
        if (o->kind == k && o->at <= at && at + bytes <= o->at + o->bytes && (k != MAPPING || o->accessible))
            return 1;
    return 0;
}

/* May span mappings that follow each other. */
int mapped(uint64_t at, uint64_t bytes) {
    while (bytes) {
        object *found = NULL;
        for (object *o = objects; o < objects + OBJECTS; o++)
            if (o->kind == MAPPING && o->accessible && o->at <= at && at < o->at + o->bytes) found = o;
        if (!found) return 0;
        uint64_t step = found->at + found->bytes - at;
        if (step > bytes) step = bytes;
        at += step;
        bytes -= step;
    }
    return 1;
}

const char *fake_cuda_live(void) {
    static char text[1024];
    text[0] = 0;
    for (object *o = objects; o < objects + OBJECTS; o++) {
        size_t n = strlen(text);
        if (o->kind != NONE) snprintf(text + n, sizeof text - n, "%s %d, ", kind_names[o->kind], o->number);
    }
    return text;
}

void fake_cuda_clear(void) {
    for (object *o = objects; o < objects + OBJECTS; o++) {
        if (o->kind == RANGE) munmap((void *)(uintptr_t)o->at, o->bytes);
        if (o->kind == HOST) free((void *)(uintptr_t)o->at);
        o->kind = NONE;
    }
    used = 0;
    depth = 0;
}

/* ---- Streams and events -------------------------------------------------------------------------------- */
static int handles[STREAMS];

void *fake_cuda_stream(int n) {
    return &handles[n];
}

static int user_stream(const void *s) {
    for (int i = 1; i < STREAMS; i++)
        if (s == &handles[i]) return i;
    return 0;
}

/* 0: the default stream, 1 to 4 the user's, from 100 on those that were created; -1: none. */
int stream_number(const void *s) {
    if (!s || user_stream(s)) return user_stream(s);
    object *o = find(STREAM, (uint64_t)(uintptr_t)s);
    return o ? 99 + o->number : -1;
}

void fake_cuda_capture(void *stream, int on) {
    streams[user_stream(stream)].capturing = on;
    if (on) streams[user_stream(stream)].broken = 0;
}

int fake_cuda_capture_ok(void) {
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].broken) return 0;
    return 1;
}

/* What waits or allocates ends a capture that is under way. */
tdlcu_result forbidden_in_capture(void) {
    int any = 0;
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].capturing) any = streams[i].broken = 1;
    return any ? TDL_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0;
}

void fake_cuda_begin(void) {
    fake_cuda = defaults;
    n_lines = n_launches = 0;
    fail_call[0] = 0;
    fail_happened = broken = 0;
    memset(streams, 0, sizeof streams);
}

void fake_cuda_fail(const char *call, int nth, int result) {
    snprintf(fail_call, sizeof fail_call, "%s", call);
    fail_nth = nth;
    fail_result = result;
    fail_happened = 0;
}

int fake_cuda_failed(void) {
    return fail_happened;
}
void fake_cuda_break(int result) {
    broken = result;
}
const fake_cuda_launch *fake_cuda_launches(int i) {
    return i < n_launches ? &launches[i] : NULL;
}
int fake_cuda_depth(void) {
    return depth;
}
const char *fake_cuda_loading(void) {
    return loading;
}
