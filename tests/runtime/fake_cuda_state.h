/* fake_cuda_state.h: what the files of the fake driver share (fake_cuda.h). Nothing of it is seen from
 * outside of the library. */
#ifndef FAKE_CUDA_STATE_H
#define FAKE_CUDA_STATE_H

#include "cuda_driver.h"
#include "fake_cuda.h"

enum { GRAIN = 65536, OBJECTS = 512, LAUNCHES = 1024, STREAMS = 8 };

typedef enum kind { NONE, CONTEXT, MODULE, STREAM, EVENT, HOST, RANGE, MEMORY, MAPPING } kind;
typedef struct object {
    kind kind;
    int number;
    uint64_t at, bytes;
    int users; /* of memory: mappings; of a context: retains */
    int released;
    struct object *memory;
    int accessible;
    const char *image;
} object;
typedef struct user_state { /* of the user's streams, which exist always */
    int capturing, broken;
} user_state;

#pragma GCC visibility push(hidden)
extern object objects[OBJECTS];
extern user_state streams[STREAMS];
extern fake_cuda_launch launches[LAUNCHES];
extern int n_launches;
extern int depth;          /* of the stack of current contexts */
extern int broken;         /* what touches the GPU fails with this */
extern int dynamic_shared; /* the global of the module that was asked last */
extern size_t used;        /* bytes of the GPU */
extern char loading[32];

void write_down(const char *call, const char *format, ...);
tdlcu_result planned(const char *call);
object *new_object(kind k, uint64_t at, uint64_t bytes);
object *find(kind k, uint64_t at);
int inside(kind k, uint64_t at, uint64_t bytes);
int mapped(uint64_t at, uint64_t bytes);
int stream_number(const void *s);
tdlcu_result forbidden_in_capture(void);

#define X(call, parameters) tdlcu_result call parameters;
TDLCU_CALLS(X) TDLCU_OPTIONAL_CALLS(X)
#undef X
#pragma GCC visibility pop

/* Every function starts with one of these. */
#define BEGIN(...)                                                                                           \
    write_down(__func__, __VA_ARGS__);                                                                       \
    tdlcu_result planned_result = planned(__func__);                                                         \
    if (planned_result) return planned_result
#define NEEDS_CONTEXT                                                                                        \
    if (!depth) return 201 /* CUDA_ERROR_INVALID_CONTEXT */
#define TOUCHES_GPU                                                                                          \
    NEEDS_CONTEXT;                                                                                           \
    if (broken) return (tdlcu_result)broken
#define NOT_IN_CAPTURE                                                                                       \
    do {                                                                                                     \
        tdlcu_result r_ = forbidden_in_capture();                                                            \
        if (r_) return r_;                                                                                   \
    } while (0)

#endif
