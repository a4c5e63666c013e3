// Conversions of elements: every 16-bit and 8-bit pattern there and back, every tie between neighbours, and
// the edges.
#include "support/convert.h"
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>

using namespace tdl;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// Finite neighbours a < b of a format: below, on and above their middle; on it, the even one wins.
template <class Bits>
void checkNeighbours(Bits (*to)(double), double (*from)(Bits), uint32_t bits, int &bad) {
    double a = from(static_cast<Bits>(bits)), b = from(static_cast<Bits>(bits + 1));
    if (!std::isfinite(a) || !std::isfinite(b)) return;
    double middle = (a + b) / 2;
    uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    auto is = [&](double v, uint32_t want) { bad += to(v) != static_cast<Bits>(want); };
    is(middle, even);
    is(std::nextafter(middle, a), bits);
    is(std::nextafter(middle, b), bits + 1);
}

template <class Bits> void checkAll(Bits (*to)(double), double (*from)(Bits)) {
    int bad = 0;
    for (uint32_t bits = 0; bits <= std::numeric_limits<Bits>::max(); ++bits) {
        double v = from(static_cast<Bits>(bits));
        bool saturates = sizeof(Bits) == 1 && std::isinf(v);
        if (std::isnan(v))
            bad += !std::isnan(from(to(v)));
        else if (!saturates)
            bad += to(v) != bits;
        if (bits < std::numeric_limits<Bits>::max()) checkNeighbours(to, from, bits, bad);
    }
    CHECK(bad == 0);
}

double bf16OfFloat(float f) { // the usual trick, on the bits of a float
    uint32_t u;
    std::memcpy(&u, &f, sizeof u);
    u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000;
    std::memcpy(&f, &u, sizeof u);
    return static_cast<double>(f);
}

} // namespace

TEST_CASE("every pattern survives and every tie between two goes to the even one") {
    checkAll(toF16, fromF16);
    checkAll(toBF16, fromBF16);
    checkAll(toF8E4M3, fromF8E4M3);
    checkAll(toF8E5M2, fromF8E5M2);
}

TEST_CASE("overflow and underflow and infinities") {
    CHECK(fromF16(toF16(65519.99)) == 65504);
    CHECK(fromF16(toF16(65520)) == inf);
    CHECK(fromF16(toF16(-1e300)) == -inf);
    CHECK(fromF16(toF16(0x1p-25)) == 0);
    CHECK(fromF16(toF16(0x1.8p-25)) == 0x1p-24);
    CHECK(std::signbit(fromF16(toF16(-1e-300))));
    CHECK(fromBF16(toBF16(3.4e38)) == inf);
    CHECK(fromBF16(toBF16(1e-40)) != 0);
    CHECK(fromF8E4M3(toF8E4M3(1000)) == 448);
    CHECK(fromF8E4M3(toF8E4M3(-inf)) == -448);
    CHECK(fromF8E5M2(toF8E5M2(1e9)) == 57344);
    CHECK(fromF8E5M2(toF8E5M2(inf)) == 57344);
    CHECK(std::isnan(fromF8E4M3(toF8E4M3(NAN))));
    CHECK(fromF16(0x3c01) == 1 + 0x1p-10);
    CHECK(fromBF16(0x3f81) == 1 + 0x1p-7);
    CHECK(fromF8E4M3(0x39) == 1.125);
    CHECK(fromF8E5M2(0x3d) == 1.25);
    CHECK(roundTo(Elem::F32, 1 + 0x1p-24) == 1);
    CHECK(roundTo(Elem::F64, 0.1) == 0.1);
}

TEST_CASE("one rounding from f64 and the same bits as from f32 where the value is one") {
    double v = 1 + 0x1p-8 + 0x1p-40; // above a tie; through f32 it would be on it, and go down
    CHECK(roundTo(Elem::BF16, v) == 1 + 0x1p-7);
    int bad = 0;
    for (uint32_t u = 0x00800000; u < 0x7f000000; u += 9973) {
        float f;
        std::memcpy(&f, &u, sizeof f);
        bad += roundTo(Elem::BF16, static_cast<double>(f)) != bf16OfFloat(f);
    }
    CHECK(bad == 0);
}

TEST_CASE("integers") {
    CHECK(wrapTo(Elem::I8, 200) == -56);
    CHECK(wrapTo(Elem::I32, int64_t{1} << 31) == -(int64_t{1} << 31));
    CHECK(wrapTo(Elem::Bool, 7) == 1);
    CHECK(intFromFloat(Elem::I8, 300.5) == 127);
    CHECK(intFromFloat(Elem::I8, -300.5) == -128);
    CHECK(intFromFloat(Elem::I8, -1.9) == -1);
    CHECK(intFromFloat(Elem::I64, 1e30) == std::numeric_limits<int64_t>::max());
    CHECK(intFromFloat(Elem::I64, -1e30) == std::numeric_limits<int64_t>::min());
    CHECK(intFromFloat(Elem::I32, NAN) == 0);
    CHECK(intFromFloat(Elem::Bool, 0.5) == 1);
    CHECK(floatFromInt(Elem::F32, (int64_t{1} << 24) + 1) == 0x1p24);
    // Just above a tie by less than double can hold: through double it would be on the tie.
    int64_t x = (int64_t{1} << 62) + (int64_t{1} << 38) + 1;
    CHECK(floatFromInt(Elem::F32, x) == static_cast<double>(static_cast<float>(x)));
    CHECK(floatFromInt(Elem::F32, -x) == static_cast<double>(static_cast<float>(-x)));
    CHECK(floatFromInt(Elem::F16, 70000) == inf);
}

TEST_CASE("elements in memory") {
    unsigned char bytes[9] = {};
    for (Elem e : {Elem::F8E4M3, Elem::F8E5M2, Elem::F16, Elem::BF16, Elem::F32, Elem::F64}) {
        writeFloat(e, bytes + 1, -1.5); // unaligned
        CHECK(readFloat(e, bytes + 1) == -1.5);
    }
    for (Elem e : {Elem::I8, Elem::I32, Elem::I64}) {
        writeInt(e, bytes + 1, -3);
        CHECK(readInt(e, bytes + 1) == -3);
    }
    writeInt(Elem::Bool, bytes, 5);
    CHECK(bytes[0] == 1);
}
