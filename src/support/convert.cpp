#include "support/convert.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tdl {
namespace {

/// A float format of Exponent and Mantissa bits and a sign. Finite: no infinities, one NaN (all ones), as
/// fp8e4m3.
template <int Exponent, int Mantissa, bool Finite, bool Saturates> struct Format {
    static constexpr int bias = (1 << (Exponent - 1)) - 1;
    static constexpr int leastExponent = 1 - bias; // of normal numbers
    static constexpr uint64_t sign = uint64_t{1} << (Exponent + Mantissa);
    static constexpr uint64_t special = ((uint64_t{1} << Exponent) - 1) << Mantissa;
    static constexpr uint64_t nan = Finite ? sign - 1 : special | uint64_t{1} << (Mantissa - 1);
    static constexpr uint64_t largest = Finite ? nan - 1 : special - 1;
    static constexpr uint64_t overflow = Saturates ? largest : special;

    static uint64_t encode(double v) {
        auto bits = std::bit_cast<uint64_t>(v);
        uint64_t s = bits >> 63 ? sign : 0;
        int e = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
        uint64_t m = bits & ((uint64_t{1} << 52) - 1);
        if (e == 1024) return s | (m ? nan : overflow);
        if (e < -1022) return s; // zero, or a subnormal double: below half the least value of every format
        m |= uint64_t{1} << 52;
        // Units of the last place: subnormal numbers have fewer of them.
        int shift = 52 - Mantissa + (e < leastExponent ? leastExponent - e : 0);
        if (shift > 54) return s;
        uint64_t rest = m & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1);
        m >>= shift;
        if (rest > half || (rest == half && (m & 1))) ++m;
        // The hidden bit of m adds one to the exponent field, and so does a carry.
        uint64_t field = e < leastExponent ? 0 : static_cast<uint64_t>(e + bias - 1);
        uint64_t magnitude = (field << Mantissa) + m;
        return s | (magnitude > largest ? overflow : magnitude);
    }

    static double decode(uint64_t bits) {
        uint64_t s = bits & sign ? uint64_t{1} << 63 : 0;
        uint64_t e = bits >> Mantissa & ((uint64_t{1} << Exponent) - 1),
                 m = bits & ((uint64_t{1} << Mantissa) - 1);
        uint64_t magnitude = bits & (sign - 1);
        if (Finite ? magnitude == nan : magnitude > special)
            return std::bit_cast<double>(s |
                                         std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN()));
        if (!Finite && magnitude == special)
            return std::bit_cast<double>(s |
                                         std::bit_cast<uint64_t>(std::numeric_limits<double>::infinity()));
        if (e == 0)
            return std::copysign(std::ldexp(static_cast<double>(m), leastExponent - Mantissa),
                                 s ? -1.0 : 1.0);
        return std::bit_cast<double>(s | (e + 1023 - bias) << 52 | m << (52 - Mantissa));
    }
};

using F16 = Format<5, 10, false, false>;
using BF16 = Format<8, 7, false, false>;
using F8E4M3 = Format<4, 3, true, true>;
using F8E5M2 = Format<5, 2, false, true>;

template <class T> T read(const void *p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class T> void write(void *p, T v) {
    std::memcpy(p, &v, sizeof v);
}

} // namespace

uint16_t toF16(double v) {
    return static_cast<uint16_t>(F16::encode(v));
}
uint16_t toBF16(double v) {
    return static_cast<uint16_t>(BF16::encode(v));
}
uint8_t toF8E4M3(double v) {
    return static_cast<uint8_t>(F8E4M3::encode(v));
}
uint8_t toF8E5M2(double v) {
    return static_cast<uint8_t>(F8E5M2::encode(v));
}
double fromF16(uint16_t b) {
    return F16::decode(b);
}
double fromBF16(uint16_t b) {
    return BF16::decode(b);
}
double fromF8E4M3(uint8_t b) {
    return F8E4M3::decode(b);
}
double fromF8E5M2(uint8_t b) {
    return F8E5M2::decode(b);
}

double roundTo(Elem e, double v) {
    switch (e) {
    case Elem::F8E4M3: return fromF8E4M3(toF8E4M3(v));
    case Elem::F8E5M2: return fromF8E5M2(toF8E5M2(v));
    case Elem::F16: return fromF16(toF16(v));
    case Elem::BF16: return fromBF16(toBF16(v));
    case Elem::F32: return static_cast<double>(static_cast<float>(v));
    case Elem::F64:
    case Elem::Bool:
    case Elem::I8:
    case Elem::I32:
    case Elem::I64: break;
    }
    return v;
}

int64_t wrapTo(Elem e, int64_t v) {
    switch (e) {
    case Elem::Bool: return v != 0;
    case Elem::I8: return static_cast<int8_t>(v);
    case Elem::I32: return static_cast<int32_t>(v);
    case Elem::I64:
    case Elem::F8E4M3:
    case Elem::F8E5M2:
    case Elem::F16:
    case Elem::BF16:
    case Elem::F32:
    case Elem::F64: break;
    }
    return v;
}

double floatFromInt(Elem e, int64_t v) {
    if (e == Elem::F64) return static_cast<double>(v);
    // Two roundings would be one too many: what double cannot hold is made odd in a bit that no narrower type
    // has.
    uint64_t a = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    if (a >> 53) a = (a & ~uint64_t{0x7ff}) | ((a & 0x7ff) ? 0x800 : 0);
    double d = static_cast<double>(a);
    return roundTo(e, v < 0 ? -d : d);
}

int64_t intFromFloat(Elem e, double v) {
    if (e == Elem::Bool) return v != 0;
    if (std::isnan(v)) return 0;
    int bits = 8 * elemBytes(e) - 1;
    double limit = std::ldexp(1.0, bits); // representable, unlike limit - 1 for i64
    auto most = static_cast<int64_t>((uint64_t{1} << bits) - 1);
    if (v >= limit) return most;
    if (v < -limit) return -most - 1;
    return wrapTo(e, static_cast<int64_t>(v));
}

double readFloat(Elem e, const void *p) {
    switch (e) {
    case Elem::F8E4M3: return fromF8E4M3(read<uint8_t>(p));
    case Elem::F8E5M2: return fromF8E5M2(read<uint8_t>(p));
    case Elem::F16: return fromF16(read<uint16_t>(p));
    case Elem::BF16: return fromBF16(read<uint16_t>(p));
    case Elem::F32: return static_cast<double>(read<float>(p));
    case Elem::F64: return read<double>(p);
    case Elem::Bool:
    case Elem::I8:
    case Elem::I32:
    case Elem::I64: return static_cast<double>(readInt(e, p));
    }
    return 0;
}

void writeFloat(Elem e, void *p, double v) {
    switch (e) {
    case Elem::F8E4M3: return write(p, toF8E4M3(v));
    case Elem::F8E5M2: return write(p, toF8E5M2(v));
    case Elem::F16: return write(p, toF16(v));
    case Elem::BF16: return write(p, toBF16(v));
    case Elem::F32: return write(p, static_cast<float>(v));
    case Elem::F64: return write(p, v);
    case Elem::Bool:
    case Elem::I8:
    case Elem::I32:
    case Elem::I64: return writeInt(e, p, intFromFloat(e, v));
    }
}

int64_t readInt(Elem e, const void *p) {
    switch (elemBytes(e)) {
    case 1: return e == Elem::Bool ? read<uint8_t>(p) != 0 : read<int8_t>(p);
    case 2: return read<int16_t>(p);
    case 4: return read<int32_t>(p);
    default: return read<int64_t>(p);
    }
}

void writeInt(Elem e, void *p, int64_t v) {
    v = wrapTo(e, v);
    switch (elemBytes(e)) {
    case 1: return write(p, static_cast<int8_t>(v));
    case 2: return write(p, static_cast<int16_t>(v));
    case 4: return write(p, static_cast<int32_t>(v));
    default: return write(p, v);
    }
}

} // namespace tdl
