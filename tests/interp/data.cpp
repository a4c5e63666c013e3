// Generated data is the same whoever makes it; a rank's storage and the global view agree; comparison finds
// what differs.
#include "interp/scale.h"
#include "launch.h"
#include "support/convert.h"
#include <cmath>
#include <cstring>

using namespace tdl;
using namespace tdl::interp;

namespace {

Tensor tensor(std::string name, Elem e, std::vector<int64_t> extents, int dist, bool uniform, int64_t ranks) {
    Tensor t;
    t.name = std::move(name), t.elem = e, t.extents = std::move(extents), t.dist = dist, t.uniform = uniform,
    t.ranks = ranks;
    return t;
}

} // namespace

TEST_CASE("each rank makes its part of the same tensor") {
    for (int64_t ranks : {1, 3, 8})
        for (auto [dist, uniform] : {std::pair{-1, false}, {-1, true}, {0, false}, {1, false}})
            for (Elem e : {Elem::F32, Elem::BF16, Elem::F8E4M3, Elem::I8, Elem::I64, Elem::Bool})
                for (DataMode mode : {DataMode::Exact, DataMode::Real})
                    for (bool dense : {true, false}) {
                        Tensor t = tensor("T", e, {10, 7}, dist, uniform, ranks);
                        DataSource source{mode, 42, 0.5};
                        Tensor whole = t, back = t;
                        fill(whole, source);
                        back.poison();
                        for (int64_t r = 0; r < ranks; ++r) {
                            Part p{&t, r};
                            int64_t wide = p.capacity(1) + 3;
                            if (!dense) p.strides = {wide, 1};
                            std::vector<char> memory(static_cast<size_t>(p.capacity(0) * wide * elemBytes(e)),
                                                     0x55);
                            fill(p, memory.data(), source);
                            Part with = p;
                            with.tensor = &whole;
                            CHECK(compare(with, memory.data(), {}).ok());
                            read(back, p, memory.data());
                            std::vector<char> again(memory.size(), 0x55);
                            write(with, again.data());
                            CHECK(memory == again); // the same elements, and nothing beside them
                        }
                        CHECK(back.f == whole.f);
                        CHECK(back.i == whole.i);
                    }
}

TEST_CASE("the world size does not change a tensor and copies of a private one differ") {
    Tensor a = tensor("T", Elem::F32, {100}, 0, false, 2), b = tensor("T", Elem::F32, {100}, 0, false, 5);
    fill(a, {DataMode::Real, 1, 1});
    fill(b, {DataMode::Real, 1, 1});
    CHECK(a.f == b.f);
    fill(b, {DataMode::Real, 2, 1});
    CHECK(a.f != b.f);
    Tensor p = tensor("T", Elem::F32, {100}, -1, false, 2);
    fill(p, {DataMode::Real, 1, 1});
    CHECK(std::memcmp(p.f.data(), p.f.data() + 100, 100 * sizeof(double)) != 0);
    Tensor other = tensor("U", Elem::F32, {100}, 0, false, 2);
    fill(other, {DataMode::Real, 1, 1});
    CHECK(other.f != a.f);
}

TEST_CASE("distributions") {
    Tensor t = tensor("T", Elem::F32, {100000}, -1, true, 1);
    fill(t, {DataMode::Exact, 1, 1});
    int64_t zero = 0, plus = 0;
    bool small = true;
    for (double v : t.f) {
        zero += v == 0;
        plus += v == 1;
        small &= v == 0 || v == 1 || v == -1;
    }
    CHECK(small);
    CHECK(zero == doctest::Approx(75000).epsilon(0.02));
    CHECK(plus == doctest::Approx(12500).epsilon(0.05));
    fill(t, {DataMode::Real, 1, 0.25});
    double sum = 0, squares = 0;
    for (double v : t.f) sum += v, squares += v * v;
    CHECK(std::fabs(sum / 1e5) < 0.005);
    CHECK(std::sqrt(squares / 1e5) == doctest::Approx(0.25).epsilon(0.01));
    Tensor i = tensor("T", Elem::I8, {10000}, -1, true, 1);
    fill(i, {DataMode::Real, 1, 1});
    CHECK(*std::min_element(i.i.begin(), i.i.end()) == -4);
    CHECK(*std::max_element(i.i.begin(), i.i.end()) == 4);
}

TEST_CASE("comparison") {
    Tensor t = tensor("C", Elem::BF16, {4, 300}, 0, false, 2);
    fill(t, {DataMode::Real, 1, 1});
    Part p{&t, 1};
    std::vector<uint16_t> memory(static_cast<size_t>(p.storage()));
    write(p, memory.data());
    Tolerance tolerance = toleranceOf(Elem::BF16);
    CHECK(compare(p, memory.data(), tolerance).ok());
    memory[5] = toBF16(t.f[2 * 300 + 5] + 1);
    memory[301] = toBF16(std::nan(""));
    Comparison c = compare(p, memory.data(), tolerance);
    CHECK(c.wrong == 2);
    CHECK(c.first[0].number == 2 * 300 + 5);
    CHECK(c.text(t).find("C: 2 of 600 elements differ") == 0);
    CHECK(c.text(t).find("\n  C[2, 5] is ") != std::string::npos);
    CHECK(c.text(t).find("\n  C[3, 1] is nan, should be ") != std::string::npos);

    // Each element within its tolerance, all of them together not.
    write(p, memory.data());
    for (size_t x = 0; x < memory.size(); ++x) memory[x] = toBF16(t.f[600 + x] + 0.006);
    c = compare(p, memory.data(), tolerance);
    CHECK(c.wrong == 0);
    CHECK_FALSE(c.ok());

    Tensor a = tensor("A", Elem::F32, {3}, -1, true, 1), b = a;
    a.f = {0, 1e300 * 1e10, std::nan("")};
    b.f = {-0.0, 1e300 * 1e10, std::nan("")};
    CHECK(compare(a, b, {}).ok());
    b.f[1] = 1;
    CHECK(compare(a, b, {1, 1}).wrong == 1);
}

TEST_CASE("what a kernel asks of a comparison") {
    test::Parsed program(
        test::readFile(std::filesystem::path(TDL_TESTS_DIR) / "../tile/programs/samples.tile"));
    REQUIRE(program.module);
    Tensor out = tensor("C", Elem::BF16, {4}, -1, true, 1), wide = tensor("C", Elem::F32, {4}, -1, true, 1);
    CHECK(isExact(*program.kernel("gemm_rs")));
    CHECK_FALSE(isExact(*program.kernel("softmax")));
    CHECK(toleranceFor(*program.kernel("gemm"), out, DataMode::Exact).element == 0);
    CHECK(toleranceFor(*program.kernel("softmax"), out, DataMode::Exact).element == 8e-3);
    CHECK(toleranceFor(*program.kernel("gemm"), out, DataMode::Real).frobenius == 3e-3);
    CHECK(toleranceFor(*program.kernel("gemm_rs"), out, DataMode::Real).frobenius ==
          doctest::Approx(5e-3)); // on the wire
    CHECK(toleranceFor(*program.kernel("gemm_rs"), wide, DataMode::Real).element == 8e-3);
    CHECK(toleranceFor(*program.kernel("all_reduce"), wide, DataMode::Real).element == 1e-5);
}
