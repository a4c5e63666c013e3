// Reductions over the fast axis, the slow one, both and none, of every kind.
#include "compiled.h"
#include "support/convert.h"
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace tdl;

namespace {

// R = kind of X[i, k] over `over`; the result is stored to R[i], R[k] or R[0].
std::string reduction(const std::string &name, const std::string &kind, const std::string &elem,
                      const std::string &out, const std::string &over, const std::string &kept) {
    std::string body = "    %M = expr(value = M) : i64\n    %K = expr(value = K) : i64\n"
                       "    %i = span %zero, %M(axis = i, cap = M) : range<i>\n    %k = span %zero, %K(axis "
                       "= k, cap = K) : range<k>\n"
                       "    %b = base %TX, %rank : ptr<" +
                       elem + ">\n    %s = stride %TX(dim = 0) : i64\n    %x = read %b, %s, %one : " + elem +
                       "[i, k] @3:3\n" + "    %y = reduce %x(kind = " + kind + ", over = [" + over +
                       "]) : " + out + (kept.empty() ? "" : "[" + kept + "]") + " @3:4\n" +
                       "    %br = base %TR, %rank : ptr<" + out + ">\n    write %y, %br" +
                       (kept.empty() ? "" : ", %one") + " @4:4\n";
    return kern(name, "M, K",
                tensor("TX", "in", "M, K", elem) + tensor("TR", "out",
                                                          kept == "i"   ? "M"
                                                          : kept == "k" ? "K"
                                                                        : "1",
                                                          out),
                program("main", "", "", body));
}

struct Shape {
    const char *over, *kept;
};
const Shape kShapes[] = {{"k", "i"}, {"i", "k"}, {"i, k", ""}};

} // namespace

TEST_CASE("reductions of every kind") {
    std::vector<std::string> kerns;
    struct Entry {
        std::string name, kind, elem, out;
        Shape shape;
    };
    std::vector<Entry> all;
    for (const char *kind : {"sum", "mean", "max", "min", "argmax", "argmin"})
        for (const char *elem : {"f32", "f64", "bf16", "f16", "i8", "i32", "i64"})
            for (const Shape &s : kShapes) {
                std::string k = kind, e = elem;
                bool arg = k.starts_with("arg");
                if (arg && std::string(s.kept).empty()) continue;
                std::string out = arg ? "i64"
                                  : k == "sum" || k == "mean"
                                      ? std::string(elemName(accumulatorOf(*parseElem(e))))
                                      : e;
                all.push_back({"r" + std::to_string(all.size()), k, e, out, s});
                kerns.push_back(reduction(all.back().name, k, e, out, s.over, s.kept));
            }
    for (auto &made : versions(module(kerns))) {
        const Compiled &c = *made;
        for (const Entry &r : all)
            for (auto [M, K] : {std::pair<int64_t, int64_t>{1, 1}, {3, 0}, {0, 3}, {2, 65}, {17, 33}}) {
                CAPTURE(r.kind);
                CAPTURE(r.elem);
                CAPTURE(std::string(r.shape.over));
                CAPTURE(M);
                CAPTURE(K);
                Elem e = *parseElem(r.elem), o = *parseElem(r.out);
                std::vector<char> x(static_cast<size_t>(M * K * elemBytes(e)));
                auto at = [&](int64_t i, int64_t k) { return x.data() + (i * K + k) * elemBytes(e); };
                for (int64_t i = 0; i < M; ++i)
                    for (int64_t k = 0; k < K; ++k)
                        if (isFloat(e))
                            writeFloat(e, at(i, k), static_cast<double>((i * 31 + k * 17) % 23 - 11));
                        else
                            writeInt(e, at(i, k), (i * 31 + k * 17) % 23 - 11);
                if (isFloat(e) && M == 17) writeFloat(e, at(4, 5), std::nan(""));
                std::string kept = r.shape.kept;
                int64_t n = kept == "i" ? M : kept == "k" ? K : 1;
                std::vector<char> out(static_cast<size_t>(n * elemBytes(o)));
                fake::Launch l(c.kernel(r.name), 1, {M, K});
                l.dense(0, 0, x.data(), {M, K});
                l.dense(0, 1, out.data(), {n});
                REQUIRE(l.run());
                for (int64_t p = 0; p < n; ++p) {
                    double best = std::nan(""), sum = 0;
                    int64_t where = -1, count = 0;
                    for (int64_t i = 0; i < M; ++i)
                        for (int64_t k = 0; k < K; ++k) {
                            if ((kept == "i" && i != p) || (kept == "k" && k != p)) continue;
                            double v = isFloat(e) ? readFloat(e, at(i, k))
                                                  : static_cast<double>(readInt(e, at(i, k)));
                            bool up = r.kind == "max" || r.kind == "argmax";
                            if (count == 0 ||
                                (!std::isnan(best) && (std::isnan(v) || (up ? v > best : v < best))))
                                best = v, where = kept == "i" ? k : i;
                            sum += v;
                            ++count;
                        }
                    double inf = std::numeric_limits<double>::infinity();
                    auto limit = static_cast<double>((uint64_t{1} << (elemBytes(e) * 8 - 1)));
                    double none = r.kind == "max" ? (isFloat(e) ? -inf : -limit)
                                  : isFloat(e)    ? inf
                                                  : limit - 1;
                    const char *got = out.data() + p * elemBytes(o);
                    double g = isFloat(o) ? readFloat(o, got) : static_cast<double>(readInt(o, got));
                    double want = r.kind == "sum"             ? sum
                                  : r.kind == "mean"          ? (isFloat(e) ? sum / static_cast<double>(count)
                                                                 : count ? std::trunc(sum / static_cast<double>(count))
                                                                         : 0)
                                  : r.kind.starts_with("arg") ? static_cast<double>(where)
                                  : count                     ? best
                                                              : none;
                    bool same = std::isnan(want)
                                    ? std::isnan(g)
                                    : std::fabs(g - want) <= (r.kind == "mean" ? 1e-6 * std::fabs(want) : 0);
                    if (want == none && g == none) same = true;
                    CHECK_MESSAGE(same, g << " not " << want);
                }
            }
    }
}
