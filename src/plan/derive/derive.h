// Derives plans from checked programs: tile IR in, plan IR out, one `plan` per kernel.
//
//     stage copy for i in M, j in N { B[i, j] = A[i, j] }          A: [M @ ranks, N], B: uniform [M, N]
// -->
//     task push_A: my rows of A, in chunks, into A_in of every rank; the last chunk for a rank notifies its A_here
//     task copy:   waits for A_here of all ranks; B[i, j] = A_in[i, j]; the last tile tells all ranks that it is done
//
// The steps, a file each:
//     cuts      every cut's size gets a name
//     phases    a stage is cut at its reductions over ranks; values that cross a cut are recomputed or spilled
//     box       which indices an access reaches, as a function of the rank that executes it
//     access    for every load: own, or gathered; for every store: own, dropped elsewhere, or sent
//     writer    declarations and tasks of the plan, their names, and the chain of steps
//     transfer  boxes pushed to every rank that needs them, in chunks, a flag per pair of ranks
//     compute   the tile operations of a phase as a task
//     combine   a reduction over ranks, from the parts of all
//     stage     puts the tasks of one stage in order
// Nothing here knows an operator: what moves follows from placements and indices alone.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <memory>

namespace tdl::plan {

struct Options {
    // Chunks of a transfer: so many indices of the last dimension, of the one before it; one of any other.
    int64_t chunkLast = 512, chunkRows = 64;
    int64_t chunkFlat = 4096; // of the only dimension of a vector
};

/// The sequential plan of every kernel: on each rank a step starts when the step before has ended there. Null if some
/// kernel needs what is not built yet; that is reported.
std::unique_ptr<ir::Module> derive(const ir::Module &tile, const Options &, Diagnostics &);

} // namespace tdl::plan
