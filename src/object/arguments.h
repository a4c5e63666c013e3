// The struct NAME_args that a kernel is called with, as laid out by C: what the object's descriptor says
// about it and what the header declares are both written from here.
//
//     kernel f<M, K>(A: in bf16[M @ ranks, K], s: f32)
//     struct f_args { int64_t M, K; const tdl_bf16 *A; int64_t A_stride[1]; float s; };
#pragma once
#include "ir/op.h"

namespace tdl {

struct Argument {
    enum Kind { Size, Scalar, Tensor } kind = Size;
    std::string name;
    Elem elem = Elem::I64;
    int offset = 0;       // bytes
    int strideOffset = 0; // of int64_t NAME_stride[extents - 1]; 0 if there is none
    std::string mode;     // of a tensor: in, out, inout
    bool uniform = false;
    std::vector<ir::Dim> dims;
    int distDim = -1; // the distributed dimension
    Loc loc;
};
struct ArgumentLayout {
    std::vector<Argument> args; // sizes, then tensors and scalars as declared
    int bytes = 0;
};

/// Of a kernel, plan or kern: they declare the same.
ArgumentLayout layoutArguments(const ir::Op &kernel);

} // namespace tdl
