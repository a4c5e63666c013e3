/* error.c: statuses in words, and the texts of errors (error.h). */
#include "error.h"

#include "context.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The text of tdl_init and other functions that have no context to put it in. */
static _Thread_local char thread_error[TDLI_ERROR_BYTES];

const char *tdl_status_string(tdl_status s) {
    switch (s) {
    case TDL_OK: return "success";
    case TDL_BAD_ARGUMENT: return "bad argument";
    case TDL_NEEDS_PREPARE: return "needs prepare";
    case TDL_DEVICE_ERROR: return "device error";
    case TDL_SYSTEM_ERROR: return "system error";
    case TDL_OUT_OF_MEMORY: return "out of memory";
    case TDL_TIMEOUT: return "time-out";
    case TDL_PEER_LOST: return "peer lost";
    case TDL_MISMATCH: return "mismatch between ranks";
    case TDL_WRONG_VERSION: return "wrong version";
    case TDL_INTERNAL_ERROR: return "internal error";
    }
    return "unknown status";
}

const char *tdl_version(void) {
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
    return TEXT(TDL_VERSION_MAJOR) "." TEXT(TDL_VERSION_MINOR) "." TEXT(TDL_VERSION_PATCH);
}

const char *tdl_last_error(const tdl_ctx *ctx) {
    return ctx ? ctx->error : thread_error;
}

void tdli_text_add_list(tdli_text *t, const char *format, va_list list) {
    if (t->used + 1 >= t->size) return;
    int n = vsnprintf(t->at + t->used, t->size - t->used, format, list);
    if (n < 0) return;
    t->used += (size_t)n;
    if (t->used >= t->size) t->used = t->size - 1;
}

void tdli_text_add(tdli_text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tdli_text_add_list(t, format, list);
    va_end(list);
}

/* The arguments may point into the old text, hence the second buffer. */
static void record(tdl_ctx *ctx, const char *format, va_list list, int error) {
    char buffer[TDLI_ERROR_BYTES];
    tdli_text t = {buffer, sizeof buffer, 0};
    buffer[0] = 0;
    tdli_text_add_list(&t, format, list);
    char words[128];
    if (error) tdli_text_add(&t, ": %s", strerror_r(error, words, sizeof words));
    memcpy(ctx ? ctx->error : thread_error, buffer, t.used + 1);
}

tdl_status tdli_fail(tdl_ctx *ctx, tdl_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    record(ctx, format, list, 0);
    va_end(list);
    return status;
}

tdl_status tdli_fail_system(tdl_ctx *ctx, int error, const char *format, ...) {
    va_list list;
    va_start(list, format);
    record(ctx, format, list, error);
    va_end(list);
    return error == ENOMEM ? TDL_OUT_OF_MEMORY : TDL_SYSTEM_ERROR;
}

void tdli_keep_error(const tdl_ctx *ctx) {
    memcpy(thread_error, ctx->error, sizeof thread_error);
}
