// Which tiles of a program live in memory, and where. A tile is *virtual* - computed per element inside the
// loops of whoever uses it - or has a *slot*: a dense piece of the worker's workspace.
//
//     %a = read ..            virtual: loaded where it is used
//     %d = dot %a, %b         slot, or fused: added to the slot of the sum that it is an operand of
//     %s = exp %d             slot if computed for more than one use, else virtual
//     loop .., %x { ^(%k, %acc) .. yield %y }     %acc and the result share a slot; %y is computed into it
//
// A read stays virtual only while nothing that could change what it reads stands between it and its uses.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace tdl::codegen {

/// Elements of a cache line.
inline int64_t lineElements(Elem e) { return 64 / elemBytes(e); }

struct Slot {
    Elem elem = Elem::F32;
    std::vector<std::string> axes; // outermost first
    std::vector<ir::Expr> lengths; // of each axis, at most; over sizes, ranks, rank
    std::vector<int64_t>
        multiples; // to which each length is rounded up; what lies beyond the length means nothing
    // Rows an odd number of cache lines apart: a column then meets all sets of a cache, where a power of two
    // would have it evict itself.
    bool spread = false;
};

/// A product computed by register tiles, result[row, column] += a[row, over] * b[over, column]; other axes
/// are loops around. A and b are copied into slots first, in the type of the sum: that converts them, and
/// makes the columns of b contiguous.
struct Product {
    std::string row, column, over;
    std::vector<std::string> loops, rowLoops; // around all, and around what depends on rows
    const ir::Value *a = nullptr, *b = nullptr;
    int aSlot = -1, bSlot = -1;
    int turned = -1;   // b[column, over], to be transposed into bSlot; -1: not needed
    int64_t block = 0; // so many indices of `over` at a time; 0: all at once
};

/// A carried value at the end of its loop's block: into its slot, or into `temp` first if others still need
/// the old one.
struct YieldStep {
    size_t index;
    int temp = -1;
};

struct Storage {
    std::vector<Slot> slots;
    std::unordered_map<const ir::Value *, int> slotOf;
    std::unordered_set<const ir::Value *> fused; // dots, computed by the addition that uses them
    std::unordered_map<const ir::Op *, std::vector<YieldStep>>
        yields;                                               // per loop: its carried tiles, in order
    std::unordered_map<const ir::Op *, Product> products;     // dots with rows and columns
    std::unordered_map<const ir::Value *, std::string> inner; // the axis that should run fastest
    bool has(const ir::Value *v) const { return slotOf.contains(v); }
};

/// The greatest length of an axis at an operation.
using LengthOf = std::function<ir::Expr(const ir::Op &, const std::string &axis)>;
/// Adds to the storage of a program what a target needs besides the tiles.
using MoreStorage = std::function<void(const ir::Op &program, Storage &, const LengthOf &)>;

/// Reports a tile that needs a slot but has an axis whose length no launch-time value bounds.
std::optional<Storage> assignStorage(const ir::Op &program, const MoreStorage &, Diagnostics &);

/// Bytes of a slot, whole cache lines; its axes' strides in elements, innermost 1.
ir::Expr slotBytes(const Slot &);
std::vector<ir::Expr> slotStrides(const Slot &);

/// The tensor or buffer that an address points into; null if it cannot be told.
const ir::Value *memoryOf(const ir::Value *address);

/// Operands of `read` and `write` by meaning.
struct Access {
    const ir::Value *address = nullptr;
    std::vector<const ir::Value *> strides; // per axis of the tile
    std::vector<std::pair<std::string, std::pair<const ir::Value *, const ir::Value *>>>
        clips; // axis, [low, high)
    const ir::Value *guard = nullptr, *outside = nullptr;
};
Access accessOf(const ir::Op &readOrWrite);
/// Is the value known to be this constant?
bool isConstant(const ir::Value *, int64_t);

/// The axes of a product, by where they occur.
struct DotAxes {
    std::vector<std::string> rows, columns, both, over; // only in the first, only in the second, in both
};
DotAxes dotAxes(const ir::Op &dot);

} // namespace tdl::codegen
