// Single operations on chosen values: integers wrap, NaN propagates, sums over nothing have their identity.
#include "launch.h"
#include <cmath>
#include <limits>

using namespace tdl;
using namespace tdl::interp;
using test::Run;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(),
                 none = std::numeric_limits<double>::quiet_NaN();

/// Elements of a float or of an integer type.
struct Values {
    std::string elem;
    std::vector<double> v;
};

bool isFloatName(const std::string &s) {
    return s[0] == 'f' || s[0] == 'b' ? s != "bool" : false;
}

/// Z[..] = `body` of %x0, %x1, ...: tiles with axis i over the elements of each input; the body defines %z,
/// of type `type`.
std::vector<double> evaluate(const std::vector<Values> &inputs, const std::string &body,
                             const std::string &elem, bool isScalar = false,
                             Rounding rounding = Rounding::Stored) {
    std::string text = "tdl.tile 1\nkernel @k(sizes = [N], tiles = []) {\n", loads;
    for (size_t n = 0; n < inputs.size(); ++n) {
        text += fmt::format("  %X{} = tensor(name = X{}, mode = in, dims = [N]) : tensor<{}>\n", n, n,
                            inputs[n].elem);
        loads += fmt::format("    %x{} = load %X{}[%i] : {}[i]\n", n, n, inputs[n].elem);
    }
    text += fmt::format("  %Z = tensor(name = Z, mode = out, dims = [{}]) : tensor<{}>\n",
                        isScalar ? "1" : "N", elem);
    text += "  stage @s(loops = []) {\n    %i = whole(axis = i, extent = N) : range<i>\n    %zero = "
            "const(value = 0) : i64\n" +
            loads + "    " + body + "\n    store %z, %Z[" + (isScalar ? "%zero" : "%i") + "]\n  }\n}\n";
    test::Parsed program(text);
    Run run(program, "k", 1, {{"N", static_cast<int64_t>(inputs[0].v.size())}});
    run.options.rounding = rounding;
    run.prepare();
    for (size_t n = 0; n < inputs.size(); ++n) {
        Tensor &t = run[fmt::format("X{}", n)];
        if (isFloatName(inputs[n].elem))
            t.f = inputs[n].v;
        else
            t.i.assign(inputs[n].v.begin(), inputs[n].v.end());
    }
    run.go();
    const Tensor &z = run["Z"];
    return isFloat(z.elem) ? z.f : std::vector<double>(z.i.begin(), z.i.end());
}

std::vector<double> binary(const std::string &op, const std::string &elem, std::vector<double> a,
                           std::vector<double> b, std::string result = "") {
    if (result.empty()) result = elem;
    return evaluate({{elem, a}, {elem, b}}, fmt::format("%z = {} %x0, %x1 : {}[i]", op, result), result);
}
std::vector<double> unary(const std::string &op, const std::string &elem, std::vector<double> a,
                          std::string result = "") {
    if (result.empty()) result = elem;
    return evaluate({{elem, a}}, fmt::format("%z = {} %x0 : {}[i]", op, result), result);
}
double reduced(const std::string &kind, const std::string &elem, std::vector<double> a,
               const std::string &result) {
    return evaluate({{elem, a}}, fmt::format("%z = reduce %x0(kind = {}, over = [i]) : {}", kind, result),
                    result, true)[0];
}

using V = std::vector<double>;

} // namespace

TEST_CASE("integer arithmetic") {
    CHECK(binary("add", "i8", {127, -128, 3}, {1, -1, 4}) == V{-128, 127, 7});
    CHECK(binary("sub", "i32", {-2147483648.0, 5}, {1, 7}) == V{2147483647.0, -2});
    CHECK(binary("mul", "i8", {16, -7}, {16, 3}) == V{0, -21});
    CHECK(binary("div", "i32", {7, -7, 7, 5, -2147483648.0}, {2, 2, -2, 0, -1}) ==
          V{3, -3, -3, 0, -2147483648.0});
    CHECK(binary("rem", "i32", {7, -7, 5, 5}, {3, 3, 0, -1}) == V{1, -1, 0, 0});
    CHECK(binary("min", "i64", {3, -4}, {2, 8}) == V{2, -4});
    CHECK(binary("max", "i64", {3, -4}, {2, 8}) == V{3, 8});
    CHECK(unary("neg", "i8", {-128, 5}) == V{-128, -5});
    CHECK(unary("abs", "i8", {-128, -5, 5}) == V{-128, 5, 5});
    CHECK(binary("lt", "i32", {1, 2, 3}, {2, 2, 2}, "bool") == V{1, 0, 0});
    CHECK(binary("ge", "i32", {1, 2, 3}, {2, 2, 2}, "bool") == V{0, 1, 1});
    CHECK(binary("and", "bool", {1, 1, 0}, {1, 0, 0}) == V{1, 0, 0});
    CHECK(binary("or", "bool", {1, 1, 0}, {1, 0, 0}) == V{1, 1, 0});
    CHECK(unary("not", "bool", {1, 0}) == V{0, 1});
}

TEST_CASE("float arithmetic") {
    V a = binary("max", "f32", {none, 1, 2, inf}, {1, none, 1, none}),
      b = binary("min", "f32", {none, 1, 2}, {1, none, 1});
    CHECK((std::isnan(a[0]) && std::isnan(a[1]) && a[2] == 2 && std::isnan(a[3])));
    CHECK((std::isnan(b[0]) && std::isnan(b[1]) && b[2] == 1));
    CHECK(binary("div", "f32", {1, -1}, {0, 0}) == V{inf, -inf});
    CHECK(binary("eq", "f32", {none, 1, 0}, {none, 1, -0.0}, "bool") == V{0, 1, 1});
    CHECK(binary("ne", "f32", {none, 1}, {none, 1}, "bool") == V{1, 0});
    CHECK(unary("exp", "f64", {0, 1, -inf}) == V{1, std::exp(1.0), 0});
    CHECK(unary("exp2", "f64", {3}) == V{8});
    CHECK(unary("log2", "f64", {8}) == V{3});
    CHECK(unary("sqrt", "f64", {9}) == V{3});
    CHECK(unary("rsqrt", "f64", {4}) == V{0.5});
    CHECK(unary("erf", "f64", {0.5}) == V{std::erf(0.5)});
    CHECK(unary("tanh", "f64", {0.5}) == V{std::tanh(0.5)});
    CHECK(unary("abs", "f32", {-2, 2}) == V{2, 2});
    CHECK(evaluate({{"bool", {1, 0}}, {"f32", {1, 2}}, {"f32", {3, 4}}}, "%z = select %x0, %x1, %x2 : f32[i]",
                   "f32") == V{1, 4});
}

TEST_CASE("casts") {
    CHECK(unary("cast", "f32", {1.9, -1.9, 1e20, none}, "i32") == V{1, -1, 2147483647.0, 0});
    CHECK(unary("cast", "i32", {300, -1}, "i8") == V{44, -1});
    CHECK(unary("cast", "f32", {0, -0.0, 0.5}, "bool") == V{0, 0, 1});
    CHECK(unary("cast", "bool", {1, 0}, "i32") == V{1, 0});
    CHECK(unary("cast", "i64", {16777217}, "f32") == V{16777216});
    CHECK(unary("cast", "f32", {1000, -1000}, "fp8e4m3") == V{448, -448});
    CHECK(unary("cast", "f32", {1.0009765625}, "bf16") == V{1});
}

TEST_CASE("reductions") {
    CHECK(reduced("sum", "f32", {}, "f32") == 0);
    CHECK(std::isnan(reduced("mean", "f32", {}, "f32")));
    CHECK(reduced("max", "f32", {}, "f32") == -inf);
    CHECK(reduced("min", "f32", {}, "f32") == inf);
    CHECK(reduced("max", "i32", {}, "i32") == -2147483648.0);
    CHECK(reduced("min", "i8", {}, "i8") == 127);
    CHECK(reduced("argmax", "f32", {}, "i64") == -1);
    CHECK(reduced("mean", "i32", {}, "i32") == 0);
    CHECK(reduced("mean", "bf16", {1, 2, 4, 5}, "f32") == 3);
    CHECK(reduced("sum", "i8", {100, 100, 100}, "i32") == 300);
    CHECK(reduced("sum", "bool", {1, 0, 1, 1}, "i32") == 3);
    CHECK(reduced("sum", "i32", {2147483647.0, 1}, "i32") == -2147483648.0);
    CHECK(reduced("argmax", "f32", {1, 3, 3, 2}, "i64") == 1);
    CHECK(reduced("argmin", "f32", {4, 3, 3, 9}, "i64") == 1);
    CHECK(reduced("argmax", "f32", {-inf, -inf}, "i64") == 0);
    CHECK(reduced("argmax", "f32", {1, none, 3, none}, "i64") == 1);
    CHECK(std::isnan(reduced("max", "f32", {1, none, 3}, "f32")));
    CHECK(reduced("max", "fp8e5m2", {1, 3, -2}, "fp8e5m2") == 3);
}

TEST_CASE("dot") {
    auto dot = [](const char *elem, V a, V b, const char *result) {
        return evaluate({{elem, a}, {elem, b}}, fmt::format("%z = dot %x0, %x1(over = [i]) : {}", result),
                        result, true)[0];
    };
    CHECK(dot("i8", {100, 100, -3}, {100, 100, 1}, "i32") == 19997);
    CHECK(dot("f64", {1, 2, 3, 4, 5}, {1, 1, 1, 1, 0.5}, "f64") == 12.5);
    CHECK(dot("bf16", {}, {}, "f32") == 0);
    CHECK(evaluate({{"f32", {1, 2}}, {"f32", {3, 4}}}, "%z = dot %x0, %x1(over = []) : f32[i]", "f32") ==
          V{3, 8});
}

TEST_CASE("rounding at stores or at each step") {
    V x(1000, 0x1p-24);
    x[0] = 1; // each further addition is lost in f32
    auto sum = [&](Rounding r) {
        return evaluate({{"f32", x}}, "%z = reduce %x0(kind = sum, over = [i]) : f32", "f32", true, r)[0];
    };
    CHECK(sum(Rounding::EachStep) == 1);
    CHECK(sum(Rounding::Stored) == 1 + 500 * 0x1p-23);
    auto third = [](Rounding r) { // (1 / 3) * 3 in f32, as f64 minus 1
        return evaluate(
            {{"f32", {1}}, {"f32", {3}}},
            "%a = div %x0, %x1 : f32[i]\n    %b = mul %a, %x1 : f32[i]\n    %z = sub %b, %x0 : f32[i]", "f32",
            false, r)[0];
    };
    CHECK(third(Rounding::EachStep) == 0);
    CHECK(std::fabs(third(Rounding::Stored)) < 1e-15);
}
