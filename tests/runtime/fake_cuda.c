/* fake_cuda.c: a CUDA driver without a GPU (fake_cuda.h). An image is text, of lines that say what an entry is like:
 *     entry axpy threads=128 registers=40 local=0 shared=0 dynamic=0 per_sm=2 bytes=4000
 *     refuse 222                                    (the driver does not take this image) */
#include "fake_cuda.h"

#include "cuda_driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GRAIN = 65536, LOG = 4096, OBJECTS = 512, LAUNCHES = 1024, STREAMS = 8 };

fake_cuda_setting fake_cuda;
static const fake_cuda_setting defaults = {2, 90, 4, 0, 1, (size_t)1 << 30, NULL, NULL};

/* ---- What was called ----------------------------------------------------------------------------------- */
static char lines[LOG][96];
static int n_lines;
static char fail_call[64];
static int fail_nth, fail_result, fail_happened, broken;
static fake_cuda_launch launches[LAUNCHES];
static int n_launches;
static char loading[32];
static int depth;

static void write_down(const char *call, const char *format, ...) {
    if (n_lines == LOG) abort();
    int n = snprintf(lines[n_lines], sizeof lines[0], "%s", call);
    va_list list;
    va_start(list, format);
    vsnprintf(lines[n_lines] + n, sizeof lines[0] - (size_t)n, format, list);
    va_end(list);
    n_lines++;
}

/* Whether this call is to fail. */
static tdlcu_result planned(const char *call) {
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
typedef enum kind { NONE, CONTEXT, MODULE, STREAM, EVENT, HOST, RANGE, MEMORY, MAPPING } kind;
static const char *const kind_names[] = {"",     "context", "module", "stream", "event",
                                         "host", "range",   "memory", "mapping"};

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
static object objects[OBJECTS];
static int counters[16];
static struct { /* the user's streams, which exist always */
    int capturing, broken;
} streams[STREAMS];
static size_t used;

static object *new_object(kind k, uint64_t at, uint64_t bytes) {
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

static object *find(kind k, uint64_t at) {
    for (object *o = objects; o < objects + OBJECTS; o++)
        if (o->kind == k && o->at == at && !o->released) return o;
    return NULL;
}

static int inside(kind k, uint64_t at, uint64_t bytes) {
    for (object *o = objects; o < objects + OBJECTS; o++)
        if (o->kind == k && o->at <= at && at + bytes <= o->at + o->bytes && (k != MAPPING || o->accessible))
            return 1;
    return 0;
}

/* May span mappings that follow each other. */
static int mapped(uint64_t at, uint64_t bytes) {
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
static int stream_number(const void *s) {
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
static tdlcu_result forbidden_in_capture(void) {
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

/* ---- Driver, device, context --------------------------------------------------------------------------- */
static tdlcu_result cuInit(unsigned flags) {
    BEGIN(" ");
    const char *value = getenv("CUDA_MODULE_LOADING");
    snprintf(loading, sizeof loading, "%s", value ? value : "");
    return flags ? TDL_CUDA_ERROR_INVALID_VALUE : 0;
}

static const struct {
    unsigned value;
    const char *name, *text;
} errors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};

static tdlcu_result cuGetErrorName(tdlcu_result r, const char **name) {
    BEGIN(" %u", r);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == r) return *name = errors[i].name, 0;
    return TDL_CUDA_ERROR_INVALID_VALUE;
}
static tdlcu_result cuGetErrorString(tdlcu_result r, const char **text) {
    BEGIN(" %u", r);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == r) return *text = errors[i].text, 0;
    return TDL_CUDA_ERROR_INVALID_VALUE;
}
static tdlcu_result cuDeviceGetCount(int *count) {
    BEGIN(" ");
    *count = fake_cuda.devices;
    return 0;
}
static tdlcu_result cuDeviceGet(tdlcu_device *device, int ordinal) {
    BEGIN(" %d", ordinal);
    *device = ordinal;
    return ordinal < fake_cuda.devices ? 0 : 101;
}
static tdlcu_result cuDeviceGetName(char *name, int bytes, tdlcu_device device) {
    BEGIN(" %d", device);
    snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    return 0;
}
static tdlcu_result cuDeviceGetAttribute(int *value, unsigned attribute, tdlcu_device device) {
    BEGIN(" %u %d", attribute, device);
    switch (attribute) {
    case TDL_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = fake_cuda.sms; return 0;
    case TDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = fake_cuda.arch / 10; return 0;
    case TDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = fake_cuda.arch % 10; return 0;
    case TDL_CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS: *value = fake_cuda.pageable; return 0;
    case TDL_CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: *value = fake_cuda.mapping; return 0;
    }
    return TDL_CUDA_ERROR_INVALID_VALUE;
}
static tdlcu_result cuDeviceTotalMem(size_t *bytes, tdlcu_device device) {
    BEGIN(" %d", device);
    *bytes = fake_cuda.memory;
    return 0;
}
static tdlcu_result cuDevicePrimaryCtxRetain(tdlcu_context *context, tdlcu_device device) {
    BEGIN(" %d", device);
    object *o = find(CONTEXT, 0x1000u + (uint64_t)device);
    if (!o) o = new_object(CONTEXT, 0x1000u + (uint64_t)device, 0);
    o->users++;
    *context = (tdlcu_context)(uintptr_t)o->at;
    return 0;
}
static tdlcu_result cuDevicePrimaryCtxRelease(tdlcu_device device) {
    object *o = find(CONTEXT, 0x1000u + (uint64_t)device);
    write_down(__func__, " %d", device);
    tdlcu_result r = planned(__func__);
    if (!o) return 201;
    if (!--o->users) o->kind = NONE;
    return r;
}
static tdlcu_result cuCtxPushCurrent(tdlcu_context context) {
    BEGIN(" ");
    if (!find(CONTEXT, (uint64_t)(uintptr_t)context)) return 201;
    depth++;
    return 0;
}
static tdlcu_result cuCtxPopCurrent(tdlcu_context *context) {
    write_down(__func__, " ");
    *context = NULL;
    if (!depth) return 201;
    depth--;
    return planned(__func__);
}
static tdlcu_result cuCtxSynchronize(void) {
    BEGIN(" ");
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    return 0;
}

/* ---- Modules ------------------------------------------------------------------------------------------- */
static const char *entry_line(tdlcu_function f) {
    return (const char *)f;
}
static int field(const char *line, const char *name, int otherwise) {
    const char *end = strchr(line, '\n'), *at = strstr(line, name);
    return at && (!end || at < end) ? atoi(at + strlen(name)) : otherwise;
}

static tdlcu_result cuModuleLoadDataEx(tdlcu_module *module, const void *image, unsigned n, unsigned *options,
                                       void **values) {
    BEGIN(" ");
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    const char *text = image, *refuse = strstr(text, "refuse ");
    for (unsigned i = 0; i < n && refuse; i++)
        if (options[i] == TDL_CU_JIT_ERROR_LOG_BUFFER) strcpy(values[i], "the fake does not like it");
    if (refuse) return (tdlcu_result)atoi(refuse + 7);
    object *o = new_object(MODULE, 0, 0);
    o->image = text;
    *module = (tdlcu_module)(uintptr_t)o->at;
    return 0;
}
static tdlcu_result cuModuleUnload(tdlcu_module module) {
    object *o = find(MODULE, (uint64_t)(uintptr_t)module);
    write_down(__func__, " ");
    if (!depth || !o) return 400;
    o->kind = NONE;
    return planned(__func__);
}
static tdlcu_result cuModuleGetFunction(tdlcu_function *f, tdlcu_module module, const char *name) {
    BEGIN(" %s", name);
    TOUCHES_GPU;
    object *o = find(MODULE, (uint64_t)(uintptr_t)module);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "entry %s ", name);
    const char *line = o ? strstr(o->image, wanted) : NULL;
    *f = (tdlcu_function)(uintptr_t)line;
    return line ? 0 : o ? TDL_CUDA_ERROR_NOT_FOUND : 400;
}
static int dynamic_shared;
static tdlcu_result cuModuleGetGlobal(tdlcu_ptr *at, size_t *bytes, tdlcu_module module, const char *name) {
    BEGIN(" %s", name);
    TOUCHES_GPU;
    object *o = find(MODULE, (uint64_t)(uintptr_t)module);
    char wanted[128];
    const char *suffix = strstr(name, "_dynamic_shared");
    snprintf(wanted, sizeof wanted, "entry %.*s ", suffix ? (int)(suffix - name) : 0, name);
    const char *line = o && suffix ? strstr(o->image, wanted) : NULL;
    dynamic_shared = line ? field(line, "dynamic=", 0) : 0;
    *at = (tdlcu_ptr)(uintptr_t)&dynamic_shared;
    *bytes = 4;
    return dynamic_shared ? 0 : TDL_CUDA_ERROR_NOT_FOUND;
}
static tdlcu_result cuFuncGetAttribute(int *value, unsigned attribute, tdlcu_function f) {
    BEGIN(" %u", attribute);
    TOUCHES_GPU;
    switch (attribute) {
    case TDL_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = field(entry_line(f), "threads=", 1024);
        return 0;
    case TDL_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = field(entry_line(f), "shared=", 0); return 0;
    case TDL_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = field(entry_line(f), "local=", 0); return 0;
    case TDL_CU_FUNC_ATTRIBUTE_NUM_REGS: *value = field(entry_line(f), "registers=", 32); return 0;
    }
    return TDL_CUDA_ERROR_INVALID_VALUE;
}
static tdlcu_result cuFuncSetAttribute(tdlcu_function f, unsigned attribute, int value) {
    BEGIN(" %u %d", attribute, value);
    TOUCHES_GPU;
    return f && attribute == TDL_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
               ? 0
               : TDL_CUDA_ERROR_INVALID_VALUE;
}
static tdlcu_result cuFuncLoad(tdlcu_function f) {
    BEGIN(" ");
    TOUCHES_GPU;
    return f ? 0 : 400;
}
static tdlcu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, tdlcu_function f, int threads,
                                                                size_t shared) {
    BEGIN(" %d %zu", threads, shared);
    TOUCHES_GPU;
    *blocks = field(entry_line(f), "per_sm=", 1);
    return 0;
}

/* ---- Launches ------------------------------------------------------------------------------------------ */
static tdlcu_result cuLaunchKernel(tdlcu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, tdlcu_stream stream,
                                   void **parameters, void **extra) {
    BEGIN(" %d grid=%u", stream_number(stream), gx);
    TOUCHES_GPU;
    int number = stream_number(stream);
    if (!f || number < 0 || gy != 1 || gz != 1 || by != 1 || bz != 1 || extra || n_launches == LAUNCHES)
        return 400;
    fake_cuda_launch *l = &launches[n_launches++];
    memset(l, 0, sizeof *l);
    sscanf(entry_line(f), "entry %63s", l->entry);
    *l = (fake_cuda_launch){.grid = gx, .threads = bx, .shared = shared, .stream = stream};
    sscanf(entry_line(f), "entry %63s", l->entry);
    l->captured = number < STREAMS && streams[number].capturing;
    memcpy(l->words, parameters[0], (size_t)field(entry_line(f), "bytes=", 4000));
    if (!l->captured && fake_cuda.run) fake_cuda.run(l);
    return 0;
}

void fake_cuda_replay(void) {
    for (int i = 0; i < n_launches; i++)
        if (launches[i].captured && fake_cuda.run) fake_cuda.run(&launches[i]);
}

static tdlcu_result cuStreamCreate(tdlcu_stream *stream, unsigned flags) {
    BEGIN(" %u", flags);
    NEEDS_CONTEXT;
    *stream = (tdlcu_stream)(uintptr_t)new_object(STREAM, 0, 0)->at;
    return 0;
}
static tdlcu_result cuStreamDestroy(tdlcu_stream stream) {
    object *o = find(STREAM, (uint64_t)(uintptr_t)stream);
    write_down(__func__, " %d", stream_number(stream));
    if (!o) return 400;
    o->kind = NONE;
    return planned(__func__);
}
static tdlcu_result cuStreamSynchronize(tdlcu_stream stream) {
    BEGIN(" %d", stream_number(stream));
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    return stream_number(stream) < 0 ? 400 : 0;
}
static tdlcu_result cuStreamIsCapturing(tdlcu_stream stream, unsigned *status) {
    BEGIN(" %d", stream_number(stream));
    TOUCHES_GPU;
    int n = stream_number(stream);
    if (n < 0) return 400;
    *status = n < STREAMS && streams[n].capturing;
    return 0;
}
static tdlcu_result cuStreamWaitEvent(tdlcu_stream stream, tdlcu_event event, unsigned flags) {
    object *o = find(EVENT, (uint64_t)(uintptr_t)event);
    BEGIN(" %d %d", stream_number(stream), o ? o->number : 0);
    TOUCHES_GPU;
    int n = stream_number(stream);
    if (!o || flags || n < 0) return 400;
    if (n < STREAMS && streams[n].capturing) return streams[n].broken = 1, 905; /* ..._CAPTURE_ISOLATION */
    return 0;
}
static tdlcu_result cuEventCreate(tdlcu_event *event, unsigned flags) {
    BEGIN(" %u", flags);
    NEEDS_CONTEXT;
    *event = (tdlcu_event)(uintptr_t)new_object(EVENT, 0, 0)->at;
    return 0;
}
static tdlcu_result cuEventDestroy(tdlcu_event event) {
    object *o = find(EVENT, (uint64_t)(uintptr_t)event);
    write_down(__func__, " %d", o ? o->number : 0);
    if (!o) return 400;
    o->kind = NONE;
    return planned(__func__);
}
static tdlcu_result cuEventRecord(tdlcu_event event, tdlcu_stream stream) {
    object *o = find(EVENT, (uint64_t)(uintptr_t)event);
    BEGIN(" %d %d", o ? o->number : 0, stream_number(stream));
    TOUCHES_GPU;
    return o && stream_number(stream) >= 0 ? 0 : 400;
}
static tdlcu_result cuEventSynchronize(tdlcu_event event) {
    object *o = find(EVENT, (uint64_t)(uintptr_t)event);
    BEGIN(" %d", o ? o->number : 0);
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    return o ? 0 : 400;
}

/* ---- Memory -------------------------------------------------------------------------------------------- */
static tdlcu_result cuMemGetAllocationGranularity(size_t *bytes, const tdlcu_prop *prop, unsigned option) {
    BEGIN(" %u", option);
    *bytes = GRAIN;
    return prop->type == TDL_CU_MEM_ALLOCATION_TYPE_PINNED ? 0 : TDL_CUDA_ERROR_INVALID_VALUE;
}
static tdlcu_result cuMemAddressReserve(tdlcu_ptr *at, size_t bytes, size_t align, tdlcu_ptr hint,
                                        unsigned long long flags) {
    BEGIN(" %zu", bytes);
    NEEDS_CONTEXT;
    if (align || hint || flags || bytes % GRAIN) return TDL_CUDA_ERROR_INVALID_VALUE;
    char *p = mmap(NULL, bytes + GRAIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return TDL_CUDA_ERROR_OUT_OF_MEMORY;
    size_t head = (GRAIN - (uintptr_t)p % GRAIN) % GRAIN;
    if (head) munmap(p, head);
    munmap(p + head + bytes, GRAIN - head);
    *at = new_object(RANGE, (uint64_t)(uintptr_t)(p + head), bytes)->at;
    return 0;
}
static tdlcu_result cuMemAddressFree(tdlcu_ptr at, size_t bytes) {
    object *o = find(RANGE, at);
    write_down(__func__, " %zu", bytes);
    tdlcu_result r = planned(__func__);
    if (!o || o->bytes != bytes) return TDL_CUDA_ERROR_INVALID_VALUE;
    for (object *m = objects; m < objects + OBJECTS; m++)
        if (m->kind == MAPPING && m->at >= at && m->at < at + bytes) return TDL_CUDA_ERROR_INVALID_VALUE;
    munmap((void *)(uintptr_t)at, bytes);
    o->kind = NONE;
    return r;
}
static tdlcu_result cuMemCreate(tdlcu_memory *memory, size_t bytes, const tdlcu_prop *prop,
                                unsigned long long flags) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    if (!bytes || bytes % GRAIN || flags || prop->location.type != TDL_CU_MEM_LOCATION_TYPE_DEVICE) return 1;
    if (used + bytes > fake_cuda.memory) return TDL_CUDA_ERROR_OUT_OF_MEMORY;
    used += bytes;
    *memory = new_object(MEMORY, 0, bytes)->at;
    return 0;
}
static void drop_memory(object *o) {
    if (!o->released || o->users) return;
    used -= o->bytes;
    o->kind = NONE;
}
static tdlcu_result cuMemRelease(tdlcu_memory memory) {
    object *o = find(MEMORY, memory);
    write_down(__func__, " ");
    tdlcu_result r = planned(__func__);
    if (!o) return TDL_CUDA_ERROR_INVALID_VALUE;
    o->released = 1;
    drop_memory(o);
    return r;
}
static tdlcu_result cuMemMap(tdlcu_ptr at, size_t bytes, size_t offset, tdlcu_memory memory,
                             unsigned long long flags) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    object *o = find(MEMORY, memory);
    if (!o || o->bytes != bytes || offset || flags || at % GRAIN || !inside(RANGE, at, bytes)) return 1;
    for (object *m = objects; m < objects + OBJECTS; m++)
        if (m->kind == MAPPING && m->at < at + bytes && at < m->at + m->bytes) return 1;
    o->users++;
    new_object(MAPPING, at, bytes)->memory = o;
    return 0;
}
static tdlcu_result cuMemUnmap(tdlcu_ptr at, size_t bytes) {
    object *o = find(MAPPING, at);
    write_down(__func__, " %zu", bytes);
    tdlcu_result r = planned(__func__);
    if (r) return r;
    if (!o || o->bytes != bytes) return TDL_CUDA_ERROR_INVALID_VALUE;
    mmap((void *)(uintptr_t)at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
    o->memory->users--;
    drop_memory(o->memory);
    o->kind = NONE;
    return 0;
}
static tdlcu_result cuMemSetAccess(tdlcu_ptr at, size_t bytes, const tdlcu_access *access, size_t count) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    object *o = find(MAPPING, at);
    if (!o || o->bytes != bytes || count != 1 || access->flags != TDL_CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return 1;
    if (mprotect((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE)) return 1;
    memset((void *)(uintptr_t)at, 0xab, bytes);
    o->accessible = 1;
    return 0;
}
static tdlcu_result cuMemsetD8Async(tdlcu_ptr at, unsigned char value, size_t count, tdlcu_stream stream) {
    BEGIN(" %zu", count);
    TOUCHES_GPU;
    if (!mapped(at, count) || stream_number(stream) < 0) return 1;
    memset((void *)(uintptr_t)at, value, count);
    return 0;
}
static tdlcu_result cuMemcpyDtoHAsync(void *to, tdlcu_ptr from, size_t bytes, tdlcu_stream stream) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    if (from != (tdlcu_ptr)(uintptr_t)&dynamic_shared && !mapped(from, bytes)) return 1;
    if (!inside(HOST, (uint64_t)(uintptr_t)to, bytes) || stream_number(stream) < 0) return 1;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
static tdlcu_result cuMemcpyHtoDAsync(tdlcu_ptr to, const void *from, size_t bytes, tdlcu_stream stream) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    if (!mapped(to, bytes) || !inside(HOST, (uint64_t)(uintptr_t)from, bytes) || stream_number(stream) < 0)
        return 1;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
static tdlcu_result cuMemHostAlloc(void **p, size_t bytes, unsigned flags) {
    BEGIN(" %zu", bytes);
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    *p = flags ? NULL : calloc(1, bytes);
    if (*p) new_object(HOST, (uint64_t)(uintptr_t)*p, bytes);
    return *p ? 0 : 1;
}
static tdlcu_result cuMemFreeHost(void *p) {
    object *o = find(HOST, (uint64_t)(uintptr_t)p);
    write_down(__func__, " ");
    if (!o) return 1;
    free(p);
    o->kind = NONE;
    return planned(__func__);
}
/* Memory of the GPU is what was mapped, and what the test says is. */
static tdlcu_result cuPointerGetAttribute(void *value, unsigned attribute, tdlcu_ptr at) {
    BEGIN(" %u", attribute);
    *(unsigned *)value = 2;
    return mapped(at, 1) ? 0 : TDL_CUDA_ERROR_INVALID_VALUE;
}

/* ---- The only function libtdl looks up ----------------------------------------------------------------- */
tdlcu_result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                 unsigned *status);
tdlcu_result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                 unsigned *status) {
    static const tdlcu_driver table = {
#define X(call, parameters) .call = call,
        TDLCU_CALLS(X) TDLCU_OPTIONAL_CALLS(X)
#undef X
    };
    *function = NULL;
    *status = 0;
    if (flags) return TDL_CUDA_ERROR_INVALID_VALUE;
    if (fake_cuda.missing && !strcmp(name, fake_cuda.missing)) return TDL_CUDA_ERROR_NOT_FOUND;
    /* Who asks for a version finds nothing that is newer. */
    // clang-format off
#define X(call, parameters)                                                                                  \
    if (version >= TDLCU_API && !strcmp(name, #call)) memcpy(function, &table.call, sizeof *function);
    TDLCU_CALLS(X)
#undef X
#define X(call, parameters)                                                                                  \
    if (version >= TDLCU_OPTIONAL_API && !strcmp(name, #call)) memcpy(function, &table.call, sizeof *function);
    TDLCU_OPTIONAL_CALLS(X)
#undef X
    // clang-format on
    return *function ? 0 : TDL_CUDA_ERROR_NOT_FOUND;
}
