// Byte offsets of tdl_frame and tdl_shape (runtime/include/tdl/abi.h), as generated code uses them. abi.cpp
// compares them with the header.
#pragma once
#include <cstdint>

namespace tdl::codegen {

enum class Frame : int32_t {
    Ranks = 0,
    Rank = 8,
    Epoch = 16,
    Sizes = 24,
    Scalars = 32,
    Tensors = 40,
    Strides = 48,
    Heaps = 56,
    Buffers = 64,
    Local = 72,
    Workspaces = 80
};
enum class Shape : int32_t { Ranks = 0, Rank = 8, Sizes = 16, Scalars = 24 };

inline constexpr int kAbiVersion = 2;

} // namespace tdl::codegen
