// Values of a running kernel: tiles with named axes, and ranges. A tile is dense, its last axis runs fastest:
//
//     f32[i, k] with i = 128 .. 191, k = 0 .. 63:   axes {i, 64, 128} {k, 64, 0},  64 * 64 numbers
//
// Floats are held as double, integers and bools as int64_t, wrapped to their width.
#pragma once
#include "ir/op.h"
#include <array>
#include <memory>

namespace tdl::interp {

struct Axis {
    std::string name;
    int64_t count = 0, origin = 0; // origin: the global index of the first
};

struct Range {
    std::string axis;
    int64_t begin = 0, end = 0;
    int64_t origin = 0; // begin before any shift: what the axis means
    int64_t count() const { return end - begin; }
};

struct Tile {
    Elem elem = Elem::F32;
    std::vector<Axis> axes;
    std::vector<double> f;  // of float types
    std::vector<int64_t> i; // of integers and bool
    int64_t count() const;
    const Axis *axis(const std::string &name) const;
};
using TileRef = std::shared_ptr<const Tile>;

/// Storage of a tile of `type`, its axes as in one of `like` (each has one there).
Tile makeTile(const ir::Type &type, const std::vector<const std::vector<Axis> *> &like);
TileRef scalar(Elem, double f, int64_t i);
inline TileRef scalar(int64_t i) {
    return scalar(Elem::I64, 0, i);
}
/// The indices of a range as a tile.
Tile indices(const Range &);
/// Equal shapes and bits; all NaN are equal.
bool sameBits(const Tile &, const Tile &);

/// How far apart a tile's neighbours along each of `axes` are; 0 along an axis that it lacks.
std::vector<int64_t> stridesAlong(const std::vector<Axis> &axes, const Tile &);

/// Calls row(n, offsets, strides) for each row (run along the last axis) of a tile with `axes`, in order: n
/// elements, for each operand the offset of the first and the distance of the next.
template <size_t N, class F>
void rows(const std::vector<Axis> &axes, const std::array<std::vector<int64_t>, N> &strides, F &&row) {
    std::array<int64_t, N> at{}, step{};
    if (axes.empty()) return row(int64_t{1}, at, step);
    size_t last = axes.size() - 1;
    for (const Axis &a : axes)
        if (a.count <= 0) return;
    for (size_t n = 0; n < N; ++n) step[n] = strides[n][last];
    std::vector<int64_t> pos(axes.size(), 0);
    for (;;) {
        row(axes[last].count, at, step);
        size_t d = last;
        for (;;) { // the next row: an odometer over all axes but the last
            if (d-- == 0) return;
            for (size_t n = 0; n < N; ++n) at[n] += strides[n][d];
            if (++pos[d] < axes[d].count) break;
            for (size_t n = 0; n < N; ++n) at[n] -= strides[n][d] * axes[d].count;
            pos[d] = 0;
        }
    }
}

} // namespace tdl::interp
