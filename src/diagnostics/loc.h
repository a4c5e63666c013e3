// Where something stands in a source file. Small enough to be copied into every node and operation.
#pragma once
#include <cstdint>

namespace tdl {

struct Loc {
    int32_t file = -1;           // index into Sources; -1: nowhere
    int32_t line = 0, col = 0;   // from 1; col counts bytes
    int32_t len = 1;             // bytes to underline, within the line
    bool valid() const { return file >= 0 && line > 0; }
    friend bool operator==(const Loc &, const Loc &) = default;
};

} // namespace tdl
