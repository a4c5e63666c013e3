// Spellings and levels of operators, from operators.def.
#include "syntax/ast.h"
#include <array>

namespace tdl::ast {

std::string_view spelling(BinaryOp op) {
    static constexpr std::array<std::string_view, 13> texts{
#define BINARY(name, text, level) text,
#include "syntax/operators.def"
#undef BINARY
    };
    return texts[static_cast<size_t>(op)];
}

int level(BinaryOp op) {
    static constexpr std::array levels{
#define BINARY(name, text, level) level,
#include "syntax/operators.def"
#undef BINARY
    };
    return levels[static_cast<size_t>(op)];
}

std::string_view spelling(UnaryOp op) {
    static constexpr std::array<std::string_view, 2> texts{
#define UNARY(name, text) text,
#include "syntax/operators.def"
#undef UNARY
    };
    return texts[static_cast<size_t>(op)];
}

std::string_view spelling(AssignOp op) {
    switch (op) {
    case AssignOp::Set: return "=";
    case AssignOp::Add: return "+=";
    case AssignOp::Max: return "max=";
    case AssignOp::Min: return "min=";
    }
    return {};
}

std::string_view spelling(Mode mode) {
    switch (mode) {
    case Mode::None: return {};
    case Mode::In: return "in";
    case Mode::Out: return "out";
    case Mode::InOut: return "inout";
    }
    return {};
}

} // namespace tdl::ast
