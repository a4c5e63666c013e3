// dot and reductions. Sums are formed in f64 (integers exactly, then cut to the accumulator's width); over
// nothing they give the identity: 0, -inf or the least integer, NaN for a mean, -1 for argmax and argmin.
#include "interp/arith.h"
#include "support/convert.h"
#include <cmath>
#include <type_traits>

namespace tdl::interp {
namespace {

// The axes of `out`, then those that are reduced.
std::vector<Axis> spanned(const Tile &out, const Tile &v, const std::vector<std::string> &over) {
    std::vector<Axis> axes = out.axes;
    for (const std::string &name : over) axes.push_back(*v.axis(name));
    return axes;
}

// Four independent sums: the order within a sum is free, and the processor can overlap them. R is unsigned
// for integers: they wrap.
template <class R, class T> R sumOfProducts(int64_t n, const T *a, int64_t stepA, const T *b, int64_t stepB) {
    R s[4] = {};
    int64_t x = 0;
    if (stepA == 1 && stepB == 1)
        for (; x + 4 <= n; x += 4)
            for (int64_t u = 0; u < 4; ++u) s[u] += static_cast<R>(a[x + u]) * static_cast<R>(b[x + u]);
    for (; x < n; ++x) s[0] += static_cast<R>(a[x * stepA]) * static_cast<R>(b[x * stepB]);
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// Is `v` to replace `best`, looking for the greatest (`up`) or the least? NaN beats everything, so that it
// propagates.
template <class T> bool better(T v, T best, bool up) {
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(v) || std::isnan(best)) return !std::isnan(best);
    return up ? v > best : v < best;
}

template <class T> T identity(Elem e, bool up) {
    if constexpr (std::is_floating_point_v<T>) return up ? -INFINITY : INFINITY;
    if (e == Elem::Bool) return up ? 0 : 1;
    auto most = static_cast<int64_t>((uint64_t{1} << (8 * elemBytes(e) - 1)) - 1);
    return static_cast<T>(up ? -most - 1 : most);
}

struct Reduction {
    const Tile &v;
    Tile &out;
    const std::vector<Axis> axes;
    const Rounding rounding;
    const bool up;

    template <class F> void each(F &&f) { // f(position in out, in v, along the last axis)
        rows<2>(axes, {stridesAlong(axes, out), stridesAlong(axes, v)}, [&](int64_t n, auto at, auto step) {
            for (int64_t x = 0; x < n; ++x)
                f(static_cast<size_t>(at[0] + x * step[0]), static_cast<size_t>(at[1] + x * step[1]), x);
        });
    }
    void sum() {
        if (!isFloat(v.elem)) {
            each([&](size_t to, size_t from, int64_t) {
                out.i[to] = ir::apply(ir::ExprKind::Add, out.i[to], v.i[from]);
            });
            for (int64_t &x : out.i) x = wrapTo(out.elem, x);
        } else if (rounding == Rounding::EachStep) {
            each([&](size_t to, size_t from, int64_t) {
                out.f[to] = roundTo(out.elem, out.f[to] + v.f[from]);
            });
        } else {
            each([&](size_t to, size_t from, int64_t) { out.f[to] += v.f[from]; });
        }
    }
    void mean(int64_t n) {
        sum();
        for (double &x : out.f) {
            x /= static_cast<double>(n);
            if (rounding == Rounding::EachStep) x = roundTo(out.elem, x);
        }
        for (int64_t &x : out.i) x = ir::apply(ir::ExprKind::Div, x, n);
    }
    template <class T> void extreme(std::vector<T> &to, const std::vector<T> &from) {
        to.assign(to.size(), identity<T>(v.elem, up));
        each([&](size_t a, size_t b, int64_t) {
            if (better(from[b], to[a], up)) to[a] = from[b];
        });
    }
    template <class T> void where(const std::vector<T> &from) { // the lowest index on ties
        std::vector<T> best(out.i.size());
        out.i.assign(out.i.size(), -1);
        int64_t origin = axes.back().origin;
        each([&](size_t a, size_t b, int64_t x) {
            if (out.i[a] >= 0 && !better(from[b], best[a], up)) return;
            best[a] = from[b];
            out.i[a] = origin + x;
        });
    }
};

Tile reduceOver(const ir::Type &type, const std::string &kind, const std::vector<std::string> &over,
                const Tile &v, Rounding rounding) {
    Tile out = makeTile(type, {&v.axes});
    Reduction r{v, out, spanned(out, v, over), rounding, kind == "max" || kind == "argmax"};
    if (kind == "sum") {
        r.sum();
    } else if (kind == "mean") {
        int64_t n = 1;
        for (const std::string &name : over) n *= v.axis(name)->count;
        r.mean(n);
    } else if (kind == "max" || kind == "min") {
        isFloat(v.elem) ? r.extreme(out.f, v.f) : r.extreme(out.i, v.i);
    } else {
        isFloat(v.elem) ? r.where(v.f) : r.where(v.i);
    }
    return out;
}

} // namespace

Tile dot(const ir::Op &op, const Tile &a, const Tile &b, Rounding rounding) {
    Tile out = makeTile(op.result()->type, {&a.axes, &b.axes});
    std::vector<Axis> axes = spanned(out, a, op.names("over"));
    bool floats = isFloat(a.elem);
    rows<3>(axes, {stridesAlong(axes, out), stridesAlong(axes, a), stridesAlong(axes, b)},
            [&](int64_t n, auto at, auto step) {
                // Runs along the last reduced axis, or along one of the result if none is reduced.
                int64_t turns = step[0] ? n : 1, length = step[0] ? 1 : n;
                for (int64_t x = 0; x < turns; ++x) {
                    auto to = static_cast<size_t>(at[0] + x * step[0]);
                    int64_t fromA = at[1] + x * step[1], fromB = at[2] + x * step[2];
                    if (!floats) {
                        auto s = sumOfProducts<uint64_t>(length, &a.i[static_cast<size_t>(fromA)], step[1],
                                                         &b.i[static_cast<size_t>(fromB)], step[2]);
                        out.i[to] =
                            wrapTo(out.elem, static_cast<int64_t>(static_cast<uint64_t>(out.i[to]) + s));
                    } else if (rounding == Rounding::EachStep) {
                        for (int64_t y = 0; y < length; ++y) {
                            double product = a.f[static_cast<size_t>(fromA + y * step[1])] *
                                             b.f[static_cast<size_t>(fromB + y * step[2])];
                            out.f[to] = roundTo(out.elem, out.f[to] + roundTo(out.elem, product));
                        }
                    } else {
                        out.f[to] += sumOfProducts<double>(length, &a.f[static_cast<size_t>(fromA)], step[1],
                                                           &b.f[static_cast<size_t>(fromB)], step[2]);
                    }
                }
            });
    return out;
}

Tile reduce(const ir::Op &op, const Tile &v, Rounding rounding) {
    return reduceOver(op.result()->type, op.name("kind"), op.names("over"), v, rounding);
}

Tile reduceRanks(const ir::Op &op, const std::vector<const Tile *> &values, Rounding rounding) {
    // The ranks become a last axis; no axis of the program is called that.
    const std::string name = "@";
    Tile all;
    all.elem = values[0]->elem;
    all.axes = values[0]->axes;
    all.axes.push_back({name, static_cast<int64_t>(values.size()), 0});
    auto n = static_cast<size_t>(values[0]->count());
    for (size_t p = 0; p < n; ++p)
        for (const Tile *t : values)
            if (isFloat(all.elem))
                all.f.push_back(t->f[p]);
            else
                all.i.push_back(t->i[p]);
    return reduceOver(op.result()->type, op.name("kind"), {name}, all, rounding);
}

} // namespace tdl::interp
