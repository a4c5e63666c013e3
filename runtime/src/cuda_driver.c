/* cuda_driver.c: loading the CUDA driver, and its errors in words (cuda_driver.h). */
#include "cuda_driver.h"

#include "error.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef tdlcu_result (*get_proc_address)(const char *name, void **function, int version, uint64_t flags,
                                         unsigned *result);

/* A pointer to a function has the size of one to data wherever there is dlsym. */
static int find(get_proc_address get, const char *name, int version, void *function) {
    void *found = NULL;
    unsigned result = 0;
    if (get(name, &found, version, 0, &result)) found = NULL;
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static tdl_status too_old(tdl_ctx *ctx, const char *library, const char *name) {
    return tdli_fail(ctx, TDL_DEVICE_ERROR,
                     "device `cuda`: %s has no function %s: a driver for CUDA 12.0 or later (R525) is needed",
                     library, name);
}

tdl_status tdlcu_open(tdl_ctx *ctx, tdlcu_driver *d) {
    memset(d, 0, sizeof *d);
    const char *name = getenv("TDL_CUDA_LIBRARY");
    if (!name || !*name) name = "libcuda.so.1";
    /* The real driver does not survive being unloaded. */
    d->library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!d->library)
        return tdli_fail(ctx, TDL_DEVICE_ERROR, "device `cuda`: this machine has no CUDA driver: %s",
                         dlerror());
    get_proc_address get;
    void *symbol = dlsym(d->library, "cuGetProcAddress_v2");
    if (!symbol) return too_old(ctx, name, "cuGetProcAddress_v2");
    memcpy(&get, &symbol, sizeof get);
#define X(function, parameters)                                                                              \
    if (!find(get, #function, TDLCU_API, &d->function)) return too_old(ctx, name, #function);
    TDLCU_CALLS(X)
#undef X
#define X(function, parameters) find(get, #function, TDLCU_OPTIONAL_API, &d->function);
    TDLCU_OPTIONAL_CALLS(X)
#undef X
    return TDL_OK;
}

void tdlcu_close(tdlcu_driver *d) {
    if (d->library) dlclose(d->library);
    d->library = NULL;
}

const char *tdlcu_error_name(const tdlcu_driver *d, tdlcu_result r) {
    const char *name = NULL;
    return d->cuGetErrorName(r, &name) || !name ? "an error unknown to the driver" : name;
}

tdl_status tdlcu_check(tdl_ctx *ctx, const tdlcu_driver *d, tdlcu_result r, const char *call,
                       const char *about, ...) {
    if (r == TDL_CUDA_SUCCESS) return TDL_OK;
    char words[512];
    tdli_text t = {words, sizeof words, 0};
    words[0] = 0;
    va_list list;
    va_start(list, about);
    tdli_text_add_list(&t, about, list);
    va_end(list);
    const char *text = NULL;
    if (d->cuGetErrorString(r, &text) || !text) text = "no description";
    return tdli_fail(ctx, r == TDL_CUDA_ERROR_OUT_OF_MEMORY ? TDL_OUT_OF_MEMORY : TDL_DEVICE_ERROR,
                     "%s%s%s: %s (%u, %s)", call, t.used ? ", " : "", words, tdlcu_error_name(d, r), r, text);
}
