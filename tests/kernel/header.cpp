// The C header of kernels: golden text, which also compiles as C11 (header_c.c) and here as C++17; what it declares lies
// where the object's descriptor says; names that C cannot take are refused.
#include "object/header.h"
#include "files.h"
#include "header/arguments.h"
#include "ir/verify.h"
#include "object/arguments.h"
#include <cstddef>
#include <cstdlib>
#include <doctest/doctest.h>
#include <map>

using namespace tdl;
using namespace tdl::test;
namespace fs = std::filesystem;

static const fs::path kFolder = fs::path(TDL_TESTS_DIR) / "header";
extern "C" size_t sizesInC(int); // header_c.c

TEST_CASE("headers have the expected text") {
    for (const fs::path &path : filesOf("header", ".kern")) {
        Parsed kern(path);
        REQUIRE_MESSAGE(kern.module, kern.messages());
        auto text = object::header(*kern.module, kern.diags);
        REQUIRE_MESSAGE(text, kern.messages());
        fs::path expected = fs::path(path).replace_extension(".h");
        if (std::getenv("TDL_UPDATE")) std::ofstream(expected, std::ios::binary) << *text;
        CHECK(*text == readFile(expected));
    }
}

TEST_CASE("members lie where the descriptor says") {
    Parsed kern(kFolder / "arguments.kern");
    REQUIRE(kern.module);
    ArgumentLayout layout = layoutArguments(*kern.module->top.ops[0]);
    std::map<std::string, size_t> at;
    for (const Argument &a : layout.args) {
        at[a.name] = static_cast<size_t>(a.offset);
        if (a.strideOffset) at[a.name + "_stride"] = static_cast<size_t>(a.strideOffset);
    }
#define SAME(member) CHECK_MESSAGE(at.at(#member) == offsetof(arguments_args, member), #member)
    SAME(M);
    SAME(N);
    SAME(K);
    SAME(A);
    SAME(A_stride);
    SAME(eps);
    SAME(B);
    SAME(flag);
    SAME(C);
    SAME(C_stride);
    SAME(i);
    SAME(n);
    SAME(D);
    SAME(E);
    SAME(h);
    CHECK(at.size() == 15);
    CHECK(static_cast<size_t>(layout.bytes) == sizeof(arguments_args));
    CHECK(sizesInC(0) == sizeof(arguments_args));
    CHECK(sizesInC(1) == sizeof(nothing_args));
}

static std::string refusal(const std::string &kernel, const std::string &declarations,
                           const std::string &sizes = "") {
    Parsed kern("a.kern", "tdl.kern 1\nsource \"a.tdl\"\nkern @" + kernel + "(plan = p, sizes = [" + sizes +
                              "], tiles = []) @1:8 {\n" + declarations + "}\n");
    REQUIRE_MESSAGE(kern.module, kern.messages());
    CHECK(!object::header(*kern.module, kern.diags));
    return kern.messages();
}

TEST_CASE("names that C and C++ cannot take are refused") {
    auto param = [](const std::string &name) { return "%0 = param(name = " + name + ") : f32 @2:5\n"; };
    CHECK(refusal("register", "") == "a.tdl:1:8: error: `register` cannot be the name of a kernel: to C and "
                                     "C++ it is a keyword [TDL0980]\n");
    CHECK(refusal("malloc", "") == "a.tdl:1:8: error: `malloc` cannot be the name of a kernel: to C and C++ "
                                   "it is a function of the C library [TDL0980]\n");
    CHECK(refusal("tdl_init", "") == "a.tdl:1:8: error: `tdl_init` cannot be the name of a kernel: to C and "
                                     "C++ it is a name of tdl.h [TDL0980]\n");
    CHECK(refusal("f", param("new")) == "a.tdl:2:5: error: `new` cannot be the name of an argument: to C and "
                                        "C++ it is a keyword [TDL0980]\n");
    CHECK(refusal("f", "", "INT64_MAX") == "a.tdl:1:8: error: `INT64_MAX` cannot be the name of a size: "
                                           "to C and C++ it is a name of the standard headers [TDL0980]\n");
    CHECK(refusal("f", "%A = tensor(name = A, mode = in, dims = [2, 3]) : tensor<f32> @2:1\n" +
                           param("A_stride")) ==
          "a.tdl:2:5: error: `A_stride` is declared twice in the header: argument `A_stride`, and the "
          "strides of `A` [TDL0981]\n");
    CHECK(refusal("f", "}\nkern @f_prepare(plan = p, sizes = [], tiles = []) @9:8 {\n")
              .find("a.tdl:9:8: error: `f_prepare` is declared twice in the header: "
                    "for kernel `f_prepare`, and for kernel `f` [TDL0981]\n") == 0);
}
