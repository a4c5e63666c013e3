/* error.h: how functions of the runtime fail: with a status, and a text in the context (or, without a context, in
 * the thread). One function per kind of error keeps the wording in one place.
 *
 *     if (n < 0) return tdli_fail(ctx, TDL_BAD_ARGUMENT, "`%s` is %lld: sizes must be 0 or more", name, n);
 */
#ifndef TDLI_ERROR_H
#define TDLI_ERROR_H

#include "tdl.h"

#include <stdarg.h>

enum { TDLI_ERROR_BYTES = 6144 };

/* Text being put together in a buffer of fixed size; what does not fit is dropped at the end. */
typedef struct tdli_text {
    char *at;
    size_t size, used;
} tdli_text;
void tdli_text_add(tdli_text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tdli_text_add_list(tdli_text *, const char *format, va_list) __attribute__((format(printf, 2, 0)));

/* Records the text and returns the status. `ctx` may be NULL: then the text is the thread's. */
tdl_status tdli_fail(tdl_ctx *ctx, tdl_status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A system call failed: "`mmap` of 64 bytes: Cannot allocate memory". `error` is its errno. */
tdl_status tdli_fail_system(tdl_ctx *ctx, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Hands the text of a context that is about to vanish to the thread. */
void tdli_keep_error(const tdl_ctx *ctx);

#endif
