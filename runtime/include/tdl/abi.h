/* tdl/abi.h: the contract between generated objects and the runtime. Not for users: they need tdl.h.
 *
 * An object holds, for each kernel k, one `const tdl_kernel k_descriptor`, the two entry points
 *     tdl_status k(tdl_ctx *, const k_args *, void *stream)     { return tdl_launch(ctx, &k_descriptor, args, stream); }
 *     tdl_status k_prepare(tdl_ctx *, const k_args *)           { return tdl_prepare(ctx, &k_descriptor, args); }
 * and, for each plan, two compiled functions: `layout` (how much scratch, how many flags, joins, tickets for
 * these sizes) and `run` (what one worker does in a launch). Everything else is the runtime's.
 *
 * The code generator addresses tdl_frame by byte offset; src/codegen/host/abi.cpp static_asserts every one.
 * Any change here raises TDL_ABI_VERSION. */
#ifndef TDL_ABI_H
#define TDL_ABI_H

#include <stdint.h>
#include "../tdl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TDL_ABI_VERSION 2

/* Element types, in the order of src/support/elem.def. */
typedef enum tdl_elem {
    TDL_BOOL, TDL_I8, TDL_I32, TDL_I64, TDL_F8E4M3, TDL_F8E5M2, TDL_F16, TDL_BF16, TDL_F32, TDL_F64
} tdl_elem;

/* ---- One launch, as generated code sees it (one per launch, shared by its workers) -------------------- */
typedef struct tdl_frame {
    int64_t ranks;              /*  0: number of ranks */
    int64_t rank;               /*  8: this one */
    uint64_t epoch;             /* 16: launch number in this context, from 1, equal on all ranks */
    const int64_t *sizes;       /* 24: the kernel's sizes in order of declaration */
    const uint64_t *scalars;    /* 32: scalar parameters, one 8-byte slot each, value in the low bytes */
    char *const *tensors;       /* 40: base address of each tensor parameter (not of local tensors) */
    const int64_t *strides;     /* 48: element strides of all dimensions of all tensor parameters, one after another */
    char *const *heaps;         /* 56: heaps[r]: where rank r's scratch is mapped in this process */
    const int64_t *buffers;     /* 64: per buffer of the plan, its byte offset: in the heap (protocol) or from `local` */
    char *local;                /* 72: this rank's scratch that no peer sees */
    char *const *workspaces;    /* 80: workspaces[w]: worker w's private memory for tile values, 64-byte aligned */
    void *launch;               /* 88: the runtime's own */
} tdl_frame;

/* What `layout` needs to know. */
typedef struct tdl_shape {
    int64_t ranks;              /*  0 */
    int64_t rank;               /*  8 */
    const int64_t *sizes;       /* 16 */
    const uint64_t *scalars;    /* 24 */
} tdl_shape;

/* ---- What generated code calls ------------------------------------------------------------------------ */
/* The next ticket of this launch in [0, tickets), or -1: none left, or the launch was aborted. */
int64_t tdl_next_ticket(tdl_frame *, int64_t worker);

/* Waits return 0, or 1 if the launch was aborted (the worker then leaves its task without arriving).
 * `site` indexes tdl_plan.sites and `ticket` is the one being executed; both are for reports. Acquire. */
int tdl_wait_flag(tdl_frame *, int64_t flag, int64_t index, uint64_t expected, int64_t site, int64_t ticket);
int tdl_wait_join(tdl_frame *, int64_t join, int64_t index, uint64_t total, int64_t site, int64_t ticket);

/* Adds 1 to a join with acquire-release; returns 1 to the arriver that completes `total`, else 0. */
int tdl_arrive(tdl_frame *, int64_t join, int64_t index, uint64_t total);

/* Stores the epoch to word `index` of flag `flag` in the memory of rank `to`, release at system scope. */
void tdl_notify(tdl_frame *, int64_t to, int64_t flag, int64_t index);

/* ---- What an object says about a kernel --------------------------------------------------------------- */
typedef enum tdl_arg_kind { TDL_ARG_SIZE, TDL_ARG_SCALAR, TDL_ARG_TENSOR } tdl_arg_kind;
typedef enum tdl_arg_mode { TDL_IN, TDL_OUT, TDL_INOUT } tdl_arg_mode;

typedef struct tdl_arg {
    const char *name;
    int32_t kind;               /* tdl_arg_kind */
    int32_t elem;               /* tdl_elem; TDL_I64 for sizes */
    int32_t offset;             /* byte offset of the value or pointer in k_args */
    int32_t stride_offset;      /* byte offset of int64_t NAME_stride[ndims - 1] in k_args; 0 if there is none */
    int32_t mode;               /* tdl_arg_mode */
    int32_t uniform;            /* 1: a copy on every rank with equal contents */
    int32_t ndims;              /* 0 for sizes and scalars */
    int32_t dist_dim;           /* dimension distributed over the ranks, or -1 */
    const char *const *extents; /* ndims texts, as in the source */
    int32_t line;
    int32_t pad;
} tdl_arg;

typedef struct tdl_require { const char *text; int32_t line, pad; } tdl_require;

typedef enum tdl_buffer_kind {
    TDL_BUFFER_PROTOCOL,        /* in the heap, written by peers; bytes equal on all ranks */
    TDL_BUFFER_LOCAL            /* seen by this rank only */
} tdl_buffer_kind;
typedef struct tdl_buffer { const char *name; int32_t kind, pad; } tdl_buffer;

typedef enum tdl_flag_kind {
    TDL_FLAG_DATA,              /* one notify per word and launch, waited for with the epoch */
    TDL_FLAG_DONE               /* `ranks` words that belong to the context: word p is the last launch in which
                                   rank p has finished with what this rank pushed to it; waited for with epoch - 1 */
} tdl_flag_kind;
typedef struct tdl_flag { const char *name; int32_t kind, pad; } tdl_flag;

typedef struct tdl_join { const char *name; } tdl_join;
typedef struct tdl_task { const char *name; int32_t line, ncoords; } tdl_task;
typedef struct tdl_site { int32_t task, line, column, pad; } tdl_site;

/* What `layout` writes, in this order:
 *     bytes of each buffer | words of each flag | words of each join | per task, its coordinate counts |
 *     workspace bytes per worker
 * Tickets of task t are the product of its counts; tasks follow each other in ticket order, the last
 * coordinate runs fastest. A negative or overflowing size is written as INT64_MAX and refused by the runtime. */
typedef struct tdl_plan {
    const char *name;
    int32_t n_buffers, n_flags, n_joins, n_tasks, n_sites, pad;
    const tdl_buffer *buffers;
    const tdl_flag *flags;
    const tdl_join *joins;
    const tdl_task *tasks;
    const tdl_site *sites;
    void (*layout)(const tdl_shape *, int64_t *out);
    void (*run)(tdl_frame *, int64_t worker);   /* NULL: the object has no host code */
    const char *device_entry;                   /* the plan's entry in the kernel's images; NULL: no device code */
    int64_t (*device_workspace)(const tdl_shape *);   /* bytes that a block of the device needs in its workspace */
} tdl_plan;

/* ---- Device code (tdl/abi_device.h says how it is called) ------------------------------------------------ */
typedef enum tdl_image_kind { TDL_IMAGE_PTX, TDL_IMAGE_CUBIN } tdl_image_kind;
typedef struct tdl_image {
    int32_t kind;               /* tdl_image_kind */
    int32_t arch;               /* 80, 90, 100: sm_NN */
    int32_t specific;           /* 1: sm_NNa, runs on that architecture only; 0: PTX runs on later ones, too */
    int32_t pad;
    const void *data;           /* PTX is NUL-terminated */
    int64_t bytes;
} tdl_image;

typedef struct tdl_kernel {
    int32_t abi;                /* TDL_ABI_VERSION */
    int32_t cpu_level;          /* 1..4: x86-64-vN the code needs; 0: none */
    uint64_t identity;          /* hash of the kernel's meaning and plans: part of the launch fingerprint */
    const char *name;
    const char *source;         /* file name as given to tdlc, without folders */
    int32_t line, args_bytes;   /* sizeof(k_args) */
    int32_t n_args, n_requires, n_plans, pad;
    const tdl_arg *args;        /* in order of k_args: sizes, tensors and scalars as declared */
    const tdl_require *required;      /* n_requires of them (`requires` is a C++20 keyword) */
    const tdl_plan *plans;      /* the first is the default */
    /* Writes the global extents of all dimensions of all tensor arguments, then returns the index of the first
     * `require` that does not hold, or -1. */
    int64_t (*shape)(const tdl_shape *, int64_t *extents);
    int32_t n_images, pad2;
    const tdl_image *images;    /* device code of all plans; several kernels of an object may share it */
} tdl_kernel;

/* Entry points behind k and k_prepare. */
tdl_status tdl_launch(tdl_ctx *, const tdl_kernel *, const void *args, void *stream);
tdl_status tdl_prepare(tdl_ctx *, const tdl_kernel *, const void *args);

#ifdef __cplusplus
}
#endif
#endif
