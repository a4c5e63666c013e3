#include "interp/tile.h"
#include <algorithm>
#include <bit>
#include <cmath>

namespace tdl::interp {

int64_t Tile::count() const {
    int64_t n = 1;
    for (const Axis &a : axes) n *= std::max<int64_t>(a.count, 0);
    return n;
}

const Axis *Tile::axis(const std::string &name) const {
    for (const Axis &a : axes)
        if (a.name == name) return &a;
    return nullptr;
}

Tile makeTile(const ir::Type &type, const std::vector<const std::vector<Axis> *> &like) {
    Tile t;
    t.elem = type.elem;
    for (const std::string &name : type.axes)
        for (const auto *axes : like) {
            auto it = std::find_if(axes->begin(), axes->end(), [&](const Axis &a) { return a.name == name; });
            if (it == axes->end()) continue;
            t.axes.push_back(*it);
            break;
        }
    auto n = static_cast<size_t>(t.count());
    if (isFloat(t.elem))
        t.f.resize(n);
    else
        t.i.resize(n);
    return t;
}

TileRef scalar(Elem e, double f, int64_t i) {
    Tile t;
    t.elem = e;
    if (isFloat(e))
        t.f = {f};
    else
        t.i = {i};
    return std::make_shared<Tile>(std::move(t));
}

Tile indices(const Range &r) {
    Tile t;
    t.elem = Elem::I64;
    t.axes = {{r.axis, r.count(), r.origin}};
    for (int64_t x = r.begin; x < r.end; ++x) t.i.push_back(x);
    return t;
}

bool sameBits(const Tile &a, const Tile &b) {
    if (a.axes.size() != b.axes.size() || a.i != b.i || a.f.size() != b.f.size()) return false;
    for (size_t n = 0; n < a.axes.size(); ++n)
        if (a.axes[n].count != b.axes[n].count) return false;
    for (size_t n = 0; n < a.f.size(); ++n)
        if (std::bit_cast<uint64_t>(a.f[n]) != std::bit_cast<uint64_t>(b.f[n]) &&
            !(std::isnan(a.f[n]) && std::isnan(b.f[n])))
            return false;
    return true;
}

std::vector<int64_t> stridesAlong(const std::vector<Axis> &axes, const Tile &t) {
    std::vector<int64_t> out;
    for (const Axis &a : axes) {
        int64_t stride = 1, found = 0;
        for (size_t n = t.axes.size(); n-- > 0; stride *= t.axes[n].count)
            if (t.axes[n].name == a.name) found = stride;
        out.push_back(found);
    }
    return out;
}

} // namespace tdl::interp
