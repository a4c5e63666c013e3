// tile/programs/features.tile against plain loops: what tile IR can say beyond the samples.
#include "interp/scale.h"
#include "launch.h"
#include "support/convert.h"
#include <cmath>

using namespace tdl;
using namespace tdl::interp;
using test::Run;
using test::Sizes;

namespace {

test::Parsed &features() {
    static test::Parsed p(
        test::readFile(std::filesystem::path(TDL_TESTS_DIR) / "../tile/programs/features.tile"));
    return p;
}

/// Runs a kernel on 1, 2, 3 and 5 ranks with several cuts and orders, then calls `look(run, element of
/// input)`.
template <class Look>
void each(const char *name, const std::vector<Sizes> &shapes, Look look,
          const std::function<void(Run &)> &set = {}) {
    for (int64_t ranks : {1, 2, 3, 5})
        for (const Sizes &sizes : shapes)
            for (int turn = 0; turn < 3; ++turn) {
                Run run(features(), name, ranks, sizes);
                run.launch.scalars["scale"] = 0.5;
                run.prepare().fill({DataMode::Real, 5, 1});
                if (set) set(run);
                for (auto &[tensor, scale] : inputScales(*run.kernel, run.launch)) CHECK((scale > 0 && scale <= 1));
                Launch before = run.launch;
                run.options = {Rounding::Stored, turn ? Cuts::Random : Cuts::Given, static_cast<Order>(turn),
                               3, true};
                run.go();
                look(run, before);
            }
}

double f(const Launch &l, const char *name, int64_t at) {
    return l.find(name)->f[static_cast<size_t>(at)];
}
int64_t i(const Launch &l, const char *name, int64_t at) {
    return l.find(name)->i[static_cast<size_t>(at)];
}

void near(double a, double b) {
    CHECK(a == doctest::Approx(b).epsilon(1e-6));
}

} // namespace

TEST_CASE("shifted ranges and values outside") {
    each("neighbours", {{{"N", 0}}, {{"N", 1}}, {{"N", 29}}}, [](Run &run, const Launch &) {
        int64_t N = run.launch.sizes.at("N");
        for (int64_t x = 0; x < N; ++x)
            near(f(run.launch, "Y", x),
                 (x ? f(run.launch, "X", x - 1) : 9) + (x + 1 < N ? f(run.launch, "X", x + 1) : 9));
    });
}

TEST_CASE("whole extents") {
    each("rows", {{{"M", 7}, {"D", 13}}, {{"M", 2}, {"D", 1}}, {{"M", 2}, {"D", 0}}},
         [](Run &run, const Launch &l) {
             int64_t M = l.sizes.at("M"), D = l.sizes.at("D");
             for (int64_t t = 0; t < M; ++t) {
                 double sum = 0;
                 for (int64_t d = 0; d < D; ++d) sum += f(l, "X", t * D + d);
                 for (int64_t d = 0; d < D; ++d)
                     near(f(run.launch, "Y", t * D + d), f(l, "X", t * D + d) * f(l, "W", d) / sum);
             }
         });
}

TEST_CASE("loops in any order over a slice that rows decide") {
    each("causal", {{{"S", 21}, {"D", 4}}, {{"S", 2}, {"D", 3}}}, [](Run &run, const Launch &l) {
        int64_t S = l.sizes.at("S"), D = l.sizes.at("D");
        for (int64_t q = 0; q < S; ++q) {
            std::vector<double> p;
            double total = 0;
            for (int64_t k = 0; k <= q; ++k) {
                double s = 0;
                for (int64_t d = 0; d < D; ++d) s += f(l, "Q", q * D + d) * f(l, "K", k * D + d);
                p.push_back(std::exp(s * 0.5));
                total += p.back();
            }
            for (int64_t d = 0; d < D; ++d) {
                double o = 0;
                for (int64_t k = 0; k <= q; ++k) o += p[static_cast<size_t>(k)] * f(l, "V", k * D + d);
                near(f(run.launch, "O", q * D + d), o / total);
            }
        }
    });
}

TEST_CASE("loops within ranges and slices with fixed bounds") {
    each("nested", {{{"M", 37}, {"N", 19}}, {{"M", 5}, {"N", 2}}}, [](Run &run, const Launch &l) {
        int64_t M = l.sizes.at("M"), N = l.sizes.at("N");
        for (int64_t r = 0; r < l.ranks; ++r)
            for (int64_t x = 0; x < M; ++x) {
                double sum = 0;
                for (int64_t y = 2; y < N - 1; ++y) sum += f(l, "X", (r * M + x) * N + y);
                near(f(run.launch, "Y", r * M + x), sum);
            }
    });
}

TEST_CASE("reductions over ranks") {
    each("across", {{{"N", 23}}}, [](Run &run, const Launch &l) {
        int64_t N = l.sizes.at("N");
        for (int64_t x = 0; x < 4 * N; ++x) {
            int64_t sum = 0, most = -100, least = 100, mostAt = 0, leastAt = 0;
            for (int64_t r = 0; r < l.ranks; ++r) {
                int64_t v = i(l, "X", r * 4 * N + x);
                sum += v;
                if (v > most) most = v, mostAt = r;
                if (v < least) least = v, leastAt = r;
            }
            CHECK(i(run.launch, "S", x) == sum);
            if (x >= N) continue;
            const int64_t want[] = {most, least, sum / l.ranks, mostAt, leastAt, x};
            for (int64_t row = 0; row < 6; ++row) CHECK(i(run.launch, "T", row * N + x) == want[row]);
        }
    });
}

TEST_CASE("index tiles and recurrences and positions of the greatest") {
    auto set = [](Run &run) {
        int64_t N = run.launch.sizes.at("N");
        for (int64_t &x : run["I"].i) x = (x + 4) % N;
        run["Z"].f[1] = run["Z"].f[4] = 50; // a tie of row 0 of rank 0: the lower index
    };
    auto look = [](Run &run, const Launch &l) {
        int64_t M = l.sizes.at("M"), N = l.sizes.at("N");
        for (int64_t x = 0; x < l.ranks * M; ++x) {
            CHECK(f(run.launch, "Y", x) == f(l, "X", i(l, "I", x)));
            int64_t best = 0;
            for (int64_t y = 0; y < N; ++y)
                if (f(l, "Z", x * N + y) > f(l, "Z", x * N + best)) best = y;
            CHECK(i(run.launch, "P", x) == best);
        }
        CHECK(i(run.launch, "P", 0) == 1);
    };
    each("positions", {{{"M", 9}, {"N", 7}}}, look, set);
}

TEST_CASE("stages and local and inout tensors") {
    each("twice", {{{"N", 0}}, {{"N", 17}}}, [](Run &run, const Launch &l) {
        int64_t N = l.sizes.at("N");
        for (int64_t x = 0; x < N; ++x) {
            double sum = f(l, "R", x);
            for (int64_t r = 0; r < l.ranks; ++r) sum += f(l, "X", r * N + x);
            near(f(run.launch, "R", x), sum);
            for (int64_t r = 0; r < l.ranks; ++r)
                near(f(run.launch, "X", r * N + x), roundTo(Elem::BF16, sum));
        }
    });
}

TEST_CASE("stores to other ranks") {
    each("personal", {{{"N", 6}}}, [](Run &run, const Launch &l) {
        int64_t N = l.sizes.at("N"), R = l.ranks;
        for (int64_t d = 0; d < R; ++d)
            for (int64_t p = 0; p < R; ++p)
                for (int64_t c = 0; c < N; ++c)
                    CHECK(f(run.launch, "D", (d * R + p) * N + c) == f(l, "S", (p * R + d) * N + c));
    });
    each("pushes", {{{"N", 1}}, {{"N", 16}}}, [](Run &run, const Launch &l) {
        int64_t N = l.sizes.at("N");
        for (int64_t x = 0; x < N; ++x) {
            near(f(run.launch, "Y", x), f(l, "X", x) + f(l, "Y", x));
            CHECK(f(run.launch, "Z", x) == f(l, "X", N - 1 - x));
        }
    });
}

TEST_CASE("slices whose bounds are data") {
    for (int64_t lo : {-2, 0, 5, 9})
        for (int64_t hi : {0, 7, 12, 40}) {
            auto set = [=](Run &run) { run["B"].i = {lo, hi}; };
            each(
                "slices", {{{"N", 12}}},
                [=](Run &run, const Launch &l) {
                    double sum = 0;
                    for (int64_t x = std::max<int64_t>(0, lo); x < std::min<int64_t>(12, hi); ++x)
                        sum += f(l, "X", x);
                    CHECK(f(run.launch, "Y", 0) == doctest::Approx(sum).epsilon(1e-6));
                },
                set);
        }
}
