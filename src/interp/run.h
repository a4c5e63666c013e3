// The reference interpreter: what a kernel of tile IR means, executed. Bulk-synchronous, stage after stage,
// instance after instance, rank by rank, tile by tile; no plan, no machine. A transcription of the language
// page (man/tdl.5).
//
//     Launch l;  l.ranks = 4;  l.sizes = {{"M", 64}, {"N", 100}};
//     if (!prepare(kernel, l, diags)) ...              // tensors with their extents; conditions of the
//     launch for (Tensor &t : l.tensors) ...                  // fill the inputs (data.h) if (!run(kernel, l,
//     options, diags)) ...         // the outputs are now in l.tensors
//
// What the program may leave open is an option: where ranges are cut, and the order of accumulations and of
// loops in any order. Under `check`, what a program may not do is reported, with the places of both parties.
#pragma once
#include "diagnostics/diagnostics.h"
#include "interp/arith.h"
#include "interp/tensor.h"
#include <map>
#include <variant>

namespace tdl::interp {

using Scalar = std::variant<int64_t, double>;

/// The arguments of one launch, of all ranks together.
struct Launch {
    int64_t ranks = 1;
    std::map<std::string, int64_t> sizes;
    std::map<std::string, Scalar> scalars;
    std::vector<Tensor> tensors; // in order of declaration, without local ones
    Tensor *find(std::string_view name);
    const Tensor *find(std::string_view name) const { return const_cast<Launch *>(this)->find(name); }
};

enum class Cuts { Given, Random };                    // ranges of exactly `by` indices, or of 1 to `by`
enum class Order { Ascending, Descending, Shuffled }; // of accumulations and of loops in any order

struct Options {
    Rounding rounding = Rounding::Stored;
    Cuts cuts = Cuts::Given;
    Order order = Order::Ascending;
    uint64_t seed = 1;
    bool check = false;
};

/// Declares the tensors of `l` from the kernel (OpKind::Kernel, verified), poisoned. Fails if a size is
/// missing or negative, an extent is negative, or a condition of the kernel does not hold.
bool prepare(const ir::Op &kernel, Launch &l, Diagnostics &);

/// Runs a prepared launch. Outputs start poisoned; the contents of `in` tensors stay. False if it reported an
/// error.
bool run(const ir::Op &kernel, Launch &l, const Options &, Diagnostics &);

} // namespace tdl::interp
