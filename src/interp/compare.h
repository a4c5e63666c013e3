// Comparison of what a rank has computed with the reference.
//
//     C: 3 of 4096 elements differ, relative Frobenius error 2.1e-02 (at most 3.0e-03)
//       C[3, 5] is 1.5, should be 1 (error 2.5e-01, at most 8.0e-03)
#pragma once
#include "interp/data.h"

namespace tdl::interp {

/// Per element |out - ref| <= element * (1 + |ref|), and, of `enough` elements or more, the norm of the error
/// over that of the reference (of a few, their sum may have cancelled). Zero: equality, where -0 equals 0 and
/// any NaN another.
struct Tolerance {
    static constexpr int64_t enough = 256;
    double element = 0, frobenius = 0;
};
/// f32 1e-5, f16 2e-3, bf16 8e-3, fp8 6e-2, ...; integers: equality.
Tolerance toleranceOf(Elem);

struct Difference {
    int64_t number; // of the element, through all copies of the tensor
    double out, ref, error;
};

struct Comparison {
    int64_t elements = 0, wrong = 0;
    double largest = 0, frobenius = 0; // error / (1 + |ref|); relative
    Tolerance tolerance;
    std::vector<Difference> first; // of the wrong ones, at most 8
    bool ok() const {
        return wrong == 0 && (elements < Tolerance::enough || frobenius <= tolerance.frobenius);
    }
    /// As above; one line if all is well.
    std::string text(const Tensor &) const;
};

/// The elements that the part's rank holds in `memory`, against the contents of the tensor.
Comparison compare(const Part &reference, const void *memory, Tolerance);
/// All copies of a tensor against those of another of the same shape.
Comparison compare(const Tensor &reference, const Tensor &out, Tolerance);

} // namespace tdl::interp
