// Types of IR values. A tile's type names its axes, so that operations align operands by name:
//
//     f32[i, k]     a tile with axes i and k          f32           a scalar (a tile without axes)
//     range<i>      consecutive indices, the axis i   tensor<bf16>  a kernel argument or local tensor
//     buffer<bf16>  scratch of a plan                 ptr<bf16>     an address (kernel IR)
//     flag, join, token
#pragma once
#include "support/elem.h"
#include <string>
#include <vector>

namespace tdl::ir {

enum class TypeKind : uint8_t { Tile, Range, Tensor, Buffer, Ptr, Flag, Join, Token };

struct Type {
    TypeKind kind = TypeKind::Tile;
    Elem elem = Elem::F32;          // of Tile, Tensor, Buffer, Ptr
    std::vector<std::string> axes;  // of Tile; the one axis of Range

    static Type scalar(Elem e) { return {TypeKind::Tile, e, {}}; }
    static Type tile(Elem e, std::vector<std::string> axes) { return {TypeKind::Tile, e, std::move(axes)}; }
    static Type range(std::string axis) { return {TypeKind::Range, Elem::I64, {std::move(axis)}}; }
    static Type of(TypeKind k, Elem e = Elem::I64) { return {k, e, {}}; }

    bool isTile() const { return kind == TypeKind::Tile; }
    bool isScalar() const { return isTile() && axes.empty(); }
    bool isRange() const { return kind == TypeKind::Range; }
    bool isMemory() const { return kind == TypeKind::Tensor || kind == TypeKind::Buffer || kind == TypeKind::Ptr; }
    bool hasAxis(const std::string &a) const;
    std::string str() const;
    friend bool operator==(const Type &, const Type &) = default;
};

/// Union of axes in order of first appearance: the axes of an elementwise result.
std::vector<std::string> unionAxes(const std::vector<std::string> &a, const std::vector<std::string> &b);

} // namespace tdl::ir
