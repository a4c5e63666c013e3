/* cpu.c: which x86-64 level (psABI: v2 SSE4.2, v3 AVX2 FMA BMI, v4 AVX-512) this machine offers, so that an object
 * compiled for a higher one is an error with words instead of an illegal instruction. The operating system must
 * save the wider registers, too (XCR0). */
#include "launch.h"

#if defined(__x86_64__)
#include <cpuid.h>

static uint64_t xcr0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

#define ALL(word, bits) (((word) & (bits)) == (bits))

int tdli_cpu_level(void) {
    uint32_t a, b, c, d, b7 = 0, c7, d7, c81 = 0, d81;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 1;
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) b7 = 0;
    if (!__get_cpuid(0x80000001, &a, &b, &c81, &d81)) c81 = 0;
    /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF */
    if (!ALL(c, 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23) || !ALL(c81, 1u)) return 1;
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; XMM and YMM saved */
    if (!ALL(c, 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29) ||
        !ALL(b7, 1u << 3 | 1u << 5 | 1u << 8) || !ALL(c81, 1u << 5) || !ALL(xcr0(), 0x6))
        return 2;
    /* AVX512 F, DQ, CD, BW, VL; masks and ZMM saved */
    if (!ALL(b7, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) || !ALL(xcr0(), 0xe6)) return 3;
    return 4;
}
#else
int tdli_cpu_level(void) {
    return 0;
}
#endif
