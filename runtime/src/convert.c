/* convert.c: bf16 and f16 to and from f32, for programs that fill and check tensors. In integers, so that the
 * result does not depend on the processor's rounding mode. Before/after:
 *     tdl_bf16_from_f32(1.00390625f) -> 0x3f80 (a tie: to even),  tdl_f16_from_f32(65520.0f) -> 0x7c00 (infinity) */
#include "tdl.h"

#include <string.h>

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

tdl_bf16 tdl_bf16_from_f32(float f) {
    uint32_t u = bits_of(f);
    if ((u & 0x7fffffff) > 0x7f800000) return (tdl_bf16)(u >> 16 | 0x40); /* NaN: keep it one */
    return (tdl_bf16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

float tdl_bf16_to_f32(tdl_bf16 h) {
    return float_of((uint32_t)h << 16);
}

tdl_f16 tdl_f16_from_f32(float f) {
    uint32_t u = bits_of(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
    if (a > 0x7f800000) return (tdl_f16)(sign | 0x7e00 | (a >> 13 & 0x3ff)); /* NaN */
    if (a >= 0x47800000) return (tdl_f16)(sign | 0x7c00);                    /* 65536 and up: infinity */
    if (a >= 0x38800000)                                                     /* normal: 2^-14 and up */
        return (tdl_f16)(sign | (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13);
    if (a < 0x33000000) return (tdl_f16)sign; /* below half the least: zero */
    /* Subnormal: units of 2^-24. The significand with its hidden bit, shifted right by `shift`, to even. */
    uint32_t shift = 126 - (a >> 23), m = (a & 0x7fffff) | 0x800000;
    uint32_t low = m & ((1u << shift) - 1), half = 1u << (shift - 1), h = m >> shift;
    if (low > half || (low == half && (h & 1))) h++;
    return (tdl_f16)(sign | h);
}

float tdl_f16_to_f32(tdl_f16 h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 0x1f, m = h & 0x3ff;
    if (e == 31) return float_of(sign | 0x7f800000 | m << 13);
    if (e) return float_of(sign | (e + 112) << 23 | m << 13);
    float f = (float)m * 0x1p-24f;
    return sign ? -f : f;
}
