// Element types of tensors and tiles: their spelling, size and class, from elem.def.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tdl {

enum class Elem : uint8_t {
#define ELEM(name, text, bytes, cls) name,
#include "support/elem.def"
#undef ELEM
};
enum class ElemClass : uint8_t { Bool, Int, Float };

std::string_view elemName(Elem);
int elemBytes(Elem);
ElemClass elemClass(Elem);
std::optional<Elem> parseElem(std::string_view);

inline bool isFloat(Elem e) { return elemClass(e) == ElemClass::Float; }
inline bool isInt(Elem e) { return elemClass(e) == ElemClass::Int; }

/// The type in which sums of `e` are formed (tdl.5, "Reductions and order"): f64 for f64, f32 for narrower
/// floats, i64 for i64, i32 for narrower integers and bool.
Elem accumulatorOf(Elem e);

} // namespace tdl
