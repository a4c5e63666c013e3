// Every elementwise operation on every type it takes, and every cast, on values that matter: one module with
// a kernel per combination.
#include "compiled.h"
#include "support/convert.h"
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>

using namespace tdl;

namespace {

const std::vector<Elem> kTypes{Elem::Bool, Elem::I8,   Elem::I32, Elem::I64,
                               Elem::F16,  Elem::BF16, Elem::F32, Elem::F64};

/// Values of a type as doubles or integers, in its own memory form.
struct Column {
    Elem elem;
    std::vector<char> bytes;
    explicit Column(Elem e, size_t n = 0) : elem(e), bytes(n * static_cast<size_t>(elemBytes(e))) {}
    size_t size() const { return bytes.size() / static_cast<size_t>(elemBytes(elem)); }
    char *at(size_t i) { return bytes.data() + i * static_cast<size_t>(elemBytes(elem)); }
    double f(size_t i) { return readFloat(elem, at(i)); }
    int64_t i(size_t i) { return readInt(elem, at(i)); }
    void add(double v) {
        bytes.resize(bytes.size() + static_cast<size_t>(elemBytes(elem)));
        writeFloat(elem, at(size() - 1), v);
    }
    void add(int64_t v) {
        bytes.resize(bytes.size() + static_cast<size_t>(elemBytes(elem)));
        writeInt(elem, at(size() - 1), v);
    }
};

Column interesting(Elem e) {
    Column c(e);
    if (!isFloat(e)) {
        int64_t top = e == Elem::Bool ? 1 : static_cast<int64_t>((uint64_t{1} << (elemBytes(e) * 8 - 1)) - 1);
        for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{-7}, int64_t{100}, top,
                          -top - 1, top - 1, int64_t{16777217}, int64_t{-33554435}, int64_t{257},
                          int64_t{0x4000000000000001}, int64_t{0x7fffff7fffffffff}})
            c.add(wrapTo(e, v));
        return c;
    }
    double inf = std::numeric_limits<double>::infinity();
    for (double v : {0.0,
                     -0.0,
                     1.0,
                     -1.0,
                     0.5,
                     1.5,
                     -2.5,
                     3.0e4,
                     -65504.0,
                     65519.9,
                     65520.0,
                     1e-7,
                     -6e-8,
                     2.9802322387695312e-8,
                     1e-40,
                     3.4e38,
                     -1e30,
                     2147483520.0,
                     2147483648.0,
                     -3e9,
                     9.3e18,
                     127.9,
                     128.0,
                     -128.9,
                     1.00390625,
                     1.01171875,
                     0.1,
                     1.0000001,
                     1.00390625000001,
                     6.103515625e-5,
                     6.1e-5,
                     1e300,
                     inf,
                     -inf,
                     std::nan("")})
        c.add(v);
    return c;
}

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || a == b;
}

void launch(const Compiled &c, const std::string &name, std::vector<Column *> inputs, Column &out) {
    const tdl_kernel *k = c.kernel(name);
    REQUIRE_MESSAGE(k, name);
    auto n = static_cast<int64_t>(out.size());
    fake::Launch l(k, 1, {n});
    int i = 0;
    for (Column *x : inputs) l.dense(0, i++, x->bytes.data(), {n});
    l.dense(0, i, out.bytes.data(), {n});
    CHECK(l.run());
}

struct Operation {
    const char *text;
    enum { All, Numbers, Floats, Ints, Bools } on;
    bool binary, comparison;
    double (*f)(double, double);
    int64_t (*i)(int64_t, int64_t);
};
uint64_t u(int64_t v) {
    return static_cast<uint64_t>(v);
}
const Operation kOperations[] = {
    {"add", Operation::Numbers, true, false, [](double a, double b) { return a + b; },
     [](int64_t a, int64_t b) { return static_cast<int64_t>(u(a) + u(b)); }},
    {"sub", Operation::Numbers, true, false, [](double a, double b) { return a - b; },
     [](int64_t a, int64_t b) { return static_cast<int64_t>(u(a) - u(b)); }},
    {"mul", Operation::Numbers, true, false, [](double a, double b) { return a * b; },
     [](int64_t a, int64_t b) { return static_cast<int64_t>(u(a) * u(b)); }},
    {"div", Operation::Numbers, true, false, [](double a, double b) { return a / b; },
     [](int64_t a, int64_t b) { return ir::apply(ir::ExprKind::Div, a, b); }},
    {"rem", Operation::Ints, true, false, nullptr,
     [](int64_t a, int64_t b) { return ir::apply(ir::ExprKind::Mod, a, b); }},
    {"min", Operation::All, true, false, [](double a, double b) { return std::isnan(a) || a < b ? a : b; },
     [](int64_t a, int64_t b) { return a < b ? a : b; }},
    {"max", Operation::All, true, false, [](double a, double b) { return std::isnan(a) || a > b ? a : b; },
     [](int64_t a, int64_t b) { return a > b ? a : b; }},
    {"and", Operation::Bools, true, false, nullptr, [](int64_t a, int64_t b) { return a & b; }},
    {"or", Operation::Bools, true, false, nullptr, [](int64_t a, int64_t b) { return a | b; }},
    {"not", Operation::Bools, false, false, nullptr, [](int64_t a, int64_t) { return int64_t{!a}; }},
    {"eq", Operation::All, true, true, [](double a, double b) { return double(a == b); },
     [](int64_t a, int64_t b) { return int64_t{a == b}; }},
    {"ne", Operation::All, true, true, [](double a, double b) { return double(a != b); },
     [](int64_t a, int64_t b) { return int64_t{a != b}; }},
    {"lt", Operation::All, true, true, [](double a, double b) { return double(a < b); },
     [](int64_t a, int64_t b) { return int64_t{a < b}; }},
    {"le", Operation::All, true, true, [](double a, double b) { return double(a <= b); },
     [](int64_t a, int64_t b) { return int64_t{a <= b}; }},
    {"gt", Operation::All, true, true, [](double a, double b) { return double(a > b); },
     [](int64_t a, int64_t b) { return int64_t{a > b}; }},
    {"ge", Operation::All, true, true, [](double a, double b) { return double(a >= b); },
     [](int64_t a, int64_t b) { return int64_t{a >= b}; }},
    {"neg", Operation::Numbers, false, false, [](double a, double) { return -a; },
     [](int64_t a, int64_t) { return static_cast<int64_t>(0 - u(a)); }},
    {"abs", Operation::Numbers, false, false, [](double a, double) { return std::fabs(a); },
     [](int64_t a, int64_t) { return a < 0 ? static_cast<int64_t>(0 - u(a)) : a; }},
    {"sqrt", Operation::Floats, false, false, [](double a, double) { return std::sqrt(a); }, nullptr},
};

bool applies(const Operation &o, Elem e) {
    switch (o.on) {
    case Operation::All: return true;
    case Operation::Numbers: return e != Elem::Bool;
    case Operation::Floats: return isFloat(e);
    case Operation::Ints: return isInt(e);
    case Operation::Bools: return e == Elem::Bool;
    }
    return false;
}

} // namespace

TEST_CASE("elementwise operations on all types") {
    std::vector<std::string> kerns;
    for (const Operation &o : kOperations)
        for (Elem e : kTypes) {
            if (!applies(o, e)) continue;
            std::string t(elemName(e)), out = o.comparison ? "bool" : t;
            std::vector<std::string> inputs(o.binary ? 2 : 1, t);
            kerns.push_back(elementwise(std::string(o.text) + "_" + t, inputs, out,
                                        std::string("    %r = ") + o.text +
                                            (o.binary ? " %x, %y : " : " %x : ") + out + "[i] @3:3\n"));
        }
    for (auto &options : machineOptions()) {
        CAPTURE(describe(options));
        Compiled c(module(kerns), options);
        for (const Operation &o : kOperations)
            for (Elem e : kTypes) {
                if (!applies(o, e)) continue;
                std::string name = std::string(o.text) + "_" + std::string(elemName(e));
                CAPTURE(name);
                Column values = interesting(e), x(e), y(e); // all pairs
                for (size_t a = 0; a < values.size(); ++a)
                    for (size_t b = 0; b < values.size(); ++b)
                        if (isFloat(e))
                            x.add(values.f(a)), y.add(values.f(b));
                        else
                            x.add(values.i(a)), y.add(values.i(b));
                Column r(o.comparison ? Elem::Bool : e, x.size());
                std::vector<Column *> inputs{&x};
                if (o.binary) inputs.push_back(&y);
                launch(c, name, inputs, r);
                for (size_t i = 0; i < r.size(); ++i) {
                    if (isFloat(e)) {
                        double want = o.f(x.f(i), y.f(i));
                        if (!o.comparison)
                            want = e == Elem::F64 ? want
                                                  : roundTo(e, static_cast<double>(static_cast<float>(want)));
                        double got = o.comparison ? static_cast<double>(r.i(i)) : r.f(i);
                        if (!same(want, got)) FAIL_CHECK(x.f(i), " ", y.f(i), " gives ", got, " not ", want);
                    } else if (int64_t want = wrapTo(e, o.i(x.i(i), y.i(i))); r.i(i) != want) {
                        FAIL_CHECK(x.i(i), " ", y.i(i), " gives ", r.i(i), " not ", want);
                    }
                }
            }
    }
}

TEST_CASE("casts between all types round once and saturate") {
    std::vector<std::string> kerns;
    for (Elem from : kTypes)
        for (Elem to : kTypes) {
            std::string a(elemName(from)), b(elemName(to));
            kerns.push_back(
                elementwise("c_" + a + "_" + b, {a}, b, "    %r = cast %x : " + b + "[i] @3:3\n"));
        }
    for (auto &options : machineOptions()) {
        CAPTURE(describe(options));
        Compiled c(module(kerns), options);
        for (Elem from : kTypes)
            for (Elem to : kTypes) {
                std::string name = "c_" + std::string(elemName(from)) + "_" + std::string(elemName(to));
                CAPTURE(name);
                Column x = interesting(from);
                if (from == Elem::F32 || from == Elem::F64) // near ties of the narrow types
                    for (int k = 0; k < 3000; ++k)
                        x.add(std::ldexp(1.0 + k / 4096.0 + (k % 5 - 2) * 1e-9, k % 60 - 30));
                if (from == Elem::F16 || from == Elem::BF16) {
                    for (int k = 0; k < 65536; ++k) {
                        auto h = static_cast<uint16_t>(k);
                        x.bytes.insert(x.bytes.end(), reinterpret_cast<char *>(&h),
                                       reinterpret_cast<char *>(&h) + 2);
                    }
                }
                Column r(to, x.size());
                launch(c, name, {&x}, r);
                for (size_t i = 0; i < r.size(); ++i)
                    if (isFloat(to)) {
                        double want = isFloat(from) ? roundTo(to, x.f(i)) : floatFromInt(to, x.i(i));
                        if (!same(r.f(i), want))
                            FAIL_CHECK((isFloat(from) ? x.f(i) : static_cast<double>(x.i(i))), " gives ",
                                       r.f(i), " not ", want);
                    } else {
                        int64_t want = isFloat(from) ? intFromFloat(to, x.f(i)) : wrapTo(to, x.i(i));
                        if (r.i(i) != want)
                            FAIL_CHECK((isFloat(from) ? x.f(i) : static_cast<double>(x.i(i))), " gives ",
                                       r.i(i), " not ", want);
                    }
            }
    }
}

TEST_CASE("select, comparison with an index, broadcast along an axis") {
    std::string text = module({elementwise(
        "pick", {"i32", "i32"}, "i32",
        "    %ix = index %i : i64[i]\n    %two = const(value = 2) : i64\n    %m = rem %ix, %two : i64[i]\n"
        "    %even = eq %m, %zero : bool[i]\n    %r = select %even, %x, %y : i32[i]\n")});
    for (int optimise : {0, 1, 2, 3}) {
        codegen::HostOptions o;
        o.optimise = optimise;
        CAPTURE(describe(o));
        Compiled c(text, o);
        for (size_t n : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{200}}) {
            Column x(Elem::I32), y(Elem::I32), r(Elem::I32, n);
            for (size_t i = 0; i < n; ++i) x.add(static_cast<int64_t>(i)), y.add(-static_cast<int64_t>(i));
            launch(c, "pick", {&x, &y}, r);
            for (size_t i = 0; i < n; ++i)
                CHECK(r.i(i) == (i % 2 ? -static_cast<int64_t>(i) : static_cast<int64_t>(i)));
        }
    }
}
