// Errors of the elementary functions against long double, in units of the last place of the result's type.
#include "compiled.h"
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <random>

namespace {

struct Function {
    const char *name;
    long double (*exact)(long double);
    double low, high;    // where errors are measured
    double ulp32, ulp64; // bounds
};
const Function kFunctions[] = {
    {"exp", [](long double x) { return std::exp(x); }, -90, 90, 1.5, 1.5},
    {"exp2", [](long double x) { return std::exp2(x); }, -130, 128, 1.5, 1.5},
    {"log2", [](long double x) { return std::log2(x); }, 1e-38, 1e38, 3, 3},
    {"sqrt", [](long double x) { return std::sqrt(x); }, 0, 1e30, 0.5001, 0.5001},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1e-30, 1e30, 1.5, 1.5},
    {"tanh", [](long double x) { return std::tanh(x); }, -12, 12, 2, 2},
    {"erf", [](long double x) { return std::erf(x); }, -6, 6, 3, 3},
};

template <class T> double ulps(T got, long double want) {
    if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
    T nearest = static_cast<T>(want);
    if (std::isinf(nearest) || nearest == 0)
        return got == nearest ? 0 : std::isinf(got) == std::isinf(nearest) ? 1 : 1e9;
    int e = std::max(std::ilogb(nearest), std::numeric_limits<T>::min_exponent - 1) -
            (std::numeric_limits<T>::digits - 1);
    return static_cast<double>(std::fabs(static_cast<long double>(got) - want) *
                               std::exp2(static_cast<long double>(-e)));
}

template <class T> void measure(const Compiled &c, const Function &f, const char *type, double bound) {
    std::vector<T> x;
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> linear(f.low, f.high), unit(-1, 1), exponent(-30, 30);
    for (int i = 0; i < 60000; ++i) x.push_back(static_cast<T>(linear(random)));
    for (int i = 0; i < 30000; ++i) x.push_back(static_cast<T>(unit(random)));
    for (int i = 0; i < 30000; ++i)
        x.push_back(static_cast<T>(std::exp2(exponent(random)) * (i % 2 ? 1 : -1)));
    for (int i = -2000; i < 2000; ++i)
        x.push_back(static_cast<T>(1 + i * static_cast<double>(std::numeric_limits<T>::epsilon())));
    T inf = std::numeric_limits<T>::infinity();
    for (T v :
         {T(0), T(-0.0), inf, -inf, std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::denorm_min(),
          std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(),
          T(1), T(-1), T(1000), T(-1000)})
        x.push_back(v);
    std::vector<T> r(x.size());
    auto n = static_cast<int64_t>(x.size());
    fake::Launch l(c.kernel(std::string(f.name) + "_" + type), 1, {n});
    l.dense(0, 0, x.data(), {n});
    l.dense(0, 1, r.data(), {n});
    REQUIRE(l.run());
    double worst = 0;
    T where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        double e = ulps<T>(r[i], f.exact(static_cast<long double>(x[i])));
        if (e > worst) worst = e, where = x[i];
    }
    INFO(std::string(f.name), " ", std::string(type), ": ", worst, " ulp at ", where);
    CHECK(worst <= bound);
}

} // namespace

TEST_CASE("elementary functions are within their bounds") {
    std::vector<std::string> kerns;
    for (const Function &f : kFunctions)
        for (const char *t : {"f32", "f64"})
            kerns.push_back(elementwise(std::string(f.name) + "_" + t, {t}, t,
                                        std::string("    %r = ") + f.name + " %x : " + t + "[i] @3:3\n"));
    for (auto &options : machineOptions()) {
        CAPTURE(describe(options));
        Compiled c(module(kerns), options);
        CHECK(undefinedSymbols(c.object()) ==
              std::vector<std::string>{"tdl_launch", "tdl_next_ticket", "tdl_prepare"});
        for (const Function &f : kFunctions) {
            measure<float>(c, f, "f32", f.ulp32);
            measure<double>(c, f, "f64", f.ulp64);
        }
    }
}
