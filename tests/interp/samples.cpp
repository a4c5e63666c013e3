// The nine samples against plain loops: all element types, rank counts and sizes that divide nothing, in both
// modes, with every freedom that the language leaves to the compiler.
#include "interp/scale.h"
#include "launch.h"
#include "support/convert.h"
#include <cmath>

using namespace tdl;
using namespace tdl::interp;
using test::Run;
using test::Sizes;

namespace {

constexpr int64_t kRanks[] = {1, 2, 3, 4, 5, 8};
const std::vector<Sizes> kVectors = {{{"N", 0}}, {{"N", 1}}, {{"N", 7}}, {{"N", 129}}, {{"N", 5000}}};
const std::vector<Sizes> kMatrices = {{{"M", 1}, {"N", 1}},   {{"M", 3}, {"N", 2}}, {{"M", 7}, {"N", 90}},
                                      {{"M", 65}, {"N", 63}}, {{"M", 0}, {"N", 5}}, {{"M", 5}, {"N", 0}},
                                      {{"M", 0}, {"N", 0}}};
const std::vector<Sizes> kProducts = {{{"M", 1}, {"N", 1}, {"K", 1}},   {{"M", 2}, {"N", 3}, {"K", 2}},
                                      {{"M", 7}, {"N", 5}, {"K", 130}}, {{"M", 33}, {"N", 17}, {"K", 9}},
                                      {{"M", 0}, {"N", 5}, {"K", 7}},   {{"M", 5}, {"N", 0}, {"K", 7}},
                                      {{"M", 5}, {"N", 7}, {"K", 0}},   {{"M", 0}, {"N", 0}, {"K", 0}}};

/// A test's view of a launch: elements by global indices, and by rank in private tensors.
struct View {
    Run &run;
    int64_t size(const char *n) const { return run.launch.sizes.at(n); }
    int64_t ranks() const { return run.launch.ranks; }
    double operator()(const char *name, int64_t rank, int64_t i, int64_t j = 0) const {
        const Tensor &t = *run.launch.find(name);
        return t.f[static_cast<size_t>(t.base(rank) + (t.extents.size() == 1 ? i : i * t.extents[1] + j))];
    }
};

/// What the output should be at (i, j), or (i); on rank r if it is private.
using Reference = std::function<double(const View &, int64_t r, int64_t i, int64_t j)>;

void check(const std::string &text, const char *name, const char *out, const std::vector<Sizes> &shapes,
           const Reference &reference) {
    test::Parsed program(text);
    int turn = 0;
    for (int64_t ranks : kRanks)
        for (const Sizes &sizes : shapes)
            for (DataMode mode : {DataMode::Exact, DataMode::Real}) {
                Run run(program, name, ranks, sizes);
                run.prepare().fill({mode, 7, 1});
                // Each freedom in turn; over all shapes every combination occurs.
                run.options.check = true;
                run.options.cuts = turn % 2 ? Cuts::Random : Cuts::Given;
                run.options.order = static_cast<Order>(turn % 3);
                run.options.rounding = turn % 5 == 4 ? Rounding::EachStep : Rounding::Stored;
                run.options.seed = static_cast<uint64_t>(++turn);
                run.go();
                Tensor want = run[out];
                View view{run};
                int64_t columns = want.extents.size() == 1 ? 1 : want.extents[1], n = want.elements();
                for (int64_t x = 0; x < want.copies() * n; ++x)
                    want.f[static_cast<size_t>(x)] =
                        roundTo(want.elem, reference(view, x / n, x % n / columns, x % n % columns));
                Comparison c = compare(want, run[out], toleranceFor(*run.kernel, want, mode));
                CHECK_MESSAGE(c.ok(), name, " on ", ranks, " ranks: ", c.text(want));
            }
}

double product(const View &v, int64_t rank, int64_t i, int64_t j, int64_t begin, int64_t end) {
    double s = 0;
    for (int64_t k = begin; k < end; ++k) s += v("A", rank, i, k) * v("B", rank, j, k);
    return s;
}

/// The sum over ranks of each one's share of the product, which travels in the output's type.
double summedProduct(const View &v, const char *out, int64_t i, int64_t j) {
    double s = 0;
    int64_t K = v.size("K"), b = test::block(K, v.ranks());
    for (int64_t r = 0; r < v.ranks(); ++r)
        s += roundTo(v.run.launch.find(out)->elem,
                     product(v, r, i, j, std::min(K, r * b), std::min(K, r * b + b)));
    return s;
}

double summed(const View &v, int64_t i, int64_t j) {
    double s = 0;
    for (int64_t r = 0; r < v.ranks(); ++r) s += v("X", r, i, j);
    return s;
}

std::string samples(const char *type) {
    return test::replaced(
        test::readFile(std::filesystem::path(TDL_TESTS_DIR) / "../tile/programs/samples.tile"), "bf16", type);
}

} // namespace

TEST_CASE("vectors and sums over ranks") {
    std::string text = samples("bf16");
    check(text, "vector_add", "Z", kVectors,
          [](auto &v, auto r, auto i, auto) { return v("X", r, i) + v("Y", r, i); });
    check(text, "all_reduce", "Y", kVectors, [](auto &v, auto, auto i, auto) { return summed(v, i, 0); });
}

TEST_CASE("matrices") {
    for (const char *type : {"f32", "bf16", "f16"}) {
        std::string text = samples(type);
        check(text, "all_gather", "B", kMatrices,
              [](auto &v, auto, auto i, auto j) { return v("A", 0, i, j); });
        check(text, "reduce_scatter", "Y", kMatrices,
              [](auto &v, auto, auto i, auto j) { return summed(v, i, j); });
        check(text, "softmax", "Y", kMatrices, [](auto &v, auto r, auto i, auto j) {
            double total = 0;
            for (int64_t x = 0; x < v.size("N"); ++x) total += std::exp(v("X", r, i, x));
            return std::exp(v("X", r, i, j)) / total;
        });
    }
}

TEST_CASE("products") {
    for (const char *type : {"f32", "bf16", "f16", "fp8e4m3"}) {
        std::string text = samples(type);
        auto whole = [](auto &v, auto r, auto i, auto j) { return product(v, r, i, j, 0, v.size("K")); };
        check(text, "gemm", "C", kProducts, whole);
        check(text, "ag_gemm", "C", kProducts, whole);
        auto sum = [](auto &v, auto, auto i, auto j) { return summedProduct(v, "C", i, j); };
        check(text, "gemm_rs", "C", kProducts, sum);
        check(text, "gemm_ar", "C", kProducts, sum);
    }
}

TEST_CASE("inputs are scaled so that outputs are near unit variance") {
    test::Parsed program(samples("f32"));
    for (const char *name : {"gemm", "ag_gemm", "gemm_rs", "gemm_ar", "reduce_scatter"}) {
        Run run(program, name, 4, {{"M", 50}, {"N", 60}, {"K", 200}});
        run.prepare();
        auto scales = inputScales(*run.kernel, run.launch);
        for (Tensor &t : run.launch.tensors) {
            if (run.isInput(t.name)) interp::fill(t, {DataMode::Real, 3, scales.at(t.name)});
        }
        run.go();
        double squares = 0;
        const Tensor &out = run.launch.tensors.back();
        for (double v : out.f) squares += v * v;
        CHECK(squares / static_cast<double>(out.f.size()) == doctest::Approx(1).epsilon(0.1));
    }
}

TEST_CASE("results do not depend on the seed of cuts and orders") {
    test::Parsed program(samples("bf16"));
    std::vector<double> first;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        Run run(program, "gemm_rs", 3, {{"M", 40}, {"N", 30}, {"K", 70}});
        run.options = {Rounding::Stored, seed ? Cuts::Random : Cuts::Given, static_cast<Order>(seed % 3),
                       seed, true};
        run.prepare().fill({DataMode::Exact, 1, 1}).go();
        if (seed == 0) first = run["C"].f;
        CHECK(run["C"].f == first);
    }
}
