/* options.c: what the caller, the environment and the launcher say, as one struct of settings. Before/after:
 *     options {0}, TDL_RANK=2 TDL_RANKS=4 TDL_SOCKET=job7                ->  rank 2 of 4 at "job7"
 *     options {0}, OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 ...     ->  rank 1 of 2 at "tdl.1000.ompi.<job>"
 *     options {0}, nothing set                                           ->  rank 0 of 1 */
#include "cuda_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads an integer variable; *found = 0 if it is not set or empty. */
static tdl_status read_variable(const char *name, int64_t least, int64_t most, int64_t *value, int *found) {
    const char *text = getenv(name);
    *found = text && *text;
    if (!*found) return TDL_OK;
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || *end || v < least || v > most)
        return tdli_fail(NULL, TDL_BAD_ARGUMENT,
                         "environment variable %s is `%s`: an integer from %lld to %lld is expected", name,
                         text, (long long)least, (long long)most);
    *value = v;
    return TDL_OK;
}

static tdl_status out_of_range(const char *option, long long value, long long least, long long most) {
    return tdli_fail(NULL, TDL_BAD_ARGUMENT,
                     "option `%s` is %lld: %lld to %lld, or 0 for the default, is allowed", option, value,
                     least, most);
}

/* An option if it is not 0, else a variable, else a default. */
static tdl_status pick(const char *option, int64_t given, const char *variable, int64_t least, int64_t most,
                       int64_t otherwise, int64_t *out) {
    int found;
    *out = otherwise;
    if (given && (given < least || given > most)) return out_of_range(option, given, least, most);
    if (given) {
        *out = given;
        return TDL_OK;
    }
    return read_variable(variable, least, most, out, &found);
}

typedef struct launcher {
    const char *name, *rank, *ranks;
    const char
        *job[3]; /* variables that tell one job from another on this machine; else: the parent process */
} launcher;

static const launcher launchers[] = {
    {"TDL", "TDL_RANK", "TDL_RANKS", {NULL}},
    {"ompi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"pmi", "PMI_RANK", "PMI_SIZE", {NULL}},
    /* SLURM_NTASKS is set in batch scripts, too, where this process is no task of a step. */
    {"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"torchrun", "RANK", "WORLD_SIZE", {"MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
};

static void derive_socket(const launcher *l, char *out, size_t size) {
    tdli_text t = {out, size, 0};
    int any = 0;
    tdli_text_add(&t, "tdl.%u.%s", (unsigned)getuid(), l->name);
    for (int i = 0; i < 3 && l->job[i]; i++) {
        const char *value = getenv(l->job[i]);
        if (value && *value) tdli_text_add(&t, ".%s", value), any = 1;
    }
    if (!any) tdli_text_add(&t, ".%ld", (long)getppid());
}

/* Several ranks on other machines are out of reach of a Unix-domain socket. */
static tdl_status check_one_machine(const launcher *l, int ranks) {
    static const char *const local[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "LOCAL_WORLD_SIZE"};
    for (int i = 0; i < 2; i++) {
        int64_t n;
        int found;
        tdl_status s = read_variable(local[i], 1, INT32_MAX, &n, &found);
        if (s) return s;
        if (found && l->name[0] == (i ? 't' : 'o') && n != ranks)
            return tdli_fail(NULL, TDL_BAD_ARGUMENT,
                             "%s is %d but %s is %d: all ranks must run on one machine", l->ranks, ranks,
                             local[i], (int)n);
    }
    return TDL_OK;
}

/* rank, ranks and socket from the first launcher that set both. */
static tdl_status read_launcher(tdli_settings *set) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const launcher *l = &launchers[i];
        int64_t rank = 0, ranks = 1;
        int has_rank, has_ranks;
        tdl_status s = read_variable(l->ranks, 1, TDLI_MAX_RANKS, &ranks, &has_ranks);
        if (!s) s = read_variable(l->rank, 0, has_ranks ? ranks - 1 : TDLI_MAX_RANKS, &rank, &has_rank);
        if (s) return s;
        if (i == 0 && has_rank != has_ranks)
            return tdli_fail(NULL, TDL_BAD_ARGUMENT, "environment variable %s is set, but %s is not",
                             has_rank ? l->rank : l->ranks, has_rank ? l->ranks : l->rank);
        if (!has_rank || !has_ranks) continue;
        set->rank = (int)rank;
        set->ranks = (int)ranks;
        if (i) derive_socket(l, set->socket, sizeof set->socket);
        return i ? check_one_machine(l, set->ranks) : TDL_OK;
    }
    return TDL_OK;
}

/* A launcher that started several processes, but does not tell this one which it is, would leave every process
 * computing alone and look like success: the one thing worth a line on stderr. */
static void warn_if_alone(const tdli_settings *set) {
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                                        "SLURM_NTASKS", "WORLD_SIZE"};
    if (set->ranks != 1) return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *value = getenv(sizes[i]);
        if (!value || atoi(value) <= 1) continue;
        fprintf(stderr,
                "tdl: this process is rank 0 of 1, although %s is %s: no variable says which rank it is. "
                "Start it with tdlrun, or set TDL_RANK, TDL_RANKS and TDL_SOCKET.\n",
                sizes[i], value);
        return;
    }
}

static tdl_status copy_text(const char *option, const char *from, char *to, size_t size) {
    size_t n = strlen(from);
    if (n == 0 || n >= size)
        return tdli_fail(NULL, TDL_BAD_ARGUMENT, "%s is `%s`: 1 to %zu bytes are allowed", option, from,
                         size - 1);
    memcpy(to, from, n + 1);
    return TDL_OK;
}

static tdl_status check_startup(const tdl_startup *u) {
    if (!u->allgather || !u->barrier)
        return tdli_fail(NULL, TDL_BAD_ARGUMENT, "option `startup`: `%s` is NULL",
                         u->allgather ? "barrier" : "allgather");
    if (u->ranks < 1 || u->ranks > TDLI_MAX_RANKS)
        return out_of_range("startup->ranks", u->ranks, 1, TDLI_MAX_RANKS);
    if (u->rank < 0 || u->rank >= u->ranks)
        return tdli_fail(NULL, TDL_BAD_ARGUMENT, "option `startup->rank` is %d: 0 to %d is allowed", u->rank,
                         u->ranks - 1);
    return TDL_OK;
}

/* Who this rank is, and how it finds the others. */
static tdl_status read_membership(const tdl_options *o, tdli_settings *set) {
    tdl_status s = TDL_OK;
    set->ranks = 1;
    if (o->startup) {
        s = check_startup(o->startup);
        set->startup = o->startup;
        set->rank = o->startup->rank;
        set->ranks = o->startup->ranks;
        return s;
    }
    if (o->group) {
        set->group = o->group;
        set->rank = o->rank; /* checked by the group, which knows how many there are */
        return TDL_OK;
    }
    if (o->ranks < 0 || o->ranks > TDLI_MAX_RANKS) return out_of_range("ranks", o->ranks, 1, TDLI_MAX_RANKS);
    if (o->ranks) {
        set->rank = o->rank;
        set->ranks = o->ranks;
    } else {
        s = read_launcher(set);
        if (!s) warn_if_alone(set);
        if (!s && o->rank && o->rank != set->rank)
            s = tdli_fail(NULL, TDL_BAD_ARGUMENT,
                          "option `rank` is %d, but `ranks` is 0 and the environment says rank %d", o->rank,
                          set->rank);
    }
    if (s) return s;
    if (set->rank < 0 || set->rank >= set->ranks)
        return tdli_fail(NULL, TDL_BAD_ARGUMENT, "option `rank` is %d: 0 to %d is allowed", set->rank,
                         set->ranks - 1);
    const char *name = o->socket ? o->socket : getenv("TDL_SOCKET");
    if (name && (o->socket || *name))
        s = copy_text(o->socket ? "option `socket`" : "TDL_SOCKET", name, set->socket, 101);
    if (!s && set->ranks > 1 && !set->socket[0])
        s = tdli_fail(NULL, TDL_BAD_ARGUMENT,
                      "%d ranks, but neither option `socket` nor TDL_SOCKET names the socket at which "
                      "they meet",
                      set->ranks);
    return s;
}

static tdl_status read_device(const tdl_options *o, tdli_settings *set) {
    const char *device = o->device ? o->device : getenv("TDL_DEVICE");
    int64_t max_sms = 0, checking = 0, verbose = 0;
    int found;
    tdl_status s = TDL_OK;
    if (device && *device)
        s = tdli_cuda_parse(device, o->device ? "option `device`" : "TDL_DEVICE", set);
    if (!s) s = read_variable("TDL_MAX_SMS", 1, INT32_MAX, &max_sms, &found);
    if (!s) s = read_variable("TDL_CHECK", 0, 1, &checking, &found);
    if (!s) s = read_variable("TDL_VERBOSE", 0, 1, &verbose, &found);
    set->max_sms = (int)max_sms;
    set->checking = (int)checking;
    set->verbose = (int)verbose;
    return s;
}

tdl_status tdli_read_options(const tdl_options *o, tdli_settings *set) {
    static const tdl_options defaults;
    memset(set, 0, sizeof *set);
    if (!o) o = &defaults;
    for (int i = 0; i < 8; i++)
        if (o->reserved[i]) return tdli_fail(NULL, TDL_BAD_ARGUMENT, "option `reserved[%d]` is not 0", i);
    tdl_status s = read_membership(o, set);
    if (s) return s;

    s = read_device(o, set);
    if (s) return s;

    if (o->heap_bytes && o->heap_bytes < 1 << 20)
        return out_of_range("heap_bytes", o->heap_bytes, 1 << 20, INT64_MAX);
    set->heap_bytes = o->heap_bytes;

    int64_t v;
    /* The default depends on what the other ranks have: startup.c puts it in. */
    s = pick("threads", o->threads, "TDL_THREADS", 1, TDLI_MAX_THREADS, 0, &v);
    set->threads = (int)v;
    if (!s) s = pick("timeout_ms", o->timeout_ms, "TDL_TIMEOUT_MS", 1, INT32_MAX, 10000, &v);
    set->timeout_ms = (int)v;
    if (!s)
        s = pick("startup_timeout_ms", o->startup_timeout_ms, "TDL_STARTUP_TIMEOUT_MS", 1, INT32_MAX, 60000,
                 &v);
    set->startup_timeout_ms = (int)v;
    if (s) return s;

    const char *plan = o->plan ? o->plan : getenv("TDL_PLAN");
    if (plan && (o->plan || *plan))
        s = copy_text(o->plan ? "option `plan`" : "TDL_PLAN", plan, set->plan, sizeof set->plan);
    if (s) return s;
    set->chaos = o->chaos;
    if (!o->chaos) {
        int found;
        s = read_variable("TDL_CHAOS", 0, INT64_MAX, &v, &found);
        if (!s && found) set->chaos = (uint64_t)v;
    }
    return s;
}
