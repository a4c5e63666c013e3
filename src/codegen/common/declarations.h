// What a `kern` declares, by position: the runtime knows sizes, arguments, buffers, flags and joins by their
// place in the descriptor's tables.
//
//     kern @f(sizes = [M, N]) { %A = tensor(.., dims = [M, N]); %B = tensor(.., dims = [N]); .. }
//     sizes: M 0, N 1      tensors: %A 0, %B 1      firstStride: %A 0, %B 2
#pragma once
#include "ir/op.h"

namespace tdl::codegen {

struct Declarations {
    std::unordered_map<std::string, int> sizes;
    std::unordered_map<const ir::Value *, int> params, tensors, firstStride, buffers, flags, joins;
    std::vector<const ir::Op *> memory; // tensors and buffers in order
    std::vector<const ir::Op *> flagList, joinList, programs;
    int strides = 0; // of all tensors together
};

Declarations declarationsOf(const ir::Op &kern);

} // namespace tdl::codegen
