/* fake_cuda_calls.c: the calls of the fake driver (fake_cuda.h) but for those about memory, and the table of
 * all. */
#include "fake_cuda_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Driver, device, context --------------------------------------------------------------------------- */
tdlcu_result cuInit(unsigned flags) {
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

tdlcu_result cuGetErrorName(tdlcu_result r, const char **name) {
    BEGIN(" %u", r);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == r) return *name = errors[i].name, 0;
    return TDL_CUDA_ERROR_INVALID_VALUE;
}
tdlcu_result cuGetErrorString(tdlcu_result r, const char **text) {
    BEGIN(" %u", r);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == r) return *text = errors[i].text, 0;
    return TDL_CUDA_ERROR_INVALID_VALUE;
}
tdlcu_result cuDeviceGetCount(int *count) {
    BEGIN(" ");
    *count = fake_cuda.devices;
    return 0;
}
tdlcu_result cuDeviceGet(tdlcu_device *device, int ordinal) {
    BEGIN(" %d", ordinal);
    *device = ordinal;
    return ordinal < fake_cuda.devices ? 0 : 101;
}
tdlcu_result cuDeviceGetName(char *name, int bytes, tdlcu_device device) {
    BEGIN(" %d", device);
    snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    return 0;
}
tdlcu_result cuDeviceGetAttribute(int *value, unsigned attribute, tdlcu_device device) {
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
tdlcu_result cuDeviceTotalMem(size_t *bytes, tdlcu_device device) {
    BEGIN(" %d", device);
    *bytes = fake_cuda.memory;
    return 0;
}
tdlcu_result cuDevicePrimaryCtxRetain(tdlcu_context *context, tdlcu_device device) {
    BEGIN(" %d", device);
    object *o = find(CONTEXT, 0x1000u + (uint64_t)device);
    if (!o) o = new_object(CONTEXT, 0x1000u + (uint64_t)device, 0);
    o->users++;
    *context = (tdlcu_context)(uintptr_t)o->at;
    return 0;
}
tdlcu_result cuDevicePrimaryCtxRelease(tdlcu_device device) {
    object *o = find(CONTEXT, 0x1000u + (uint64_t)device);
    write_down(__func__, " %d", device);
    tdlcu_result r = planned(__func__);
    if (!o) return 201;
    if (!--o->users) o->kind = NONE;
    return r;
}
tdlcu_result cuCtxPushCurrent(tdlcu_context context) {
    BEGIN(" ");
    if (!find(CONTEXT, (uint64_t)(uintptr_t)context)) return 201;
    depth++;
    return 0;
}
tdlcu_result cuCtxPopCurrent(tdlcu_context *context) {
    write_down(__func__, " ");
    *context = NULL;
    if (!depth) return 201;
    depth--;
    return planned(__func__);
}
tdlcu_result cuCtxSynchronize(void) {
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

tdlcu_result cuModuleLoadDataEx(tdlcu_module *module, const void *image, unsigned n, unsigned *options,
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
tdlcu_result cuModuleUnload(tdlcu_module module) {
    object *o = find(MODULE, (uint64_t)(uintptr_t)module);
    write_down(__func__, " ");
    if (!depth || !o) return 400;
    o->kind = NONE;
    return planned(__func__);
}
tdlcu_result cuModuleGetFunction(tdlcu_function *f, tdlcu_module module, const char *name) {
    BEGIN(" %s", name);
    TOUCHES_GPU;
    object *o = find(MODULE, (uint64_t)(uintptr_t)module);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "entry %s ", name);
    const char *line = o ? strstr(o->image, wanted) : NULL;
    *f = (tdlcu_function)(uintptr_t)line;
    return line ? 0 : o ? TDL_CUDA_ERROR_NOT_FOUND : 400;
}
int dynamic_shared;
tdlcu_result cuModuleGetGlobal(tdlcu_ptr *at, size_t *bytes, tdlcu_module module, const char *name) {
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
tdlcu_result cuFuncGetAttribute(int *value, unsigned attribute, tdlcu_function f) {
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
tdlcu_result cuFuncSetAttribute(tdlcu_function f, unsigned attribute, int value) {
    BEGIN(" %u %d", attribute, value);
    TOUCHES_GPU;
    return f && attribute == TDL_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
               ? 0
               : TDL_CUDA_ERROR_INVALID_VALUE;
}
tdlcu_result cuFuncLoad(tdlcu_function f) {
    BEGIN(" ");
    TOUCHES_GPU;
    return f ? 0 : 400;
}
tdlcu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, tdlcu_function f, int threads,
                                                         size_t shared) {
    BEGIN(" %d %zu", threads, shared);
    TOUCHES_GPU;
    *blocks = field(entry_line(f), "per_sm=", 1);
    return 0;
}

/* ---- Launches ------------------------------------------------------------------------------------------ */
tdlcu_result cuLaunchKernel(tdlcu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, tdlcu_stream stream, void **parameters,
                            void **extra) {
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

tdlcu_result cuStreamCreate(tdlcu_stream *stream, unsigned flags) {
    BEGIN(" %u", flags);
    NEEDS_CONTEXT;
    *stream = (tdlcu_stream)(uintptr_t)new_object(STREAM, 0, 0)->at;
    return 0;
}
tdlcu_result cuStreamDestroy(tdlcu_stream stream) {
    object *o = find(STREAM, (uint64_t)(uintptr_t)stream);
    write_down(__func__, " %d", stream_number(stream));
    if (!o) return 400;
    o->kind = NONE;
    return planned(__func__);
}
tdlcu_result cuStreamSynchronize(tdlcu_stream stream) {
    BEGIN(" %d", stream_number(stream));
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    return stream_number(stream) < 0 ? 400 : 0;
}
tdlcu_result cuStreamIsCapturing(tdlcu_stream stream, unsigned *status) {
    BEGIN(" %d", stream_number(stream));
    TOUCHES_GPU;
    int n = stream_number(stream);
    if (n < 0) return 400;
    *status = n < STREAMS && streams[n].capturing;
    return 0;
}
tdlcu_result cuStreamWaitEvent(tdlcu_stream stream, tdlcu_event event, unsigned flags) {
    object *o = find(EVENT, (uint64_t)(uintptr_t)event);
    BEGIN(" %d %d", stream_number(stream), o ? o->number : 0);
    TOUCHES_GPU;
    int n = stream_number(stream);
    if (!o || flags || n < 0) return 400;
    if (n < STREAMS && streams[n].capturing) return streams[n].broken = 1, 905; /* ..._CAPTURE_ISOLATION */
    return 0;
}
tdlcu_result cuEventCreate(tdlcu_event *event, unsigned flags) {
    BEGIN(" %u", flags);
    NEEDS_CONTEXT;
    *event = (tdlcu_event)(uintptr_t)new_object(EVENT, 0, 0)->at;
    return 0;
}
tdlcu_result cuEventDestroy(tdlcu_event event) {
    object *o = find(EVENT, (uint64_t)(uintptr_t)event);
    write_down(__func__, " %d", o ? o->number : 0);
    if (!o) return 400;
    o->kind = NONE;
    return planned(__func__);
}
tdlcu_result cuEventRecord(tdlcu_event event, tdlcu_stream stream) {
    object *o = find(EVENT, (uint64_t)(uintptr_t)event);
    BEGIN(" %d %d", o ? o->number : 0, stream_number(stream));
    TOUCHES_GPU;
    return o && stream_number(stream) >= 0 ? 0 : 400;
}
tdlcu_result cuEventSynchronize(tdlcu_event event) {
    object *o = find(EVENT, (uint64_t)(uintptr_t)event);
    BEGIN(" %d", o ? o->number : 0);
    TOUCHES_GPU;
    NOT_IN_CAPTURE;
    return o ? 0 : 400;
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
