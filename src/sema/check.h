// The checker: a syntax tree becomes tile IR (src/tile/README.md), or diagnostics that say why it has no
// meaning.
//
//     kernel k<N>(X: in bf16[N], Y: out bf16[N]) { stage s for i in N by 64 { Y[i] = X[i] + 1 } }
//
//     stage @s(loops = [i in N by 64]) {
//       ^(%i: range<i>)
//       %0 = load %X[%i] : bf16[i]
//       %1 = cast %0 : f32[i]              // bf16 is added in f32
//       %2 = const(value = 1.0) : f32      // a literal takes the other side's type
//       %3 = add %1, %2 : f32[i]
//       %4 = cast %3 : bf16[i]             // a store converts
//       store %4, %Y[%i]
//     }
//
// Two steps per kernel. Lowering (declare, stage, statement, expr, ...) resolves names, types and axes and
// writes IR; what needs the whole of a stage is then asked of that IR: teams and uniform values (teams), who
// writes an element and who may read it (writers), what is defined when it is read, what is complete at the
// end (coverage).
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include "syntax/ast.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tdl {

struct CheckOptions {
    /// -D NAME=VALUE: fixes a size, tile constant, constant or scalar parameter of every kernel that has one
    /// of this name, or a type alias. A fixed size becomes a `require`; the argument of a fixed scalar is not
    /// looked at.
    std::vector<std::pair<std::string, std::string>> defines;
};

/// Tile IR that tile::verify accepts, or nothing if an error was reported. Constructs that are not built yet
/// are errors.
std::unique_ptr<ir::Module> check(const ast::Module &, const CheckOptions &, Diagnostics &);

} // namespace tdl
