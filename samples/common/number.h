// The element types of the samples as C++ sees them: bits of f32, bf16 and f16, and how to get to float and back.
//
//     bf16::Storage                 what an array of them is in C: uint16_t
//     bf16::to_float(x)             float of the stored bits
//     bf16::from_float(1.0f / 3)    nearest bf16, ties to even
//
// Written from the formats alone, without tdl, so that a mistake there shows here.
#ifndef SAMPLES_NUMBER_H
#define SAMPLES_NUMBER_H

#include <algorithm>
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

/// An element type: how it is stored and what its bits mean. `tolerance`: |out - ref| <= tolerance (1 + |ref|) is
/// accepted for rounded data. `poison` is a NaN that no computation makes.
struct f32 {
    using Storage = float;
    static constexpr const char *name = "f32";
    static constexpr double tolerance = 1e-5;
    static float to_float(float x) { return x; }
    static float from_float(float x) { return x; }
    static float poison() { return bits_to<float>(uint32_t(0x7fc5a5a5)); }
};

/// bf16 is the upper half of an f32.
struct bf16 {
    using Storage = uint16_t;
    static constexpr const char *name = "bf16";
    static constexpr double tolerance = 8e-3;
    static float to_float(uint16_t x) { return bits_to<float>(uint32_t(x) << 16); }
    static uint16_t from_float(float x) {
        uint32_t b = bits_to<uint32_t>(x);
        if (std::isnan(x)) return uint16_t((b >> 16) | 0x40);
        return uint16_t((b + 0x7fff + ((b >> 16) & 1)) >> 16);
    }
    static uint16_t poison() { return 0x7fe5; }
};

/// f16: 1 sign, 5 exponent bits (bias 15), 10 fraction bits.
struct f16 {
    using Storage = uint16_t;
    static constexpr const char *name = "f16";
    static constexpr double tolerance = 2e-3;
    static float to_float(uint16_t x) {
        int exponent = (x >> 10) & 31, fraction = x & 1023;
        float v = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? std::ldexp(float(1024 + fraction), exponent - 25)
                                 : std::ldexp(float(fraction), -24);
        return x & 0x8000 ? -v : v;
    }
    static uint16_t from_float(float x) {
        uint16_t sign = std::signbit(x) ? 0x8000 : 0;
        if (std::isnan(x)) return uint16_t(sign | 0x7e00);
        if (std::fabs(x) >= 65520.0f) return uint16_t(sign | 0x7c00);
        if (x == 0) return sign;
        int e = std::max(std::ilogb(x), -14);
        long units = std::lrint(std::ldexp(std::fabs(x), 10 - e)); // ties to even; 2048 carries into the exponent
        return uint16_t(sign | ((e + 14) * 1024 + units));
    }
    static uint16_t poison() { return 0x7fa5; }
};

/// x as it is after being stored as an E.
template <class E> float rounded(double x) { return E::to_float(E::from_float(float(x))); }

} // namespace sample

#endif
