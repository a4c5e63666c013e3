/* Runs claims.tdl on this rank and prints the number of every condition that does not hold. */
#include "claims.h"

#include <stdio.h>

int main(void) {
    static const int64_t lengths[] = {600, 1, 2, 3, 7};
    tdl_ctx *ctx;
    int bad = 0;
    if (tdl_init(&ctx, NULL)) return fprintf(stderr, "%s\n", tdl_last_error(NULL)), 1;
    for (int l = 0; l < 5; l++) {
        enum { count = 96, unset = -1 };
        int32_t result[count], set = 0;
        for (int i = 0; i < count; i++) result[i] = unset;
        claims_args a = {.N = lengths[l], .R = result};
        if (claims(ctx, &a, NULL) || tdl_synchronize(ctx, NULL)) return fprintf(stderr, "%s\n", tdl_last_error(ctx)), 1;
        for (int i = 0; i < count; i++) {
            set += result[i] != unset;
            if (result[i] == 1 || result[i] == unset) continue;
            printf("does not hold (N = %d): R[%d]\n", (int)a.N, i);
            bad = 1;
        }
        if (tdl_rank(ctx) == 0) printf("N = %d: %d conditions\n", (int)a.N, set);
    }
    tdl_finalize(ctx);
    return bad;
}
