#include "support/elem.h"
#include <array>

namespace tdl {
namespace {
struct Info {
    std::string_view name;
    int bytes;
    ElemClass cls;
};
constexpr std::array kInfo{
#define ELEM(name, text, bytes, cls) Info{text, bytes, ElemClass::cls},
#include "support/elem.def"
#undef ELEM
};
} // namespace

std::string_view elemName(Elem e) { return kInfo[static_cast<size_t>(e)].name; }
int elemBytes(Elem e) { return kInfo[static_cast<size_t>(e)].bytes; }
ElemClass elemClass(Elem e) { return kInfo[static_cast<size_t>(e)].cls; }

std::optional<Elem> parseElem(std::string_view s) {
    for (size_t i = 0; i < kInfo.size(); ++i)
        if (kInfo[i].name == s) return static_cast<Elem>(i);
    return std::nullopt;
}

Elem accumulatorOf(Elem e) {
    switch (elemClass(e)) {
    case ElemClass::Float: return e == Elem::F64 ? Elem::F64 : Elem::F32;
    case ElemClass::Int: return e == Elem::I64 ? Elem::I64 : Elem::I32;
    case ElemClass::Bool: return Elem::I32;
    }
    return e;
}
} // namespace tdl
