// Conversions of elements, as the language defines them (tdl.5, "Types"): to nearest, ties to even, in
// integer arithmetic, so that the result does not depend on the processor's rounding mode.
//
//     roundTo(Elem::BF16, 1.00390625) == 1.0       a tie: to even        roundTo(Elem::F16, 65520.0) == inf
//     roundTo(Elem::F8E4M3, 1000.0) == 448.0       fp8 saturates         wrapTo(Elem::I8, 200) == -56
//
// Values of all float types are held as double, which represents each of them; integers and bools as int64_t.
#pragma once
#include "support/elem.h"

namespace tdl {

/// The bits of the nearest value. f16 and bf16 overflow to infinity; fp8 saturates, infinity included. NaN
/// stays NaN.
uint16_t toF16(double);
uint16_t toBF16(double);
uint8_t toF8E4M3(double);
uint8_t toF8E5M2(double);
double fromF16(uint16_t);
double fromBF16(uint16_t);
double fromF8E4M3(uint8_t);
double fromF8E5M2(uint8_t);

/// The nearest value of a float type.
double roundTo(Elem, double);
/// The low bits of an integer, sign-extended; a bool is 1 for everything but 0.
int64_t wrapTo(Elem, int64_t);
/// An integer in a float type, rounded once.
double floatFromInt(Elem, int64_t);
/// A float in an integer type: truncated, the nearest representable value where it is outside, 0 for NaN; a
/// bool is 1 for everything but 0.
int64_t intFromFloat(Elem, double);

/// An element in memory, of a float type or of an integer type or bool. Needs no alignment; a write rounds or
/// wraps.
double readFloat(Elem, const void *);
void writeFloat(Elem, void *, double);
int64_t readInt(Elem, const void *);
void writeInt(Elem, void *, int64_t);

} // namespace tdl
