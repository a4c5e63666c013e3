/* cuda_driver.h: the part of the CUDA driver interface that libtdl uses, so that nothing of CUDA is needed to
 * build it. The driver is loaded when a context asks for it; a machine without one gets an error in words.
 *
 * Names and values are CUDA's, with `tdlcu_` or TDL before them; tests/runtime/cuda_header.c compares every one of
 * them, and every prototype, with the cuda.h of a toolkit, where there is one. Enumerations are `unsigned`. */
#ifndef TDLI_CUDA_DRIVER_H
#define TDLI_CUDA_DRIVER_H

#include "tdl.h"

/* The tags are CUDA's own, which makes the prototypes comparable. */
typedef int tdlcu_device;
typedef unsigned long long tdlcu_ptr;    /* CUdeviceptr */
typedef unsigned long long tdlcu_memory; /* CUmemGenericAllocationHandle */
typedef unsigned tdlcu_result;
typedef struct CUctx_st *tdlcu_context;
typedef struct CUmod_st *tdlcu_module;
typedef struct CUfunc_st *tdlcu_function;
typedef struct CUstream_st *tdlcu_stream;
typedef struct CUevent_st *tdlcu_event;

typedef struct tdlcu_location {
    unsigned type;
    int id;
} tdlcu_location;
typedef struct tdlcu_prop { /* CUmemAllocationProp */
    unsigned type, requestedHandleTypes;
    tdlcu_location location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} tdlcu_prop;
typedef struct tdlcu_access { /* CUmemAccessDesc */
    tdlcu_location location;
    unsigned flags;
} tdlcu_access;

#ifdef CUDA_VERSION /* cuda.h is there: the comparison */
typedef CUmemAllocationProp tdlcu_prop_argument;
typedef CUmemAccessDesc tdlcu_access_argument;
#else
typedef tdlcu_prop tdlcu_prop_argument;
typedef tdlcu_access tdlcu_access_argument;
#endif

#define TDLCU_CONSTANTS(X)                                                                                   \
    X(CUDA_SUCCESS, 0)                                                                                       \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                                                           \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                           \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                                                                         \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                             \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                                                                         \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                                     \
    X(CUDA_ERROR_INVALID_PTX, 218)                                                                           \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                                                \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                               \
    X(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)                                                              \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                             \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                                                            \
    X(CU_STREAM_CAPTURE_STATUS_NONE, 0)                                                                      \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                          \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                      \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                      \
    X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 88)                                                        \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                             \
    X(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)                                          \
    X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                            \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                                \
    X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                                 \
    X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                                         \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                                    \
    X(CU_MEM_ALLOCATION_TYPE_PINNED, 1)                                                                      \
    X(CU_MEM_LOCATION_TYPE_DEVICE, 1)                                                                        \
    X(CU_MEM_HANDLE_TYPE_NONE, 0)                                                                            \
    X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                                                 \
    X(CU_MEM_ALLOC_GRANULARITY_MINIMUM, 0)                                                                   \
    X(CU_STREAM_NON_BLOCKING, 1)                                                                             \
    X(CU_EVENT_DISABLE_TIMING, 2)                                                                            \
    X(CU_JIT_INFO_LOG_BUFFER, 3)                                                                             \
    X(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)                                                                  \
    X(CU_JIT_ERROR_LOG_BUFFER, 5)                                                                            \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                                 \
    X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)

enum {
#define X(name, value) TDL_##name = value,
    TDLCU_CONSTANTS(X)
#undef X
};

/* The functions, in their form of CUDA 12.0, each as X(name, parameters). All return a result. */
#define TDLCU_CALLS(X)                                                                                       \
    X(cuInit, (unsigned flags))                                                                              \
    X(cuGetErrorName, (tdlcu_result, const char **name))                                                     \
    X(cuGetErrorString, (tdlcu_result, const char **text))                                                   \
    X(cuDeviceGetCount, (int *count))                                                                        \
    X(cuDeviceGet, (tdlcu_device *, int ordinal))                                                            \
    X(cuDeviceGetName, (char *name, int bytes, tdlcu_device))                                                \
    X(cuDeviceGetAttribute, (int *value, unsigned attribute, tdlcu_device))                                  \
    X(cuDeviceTotalMem, (size_t *bytes, tdlcu_device))                                                       \
    X(cuDevicePrimaryCtxRetain, (tdlcu_context *, tdlcu_device))                                             \
    X(cuDevicePrimaryCtxRelease, (tdlcu_device))                                                             \
    X(cuCtxPushCurrent, (tdlcu_context))                                                                     \
    X(cuCtxPopCurrent, (tdlcu_context *))                                                                    \
    X(cuCtxSynchronize, (void))                                                                              \
    X(cuModuleLoadDataEx, (tdlcu_module *, const void *image, unsigned n, unsigned *options, void **values)) \
    X(cuModuleUnload, (tdlcu_module))                                                                        \
    X(cuModuleGetFunction, (tdlcu_function *, tdlcu_module, const char *name))                               \
    X(cuModuleGetGlobal, (tdlcu_ptr *, size_t *bytes, tdlcu_module, const char *name))                       \
    X(cuFuncGetAttribute, (int *value, unsigned attribute, tdlcu_function))                                  \
    X(cuFuncSetAttribute, (tdlcu_function, unsigned attribute, int value))                                   \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                           \
      (int *blocks, tdlcu_function, int threads, size_t dynamic_shared))                                     \
    X(cuLaunchKernel, (tdlcu_function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,      \
                       unsigned bz, unsigned dynamic_shared, tdlcu_stream, void **parameters, void **extra)) \
    X(cuStreamCreate, (tdlcu_stream *, unsigned flags))                                                      \
    X(cuStreamDestroy, (tdlcu_stream))                                                                       \
    X(cuStreamSynchronize, (tdlcu_stream))                                                                   \
    X(cuStreamIsCapturing, (tdlcu_stream, unsigned *status))                                                 \
    X(cuStreamWaitEvent, (tdlcu_stream, tdlcu_event, unsigned flags))                                        \
    X(cuEventCreate, (tdlcu_event *, unsigned flags))                                                        \
    X(cuEventDestroy, (tdlcu_event))                                                                         \
    X(cuEventRecord, (tdlcu_event, tdlcu_stream))                                                            \
    X(cuEventSynchronize, (tdlcu_event))                                                                     \
    X(cuMemGetAllocationGranularity, (size_t *bytes, const tdlcu_prop_argument *, unsigned option))          \
    X(cuMemAddressReserve, (tdlcu_ptr *, size_t bytes, size_t align, tdlcu_ptr at, unsigned long long))      \
    X(cuMemAddressFree, (tdlcu_ptr, size_t bytes))                                                           \
    X(cuMemCreate, (tdlcu_memory *, size_t bytes, const tdlcu_prop_argument *, unsigned long long))          \
    X(cuMemRelease, (tdlcu_memory))                                                                          \
    X(cuMemMap, (tdlcu_ptr, size_t bytes, size_t offset, tdlcu_memory, unsigned long long))                  \
    X(cuMemUnmap, (tdlcu_ptr, size_t bytes))                                                                 \
    X(cuMemSetAccess, (tdlcu_ptr, size_t bytes, const tdlcu_access_argument *, size_t count))                \
    X(cuMemsetD8Async, (tdlcu_ptr, unsigned char value, size_t count, tdlcu_stream))                         \
    X(cuMemcpyDtoHAsync, (void *to, tdlcu_ptr from, size_t bytes, tdlcu_stream))                             \
    X(cuMemcpyHtoDAsync, (tdlcu_ptr to, const void *from, size_t bytes, tdlcu_stream))                       \
    X(cuMemHostAlloc, (void **, size_t bytes, unsigned flags))                                               \
    X(cuMemFreeHost, (void *))                                                                               \
    X(cuPointerGetAttribute, (void *value, unsigned attribute, tdlcu_ptr))

/* Functions of CUDA 12.4, which may be missing (NULL then). */
#define TDLCU_OPTIONAL_CALLS(X) X(cuFuncLoad, (tdlcu_function))

typedef struct tdlcu_driver {
    void *library;
#define X(name, parameters) tdlcu_result(*name) parameters;
    TDLCU_CALLS(X)
    TDLCU_OPTIONAL_CALLS(X)
#undef X
} tdlcu_driver;

enum { TDLCU_API = 12000, TDLCU_OPTIONAL_API = 12040 }; /* versions whose forms are asked for */

/* Opens libcuda.so.1, or what TDL_CUDA_LIBRARY names, and finds the functions. Errors: DEVICE_ERROR. */
tdl_status tdlcu_open(tdl_ctx *, tdlcu_driver *);
void tdlcu_close(tdlcu_driver *);

/* TDL_OK, or a failure of `call` in words, with what it was about:
 *     cuMemCreate, 2097152 bytes for workspaces: CUDA_ERROR_OUT_OF_MEMORY (out of memory)
 * Errors: OUT_OF_MEMORY, DEVICE_ERROR. */
tdl_status tdlcu_check(tdl_ctx *, const tdlcu_driver *, tdlcu_result, const char *call, const char *about,
                       ...) __attribute__((format(printf, 5, 6)));
const char *tdlcu_error_name(const tdlcu_driver *, tdlcu_result);

#endif
