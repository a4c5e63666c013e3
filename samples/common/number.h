// The element types of the samples as C++ sees them: bits of f32, bf16 and f16, and how to get to float and back.
//
//     Number<tdl_bf16>::to_float(x)          float of the stored bits
//     Number<tdl_bf16>::from_float(1.0f/3)   nearest bf16, ties to even
//     Number<tdl_bf16>::tolerance            |out - ref| <= tolerance * (1 + |ref|) is accepted for rounded data
//
// Written from the formats alone and independent of the compiler, so that a mistake there shows here.
#ifndef SAMPLES_NUMBER_H
#define SAMPLES_NUMBER_H

#include "tdl.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace sample {

template <class To, class From> To bits_to(From from) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

template <class E> struct Number;

template <> struct Number<float> {
    static constexpr const char *name = "f32";
    static constexpr double tolerance = 1e-5;
    static float to_float(float x) { return x; }
    static float from_float(float x) { return x; }
    static float poison() { return bits_to<float>(uint32_t(0x7fc5a5a5)); }
};

/// bf16 is the upper half of an f32.
template <> struct Number<tdl_bf16> {
    static constexpr const char *name = "bf16";
    static constexpr double tolerance = 8e-3;
    static float to_float(tdl_bf16 x) { return bits_to<float>(uint32_t(bits_to<uint16_t>(x)) << 16); }
    static tdl_bf16 from_float(float x) {
        uint32_t b = bits_to<uint32_t>(x);
        if (std::isnan(x)) return bits_to<tdl_bf16>(uint16_t((b >> 16) | 0x40));
        return bits_to<tdl_bf16>(uint16_t((b + 0x7fff + ((b >> 16) & 1)) >> 16));
    }
    static tdl_bf16 poison() { return bits_to<tdl_bf16>(uint16_t(0x7fe5)); }
};

/// f16: 1 sign, 5 exponent bits (bias 15), 10 fraction bits.
template <> struct Number<tdl_f16> {
    static constexpr const char *name = "f16";
    static constexpr double tolerance = 2e-3;
    static float to_float(tdl_f16 x) {
        uint16_t b = bits_to<uint16_t>(x);
        int exponent = (b >> 10) & 31, fraction = b & 1023;
        float v = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? std::ldexp(float(1024 + fraction), exponent - 25)
                                 : std::ldexp(float(fraction), -24);
        return b & 0x8000 ? -v : v;
    }
    static tdl_f16 from_float(float x) {
        uint16_t sign = std::signbit(x) ? 0x8000 : 0;
        if (std::isnan(x)) return bits_to<tdl_f16>(uint16_t(sign | 0x7e00));
        if (std::fabs(x) >= 65520.0f) return bits_to<tdl_f16>(uint16_t(sign | 0x7c00));
        if (x == 0) return bits_to<tdl_f16>(sign);
        int e = std::max(std::ilogb(x), -14);
        long units = std::lrint(std::ldexp(std::fabs(x), 10 - e)); // ties to even; 2048 carries into the exponent
        return bits_to<tdl_f16>(uint16_t(sign | ((e + 14) * 1024 + units)));
    }
    static tdl_f16 poison() { return bits_to<tdl_f16>(uint16_t(0x7fa5)); }
};

/// x as it is after being stored as an E.
template <class E> float rounded(double x) { return Number<E>::to_float(Number<E>::from_float(float(x))); }

} // namespace sample

#endif
