// Transfers: a box of a tensor or of a `rank` buffer goes to a `protocol` buffer of each rank, in chunks.
//
//     task @push_A(coords = [p, c], counts = [ranks, chunks]) {
//       wait %done(from = d, count = 1)                       d = (rank + 1 + p) % ranks: the next rank first, itself last
//       ... one chunk of the box for d: load, store(at = d)
//       arrive %A_sent(index = p, total = chunks) {
//         notify %A_here(to = d, count = 1, index = rank)
//         arrive %push_A_end(index = 0, total = ranks)
//       }
//     }
#pragma once
#include "plan/derive/writer.h"
#include <functional>

namespace tdl::plan {

struct Transfer {
    std::string name; // of what moves
    Loc loc;
    ir::Value *from = nullptr, *to = nullptr;
    std::function<Box(const ir::Expr &to)> box; // what `rank` has for rank `to`, global indices
    std::vector<std::string> axes;              // a name per dimension; empty: any
    bool bySource = false;                      // `to` has a first dimension more: the sender
};
/// Emits the task; returns the flag that tells a rank, by a word per sender, that its box has come.
ir::Value *emit(Writer &, const Transfer &);

/// Waits until the boxes of all ranks have come, if no step before has.
void waitForAll(Writer &, Task &, Loc, ir::Value *flag);

/// The coordinates, ranges and counts of the chunks of a box.
struct Chunks {
    std::vector<std::string> coords; // those given, then the chunks'
    std::vector<ir::Expr> counts;    // of the chunks' coordinates
    std::vector<Tiles> tiles;        // per dimension
};
Chunks chunksOf(Writer &, const Box &, std::vector<std::string> before);
/// The ranges of a chunk's dimensions in a task.
std::vector<ir::Value *> rangesOf(Task &, Loc, const Chunks &, const std::vector<std::string> &axes);
/// Copies what the ranges span; `head` are indices of `to` before them.
void copyChunk(Task &, Loc, ir::Value *from, ir::Value *to, const std::vector<ir::Value *> &ranges,
               const std::vector<ir::Value *> &head, const ir::Expr *at);

} // namespace tdl::plan
