/* fake.c: hand-written kernels (fake.h). The all-gather follows the default plan of tdlc: push my rows into a
 * slot of every peer's staging buffer, notify, copy what arrived into the output, tell the writer when its
 * slot is read. */
#include "fake.h"

#include <stddef.h>
#include <string.h>

void (*fake_hook)(int64_t rank, uint64_t epoch, int64_t chunk);

static int64_t block_of(int64_t extent, int64_t ranks) {
    int64_t b = extent / ranks + (extent % ranks != 0);
    return b < 1 ? 1 : b;
}

/* ---- All-gather
 * -------------------------------------------------------------------------------------------- */
/* Layout: bytes of staging, bytes of local | words of arrived, done | words of read | counts of push
 * (chunks), gather (ranks, chunks) | workspace. */
static void gather_layout(const tdl_shape *s, int64_t chunks, int64_t *out) {
    int64_t b = block_of(s->sizes[0], s->ranks), bytes;
    if (__builtin_mul_overflow(s->sizes[1], 4 * b, &bytes) || __builtin_mul_overflow(bytes, s->ranks, &bytes))
        bytes = INT64_MAX;
    out[0] = bytes;
    out[1] = 64;
    out[2] = s->ranks * chunks;
    out[3] = s->ranks;
    out[4] = s->ranks;
    out[5] = chunks;
    out[6] = s->ranks;
    out[7] = chunks;
    out[8] = s->sizes[1] * 4;
}

static void layout_rows(const tdl_shape *s, int64_t *out) {
    gather_layout(s, block_of(s->sizes[0], s->ranks), out);
}
static void layout_halves(const tdl_shape *s, int64_t *out) {
    gather_layout(s, 2, out);
}

typedef struct gather {
    tdl_frame *f;
    int64_t worker, chunks, M, N, block, slots_reversed;
    float factor;
} gather;

static void chunk_rows(const gather *g, int64_t rank, int64_t chunk, int64_t *from, int64_t *to) {
    int64_t begin = rank * g->block, end = begin + g->block;
    if (begin > g->M) begin = g->M;
    if (end > g->M) end = g->M;
    int64_t size = block_of(end - begin, g->chunks);
    *from = begin + chunk * size < end ? begin + chunk * size : end;
    *to = *from + size < end ? *from + size : end;
}

static float *staging(const gather *g, int64_t at, int64_t writer) {
    int64_t slot = g->slots_reversed ? g->f->ranks - 1 - writer : writer;
    return (float *)(void *)(g->f->heaps[at] + g->f->buffers[0]) + slot * g->block * g->N;
}

static void push(const gather *g, int64_t chunk, int64_t ticket) {
    tdl_frame *f = g->f;
    int64_t from, to;
    chunk_rows(g, f->rank, chunk, &from, &to);
    if (fake_hook) fake_hook(f->rank, f->epoch, chunk);
    for (int64_t k = 1; k < f->ranks; k++) {
        int64_t p = (f->rank + k) % f->ranks;
        if (tdl_wait_flag(f, 1, p, f->epoch - 1, 0, ticket)) return;
        for (int64_t i = from; i < to; i++) {
            float *row = (float *)(void *)f->workspaces[g->worker];
            const float *a = (const float *)(void *)f->tensors[0] + (i - f->rank * g->block) * f->strides[0];
            for (int64_t j = 0; j < g->N; j++) row[j] = a[j] * g->factor;
            memcpy(staging(g, p, f->rank) + (i - f->rank * g->block) * g->N, row, (size_t)g->N * 4);
        }
        tdl_notify(f, p, 0, f->rank * g->chunks + chunk);
    }
}

static void collect(const gather *g, int64_t r, int64_t chunk, int64_t ticket) {
    tdl_frame *f = g->f;
    int64_t from, to;
    chunk_rows(g, r, chunk, &from, &to);
    if (r != f->rank && tdl_wait_flag(f, 0, r * g->chunks + chunk, f->epoch, 1, ticket)) return;
    for (int64_t i = from; i < to; i++) {
        float *c = (float *)(void *)f->tensors[1] + i * f->strides[2];
        const float *a = (const float *)(void *)f->tensors[0] + (i - r * g->block) * f->strides[0];
        if (r == f->rank)
            for (int64_t j = 0; j < g->N; j++) c[j] = a[j] * g->factor;
        else
            memcpy(c, staging(g, f->rank, r) + (i - r * g->block) * g->N, (size_t)g->N * 4);
    }
    if (r != f->rank && tdl_arrive(f, 0, r, (uint64_t)g->chunks)) tdl_notify(f, r, 1, f->rank);
}

static void run_gather(tdl_frame *f, int64_t worker, int64_t chunks, int reversed, float factor) {
    gather g = {f,        worker, chunks, f->sizes[0], f->sizes[1], block_of(f->sizes[0], f->ranks),
                reversed, factor};
    for (int64_t t; (t = tdl_next_ticket(f, worker)) >= 0;) {
        if (t < chunks)
            push(&g, t, t);
        else
            collect(&g, (t - chunks) / chunks, (t - chunks) % chunks, t);
    }
}

static void run_rows(tdl_frame *f, int64_t w) {
    run_gather(f, w, block_of(f->sizes[0], f->ranks), 0, 1);
}
static void run_halves(tdl_frame *f, int64_t w) {
    run_gather(f, w, 2, 0, 1);
}
static void run_mirror(tdl_frame *f, int64_t w) {
    run_gather(f, w, block_of(f->sizes[0], f->ranks), 1, -1);
}

static const tdl_buffer gather_buffers[] = {{"staging", TDL_BUFFER_PROTOCOL, 0},
                                            {"spare", TDL_BUFFER_LOCAL, 0}};
static const tdl_flag gather_flags[] = {{"arrived", TDL_FLAG_DATA, 0}, {"done", TDL_FLAG_DONE, 0}};
static const tdl_join gather_joins[] = {{"read"}};
static const tdl_task gather_tasks[] = {{"push", 7, 1}, {"gather", 9, 2}};
static const tdl_site gather_sites[] = {{0, 7, 5, 0}, {1, 9, 12, 0}};
static const tdl_plan gather_plans[] = {
    {.name = "rows",
     .n_buffers = 2,
     .n_flags = 2,
     .n_joins = 1,
     .n_tasks = 2,
     .n_sites = 2,
     .buffers = gather_buffers,
     .flags = gather_flags,
     .joins = gather_joins,
     .tasks = gather_tasks,
     .sites = gather_sites,
     .layout = layout_rows,
     .run = run_rows},
    {.name = "halves",
     .n_buffers = 2,
     .n_flags = 2,
     .n_joins = 1,
     .n_tasks = 2,
     .n_sites = 2,
     .buffers = gather_buffers,
     .flags = gather_flags,
     .joins = gather_joins,
     .tasks = gather_tasks,
     .sites = gather_sites,
     .layout = layout_halves,
     .run = run_halves},
};
static const tdl_plan mirror_plans[] = {
    {.name = "rows",
     .n_buffers = 2,
     .n_flags = 2,
     .n_joins = 1,
     .n_tasks = 2,
     .n_sites = 2,
     .buffers = gather_buffers,
     .flags = gather_flags,
     .joins = gather_joins,
     .tasks = gather_tasks,
     .sites = gather_sites,
     .layout = layout_rows,
     .run = run_mirror},
};

static int64_t shape_gather(const tdl_shape *s, int64_t *e) {
    e[0] = e[2] = s->sizes[0];
    e[1] = e[3] = s->sizes[1];
    return -1;
}

static const char *const mn[] = {"M", "N"};
#define AT(s, m) ((int32_t)offsetof(s, m))
static const tdl_arg gather_args[] = {
    {"M", TDL_ARG_SIZE, TDL_I64, AT(fake_ag_args, M), 0, TDL_IN, 0, 0, -1, NULL, 3, 0},
    {"N", TDL_ARG_SIZE, TDL_I64, AT(fake_ag_args, N), 0, TDL_IN, 0, 0, -1, NULL, 3, 0},
    {"A", TDL_ARG_TENSOR, TDL_F32, AT(fake_ag_args, A), AT(fake_ag_args, A_stride), TDL_IN, 0, 2, 0, mn, 3,
     0},
    {"C", TDL_ARG_TENSOR, TDL_F32, AT(fake_ag_args, C), AT(fake_ag_args, C_stride), TDL_OUT, 1, 2, -1, mn, 4,
     0},
};
const tdl_kernel fake_ag_kernel = {.abi = TDL_ABI_VERSION,
                                   .identity = 0x1111,
                                   .name = "fake_ag",
                                   .source = "fake.tdl",
                                   .line = 3,
                                   .args_bytes = sizeof(fake_ag_args),
                                   .n_args = 4,
                                   .n_plans = 2,
                                   .args = gather_args,
                                   .plans = gather_plans,
                                   .shape = shape_gather};
const tdl_kernel fake_mirror_kernel = {.abi = TDL_ABI_VERSION,
                                       .identity = 0x2222,
                                       .name = "fake_mirror",
                                       .source = "fake.tdl",
                                       .line = 20,
                                       .args_bytes = sizeof(fake_ag_args),
                                       .n_args = 4,
                                       .n_plans = 1,
                                       .args = gather_args,
                                       .plans = mirror_plans,
                                       .shape = shape_gather};

/* ---- axpy
 * -------------------------------------------------------------------------------------------------- */
static void layout_axpy(const tdl_shape *s, int64_t *out) {
    out[0] = (s->sizes[0] + 15) / 16;
    out[1] = 0;
}

static void run_axpy(tdl_frame *f, int64_t worker) {
    float alpha;
    memcpy(&alpha, &f->scalars[0], 4);
    const float *x = (const float *)(void *)f->tensors[0];
    float *y = (float *)(void *)f->tensors[1];
    for (int64_t t; (t = tdl_next_ticket(f, worker)) >= 0;)
        for (int64_t i = t * 16; i < f->sizes[0] && i < t * 16 + 16; i++) y[i] = alpha * x[i] + y[i];
}

static const tdl_task axpy_tasks[] = {{"axpy", 31, 1}};
static const tdl_plan axpy_plans[] = {
    {.name = "only", .n_tasks = 1, .tasks = axpy_tasks, .layout = layout_axpy, .run = run_axpy}};
static const tdl_require axpy_requires[] = {{"N % 2 == 0", 30, 0}, {"N < 1000000", 31, 0}};
static int64_t shape_axpy(const tdl_shape *s, int64_t *e) {
    e[0] = e[1] = s->sizes[0];
    return s->sizes[0] % 2 ? 0 : s->sizes[0] >= 1000000 ? 1 : -1;
}
static const char *const n_only[] = {"N"};
static const tdl_arg axpy_args[] = {
    {"N", TDL_ARG_SIZE, TDL_I64, AT(fake_axpy_args, N), 0, TDL_IN, 0, 0, -1, NULL, 29, 0},
    {"alpha", TDL_ARG_SCALAR, TDL_F32, AT(fake_axpy_args, alpha), 0, TDL_IN, 0, 0, -1, NULL, 29, 0},
    {"X", TDL_ARG_TENSOR, TDL_F32, AT(fake_axpy_args, X), 0, TDL_IN, 0, 1, -1, n_only, 29, 0},
    {"Y", TDL_ARG_TENSOR, TDL_F32, AT(fake_axpy_args, Y), 0, TDL_INOUT, 0, 1, -1, n_only, 29, 0},
};
const tdl_kernel fake_axpy_kernel = {.abi = TDL_ABI_VERSION,
                                     .identity = 0x3333,
                                     .name = "fake_axpy",
                                     .source = "fake.tdl",
                                     .line = 29,
                                     .args_bytes = sizeof(fake_axpy_args),
                                     .n_args = 4,
                                     .n_requires = 2,
                                     .n_plans = 1,
                                     .args = axpy_args,
                                     .required = axpy_requires,
                                     .plans = axpy_plans,
                                     .shape = shape_axpy};

/* ---- Kernels that go wrong
 * ----------------------------------------------------------------------------------- */
static void layout_stuck(const tdl_shape *s, int64_t *out) {
    out[0] = s->sizes[0];
    out[1] = 1;
    out[2] = 3;
    out[3] = 5;
    out[4] = 0;
}

/* Ticket 7 of a 3 x 5 space, that is (1, 2), waits for ever; the others draw the rest. */
static void run_stuck(tdl_frame *f, int64_t worker) {
    for (int64_t t; (t = tdl_next_ticket(f, worker)) >= 0;)
        if (t == 7 && tdl_wait_flag(f, 0, 2, f->epoch, 0, t)) return;
}

static void run_wild(tdl_frame *f, int64_t worker) {
    for (int64_t t; (t = tdl_next_ticket(f, worker)) >= 0;)
        if (t == 7 && tdl_wait_flag(f, 0, f->sizes[0], f->epoch, 0, t)) return;
}

static const tdl_flag stuck_flags[] = {{"never", TDL_FLAG_DATA, 0}};
static const tdl_join stuck_joins[] = {{"none"}};
static const tdl_task stuck_tasks[] = {{"wait", 42, 2}};
static const tdl_site stuck_sites[] = {{0, 42, 17, 0}};
static const tdl_plan stuck_plans[] = {{.name = "only",
                                        .n_flags = 1,
                                        .n_joins = 1,
                                        .n_tasks = 1,
                                        .n_sites = 1,
                                        .flags = stuck_flags,
                                        .joins = stuck_joins,
                                        .tasks = stuck_tasks,
                                        .sites = stuck_sites,
                                        .layout = layout_stuck,
                                        .run = run_stuck}};
static const tdl_plan wild_plans[] = {{.name = "only",
                                       .n_flags = 1,
                                       .n_joins = 1,
                                       .n_tasks = 1,
                                       .n_sites = 1,
                                       .flags = stuck_flags,
                                       .joins = stuck_joins,
                                       .tasks = stuck_tasks,
                                       .sites = stuck_sites,
                                       .layout = layout_stuck,
                                       .run = run_wild}};
static int64_t shape_none(const tdl_shape *s, int64_t *e) {
    (void)s, (void)e;
    return -1;
}
static const tdl_arg stuck_args[] = {{"N", TDL_ARG_SIZE, TDL_I64, 0, 0, TDL_IN, 0, 0, -1, NULL, 40, 0}};
const tdl_kernel fake_stuck_kernel = {.abi = TDL_ABI_VERSION,
                                      .identity = 0x4444,
                                      .name = "fake_stuck",
                                      .source = "fake.tdl",
                                      .line = 40,
                                      .args_bytes = sizeof(fake_stuck_args),
                                      .n_args = 1,
                                      .n_plans = 1,
                                      .args = stuck_args,
                                      .plans = stuck_plans,
                                      .shape = shape_none};
const tdl_kernel fake_wild_kernel = {.abi = TDL_ABI_VERSION,
                                     .identity = 0x5555,
                                     .name = "fake_wild",
                                     .source = "fake.tdl",
                                     .line = 40,
                                     .args_bytes = sizeof(fake_stuck_args),
                                     .n_args = 1,
                                     .n_plans = 1,
                                     .args = stuck_args,
                                     .plans = wild_plans,
                                     .shape = shape_none};

/* ---- Arguments of every kind
 * --------------------------------------------------------------------------------- */
static void layout_many(const tdl_shape *s, int64_t *out) {
    (void)s;
    out[0] = 0;
}
static void run_many(tdl_frame *f, int64_t worker) {
    (void)f, (void)worker;
}
static int64_t shape_many(const tdl_shape *s, int64_t *e) {
    e[0] = s->sizes[0];
    e[1] = s->sizes[1] - 4;
    e[2] = 3;
    e[3] = e[5] = s->sizes[0];
    e[4] = e[6] = s->sizes[1];
    return -1;
}
static const char *const p_extents[] = {"M", "N - 4", "3"};
static const tdl_arg many_args[] = {
    {"M", TDL_ARG_SIZE, TDL_I64, AT(fake_many_args, M), 0, TDL_IN, 0, 0, -1, NULL, 50, 0},
    {"N", TDL_ARG_SIZE, TDL_I64, AT(fake_many_args, N), 0, TDL_IN, 0, 0, -1, NULL, 50, 0},
    {"P", TDL_ARG_TENSOR, TDL_BF16, AT(fake_many_args, P), AT(fake_many_args, P_stride), TDL_IN, 0, 3, 0,
     p_extents, 50, 0},
    {"Q", TDL_ARG_TENSOR, TDL_F64, AT(fake_many_args, Q), AT(fake_many_args, Q_stride), TDL_IN, 0, 2, -1, mn,
     50, 0},
    {"R", TDL_ARG_TENSOR, TDL_F64, AT(fake_many_args, R), AT(fake_many_args, R_stride), TDL_OUT, 0, 2, -1, mn,
     50, 0},
    {"beta", TDL_ARG_SCALAR, TDL_I32, AT(fake_many_args, beta), 0, TDL_IN, 0, 0, -1, NULL, 50, 0},
};
static const tdl_plan many_plans[] = {{.name = "only", .layout = layout_many, .run = run_many}};
const tdl_kernel fake_many_kernel = {.abi = TDL_ABI_VERSION,
                                     .identity = 0x6666,
                                     .name = "fake_many",
                                     .source = "fake.tdl",
                                     .line = 50,
                                     .args_bytes = sizeof(fake_many_args),
                                     .n_args = 6,
                                     .n_plans = 1,
                                     .args = many_args,
                                     .plans = many_plans,
                                     .shape = shape_many};
