#include "interp/compare.h"
#include "support/convert.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tdl::interp {
namespace {

class Comparer {
public:
    Comparer(Tolerance t) { c.tolerance = t; }

    // `equal` decides where there is no tolerance: integers are compared as such.
    void element(int64_t number, double out, double ref, bool equal) {
        ++c.elements;
        double error = equal ? 0 : std::fabs(out - ref) / (1 + std::fabs(ref));
        if (std::isnan(error)) error = INFINITY; // one of them is NaN, or both are infinite and differ
        if (std::isinf(ref) && !equal) error = INFINITY;
        c.largest = std::max(c.largest, error);
        if (std::isfinite(ref)) {
            errors += equal ? 0 : (out - ref) * (out - ref);
            norm += ref * ref;
        }
        if (error <= c.tolerance.element) return;
        ++c.wrong;
        if (c.first.size() < 8) c.first.push_back({number, out, ref, error});
    }

    Comparison finish() {
        c.frobenius = errors == 0 ? 0 : norm == 0 ? INFINITY : std::sqrt(errors / norm);
        if (std::isnan(c.frobenius)) c.frobenius = INFINITY;
        return c;
    }

private:
    Comparison c;
    double errors = 0, norm = 0;
};

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace

Tolerance toleranceOf(Elem e) {
    switch (e) {
    case Elem::F64: return {1e-12, 1e-12};
    case Elem::F32: return {1e-5, 1e-5};
    case Elem::F16: return {2e-3, 1e-3};
    case Elem::BF16: return {8e-3, 3e-3};
    case Elem::F8E4M3: return {6e-2, 5e-2};
    case Elem::F8E5M2: return {1.2e-1, 1e-1};
    case Elem::Bool:
    case Elem::I8:
    case Elem::I32:
    case Elem::I64: break;
    }
    return {};
}

std::string Comparison::text(const Tensor &t) const {
    if (ok()) return fmt::format("{}: {} elements agree, largest error {:.1e}", t.name, elements, largest);
    std::string s =
        fmt::format("{}: {} of {} elements differ, relative Frobenius error {:.1e} (at most {:.1e})", t.name,
                    wrong, elements, frobenius, tolerance.frobenius);
    for (const Difference &d : first)
        s += fmt::format("\n  {} is {}, should be {} (error {:.1e}, at most {:.1e})", t.element(d.number),
                         d.out, d.ref, d.error, tolerance.element);
    return s;
}

Comparison compare(const Part &p, const void *memory, Tolerance tolerance) {
    const Tensor &t = *p.tensor;
    Comparer comparer(tolerance);
    int64_t base = t.base(p.rank);
    const char *bytes = static_cast<const char *>(memory);
    p.runs([&](int64_t n, int64_t offset, int64_t step, int64_t number) {
        for (int64_t x = 0; x < n; ++x) {
            const char *from = bytes + (offset + x * step) * elemBytes(t.elem);
            int64_t at = base + number + x;
            if (isFloat(t.elem)) {
                double out = readFloat(t.elem, from), ref = t.f[static_cast<size_t>(at)];
                comparer.element(at, out, ref, same(out, ref));
            } else {
                int64_t out = readInt(t.elem, from), ref = t.i[static_cast<size_t>(at)];
                comparer.element(at, static_cast<double>(out), static_cast<double>(ref), out == ref);
            }
        }
    });
    return comparer.finish();
}

Comparison compare(const Tensor &reference, const Tensor &out, Tolerance tolerance) {
    Comparer comparer(tolerance);
    for (size_t x = 0; x < reference.f.size(); ++x)
        comparer.element(static_cast<int64_t>(x), out.f[x], reference.f[x], same(out.f[x], reference.f[x]));
    for (size_t x = 0; x < reference.i.size(); ++x)
        comparer.element(static_cast<int64_t>(x), static_cast<double>(out.i[x]),
                         static_cast<double>(reference.i[x]), out.i[x] == reference.i[x]);
    return comparer.finish();
}

} // namespace tdl::interp
