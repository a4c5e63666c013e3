// Elementwise operations: the axes of all operands by name, a missing one repeats.
#include "interp/arith.h"
#include "support/convert.h"
#include <cmath>
#include <limits>

namespace tdl::interp {
namespace {

using ir::OpKind;

template <class T> using Unary = T (*)(T);
template <class T> using Binary = T (*)(T, T);
template <class T> using Compare = int64_t (*)(T, T);

// Signed overflow wraps: computed without signs, the caller cuts to the width.
int64_t wrapped(uint64_t v) {
    return static_cast<int64_t>(v);
}
uint64_t bits(int64_t v) {
    return static_cast<uint64_t>(v);
}

Unary<double> unaryFloat(OpKind k) {
    using F = double;
    switch (k) {
    case OpKind::Neg: return [](F a) { return -a; };
    case OpKind::Abs: return [](F a) { return std::fabs(a); };
    case OpKind::Exp: return [](F a) { return std::exp(a); };
    case OpKind::Exp2: return [](F a) { return std::exp2(a); };
    case OpKind::Log2: return [](F a) { return std::log2(a); };
    case OpKind::Sqrt: return [](F a) { return std::sqrt(a); };
    case OpKind::Rsqrt: return [](F a) { return 1 / std::sqrt(a); };
    case OpKind::Erf: return [](F a) { return std::erf(a); };
    case OpKind::Tanh: return [](F a) { return std::tanh(a); };
    default: return nullptr;
    }
}

Unary<int64_t> unaryInt(OpKind k) {
    using I = int64_t;
    switch (k) {
    case OpKind::Neg: return [](I a) { return wrapped(0 - bits(a)); };
    case OpKind::Abs: return [](I a) { return a < 0 ? wrapped(0 - bits(a)) : a; };
    case OpKind::Not: return [](I a) { return I{a == 0}; };
    default: return nullptr;
    }
}

Binary<double> binaryFloat(OpKind k) {
    using F = double;
    switch (k) {
    case OpKind::Add: return [](F a, F b) { return a + b; };
    case OpKind::Sub: return [](F a, F b) { return a - b; };
    case OpKind::Mul: return [](F a, F b) { return a * b; };
    case OpKind::Div: return [](F a, F b) { return a / b; };
    case OpKind::Min: return [](F a, F b) { return std::isnan(a) || a < b ? a : b; };
    case OpKind::Max: return [](F a, F b) { return std::isnan(a) || a > b ? a : b; };
    default: return nullptr;
    }
}

Binary<int64_t> binaryInt(OpKind k) {
    using I = int64_t;
    switch (k) {
    case OpKind::Add: return [](I a, I b) { return wrapped(bits(a) + bits(b)); };
    case OpKind::Sub: return [](I a, I b) { return wrapped(bits(a) - bits(b)); };
    case OpKind::Mul: return [](I a, I b) { return wrapped(bits(a) * bits(b)); };
    case OpKind::Div: return [](I a, I b) { return ir::apply(ir::ExprKind::Div, a, b); };
    case OpKind::Rem: return [](I a, I b) { return ir::apply(ir::ExprKind::Mod, a, b); };
    case OpKind::Min: return [](I a, I b) { return a < b ? a : b; };
    case OpKind::Max: return [](I a, I b) { return a > b ? a : b; };
    case OpKind::And: return [](I a, I b) { return I{a && b}; };
    case OpKind::Or: return [](I a, I b) { return I{a || b}; };
    default: return nullptr;
    }
}

template <class T> Compare<T> comparison(OpKind k) {
    switch (k) {
    case OpKind::Eq: return [](T a, T b) { return int64_t{a == b}; };
    case OpKind::Ne: return [](T a, T b) { return int64_t{a != b}; };
    case OpKind::Lt: return [](T a, T b) { return int64_t{a < b}; };
    case OpKind::Le: return [](T a, T b) { return int64_t{a <= b}; };
    case OpKind::Gt: return [](T a, T b) { return int64_t{a > b}; };
    case OpKind::Ge: return [](T a, T b) { return int64_t{a >= b}; };
    default: return nullptr;
    }
}

// out[p] = f(a[p]) and out[p] = f(a[p], b[p]), over all positions of a tile with `axes`.
template <class A, class R, class F>
void map(const std::vector<Axis> &axes, std::vector<R> &out, const Tile &a, const std::vector<A> &va, F f) {
    R *to = out.data();
    rows<1>(axes, {stridesAlong(axes, a)}, [&](int64_t n, auto at, auto step) {
        for (int64_t x = 0; x < n; ++x) *to++ = f(va[static_cast<size_t>(at[0] + x * step[0])]);
    });
}
template <class A, class R, class F>
void map(const std::vector<Axis> &axes, std::vector<R> &out, const Tile &a, const std::vector<A> &va,
         const Tile &b, const std::vector<A> &vb, F f) {
    R *to = out.data();
    rows<2>(axes, {stridesAlong(axes, a), stridesAlong(axes, b)}, [&](int64_t n, auto at, auto step) {
        for (int64_t x = 0; x < n; ++x)
            *to++ =
                f(va[static_cast<size_t>(at[0] + x * step[0])], vb[static_cast<size_t>(at[1] + x * step[1])]);
    });
}

void cast(Tile &out, const Tile &v) {
    Elem to = out.elem, from = v.elem;
    if (isFloat(to) && isFloat(from))
        map(out.axes, out.f, v, v.f, [to](double x) { return roundTo(to, x); });
    else if (isFloat(to))
        map(out.axes, out.f, v, v.i, [to](int64_t x) { return floatFromInt(to, x); });
    else if (isFloat(from))
        map(out.axes, out.i, v, v.f, [to](double x) { return intFromFloat(to, x); });
    else
        map(out.axes, out.i, v, v.i, [to](int64_t x) { return wrapTo(to, x); });
}

void select(Tile &out, const Tile &c, const Tile &a, const Tile &b) {
    size_t p = 0;
    rows<3>(out.axes, {stridesAlong(out.axes, c), stridesAlong(out.axes, a), stridesAlong(out.axes, b)},
            [&](int64_t n, auto at, auto step) {
                for (int64_t x = 0; x < n; ++x, ++p) {
                    bool first = c.i[static_cast<size_t>(at[0] + x * step[0])] != 0;
                    const Tile &from = first ? a : b;
                    auto q = static_cast<size_t>(first ? at[1] + x * step[1] : at[2] + x * step[2]);
                    if (isFloat(out.elem))
                        out.f[p] = from.f[q];
                    else
                        out.i[p] = from.i[q];
                }
            });
}

} // namespace

Tile elementwise(const ir::Op &op, const std::vector<const Tile *> &operands, Rounding rounding) {
    std::vector<const std::vector<Axis> *> like;
    for (const Tile *t : operands) like.push_back(&t->axes);
    Tile out = makeTile(op.result()->type, like);
    const Tile &a = *operands[0], &b = *operands.back();
    bool floats = isFloat(a.elem);
    if (op.kind == OpKind::Cast) {
        cast(out, a);
        return out; // rounded in both modes
    }
    if (op.kind == OpKind::Select) {
        select(out, a, *operands[1], b);
        return out;
    }
    if (ir::isComparison(op.kind)) {
        if (floats)
            map(out.axes, out.i, a, a.f, b, b.f, comparison<double>(op.kind));
        else
            map(out.axes, out.i, a, a.i, b, b.i, comparison<int64_t>(op.kind));
        return out;
    }
    if (operands.size() == 1) {
        if (floats)
            map(out.axes, out.f, a, a.f, unaryFloat(op.kind));
        else
            map(out.axes, out.i, a, a.i, unaryInt(op.kind));
    } else {
        if (floats)
            map(out.axes, out.f, a, a.f, b, b.f, binaryFloat(op.kind));
        else
            map(out.axes, out.i, a, a.i, b, b.i, binaryInt(op.kind));
    }
    for (int64_t &v : out.i) v = wrapTo(out.elem, v);
    if (rounding == Rounding::EachStep)
        for (double &v : out.f) v = roundTo(out.elem, v);
    return out;
}

Tile broadcast(const ir::Op &op, const Tile &v, const std::vector<Range> &ranges) {
    std::vector<Axis> more;
    for (const Range &r : ranges) more.push_back({r.axis, r.count(), r.origin});
    Tile out = makeTile(op.result()->type, {&v.axes, &more});
    if (isFloat(v.elem))
        map(out.axes, out.f, v, v.f, [](double x) { return x; });
    else
        map(out.axes, out.i, v, v.i, [](int64_t x) { return x; });
    return out;
}

} // namespace tdl::interp
