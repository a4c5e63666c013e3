// One planted error per rule of the contract: a line of a good module changed, and the message that must follow.
#include "files.h"
#include "kernel/verify.h"
#include <doctest/doctest.h>

using namespace tdl;
using namespace tdl::test;

namespace {

struct Planted {
    const char *find, *put, *message;
};

// In all_gather.kern.
const Planted kPlanted[] = {
    // 1. declarations, names
    {"  program @copy", "  %late = join(name = late, words = 1) : join\n  program @copy", "`join` does not belong behind the first program [TDL0851]"},
    {"    %9 = expr(value = p) : i64", "    %x = join(name = x, words = 1) : join\n    %9 = expr(value = p) : i64", "`join` does not belong in a program [TDL0851]"},
    {"    if %last ", "    yield\n    if %last ", "`yield` does not belong anywhere but at the end of a loop [TDL0851]"},
    {"    %9 = expr(value = p) : i64", "    require(cond = N > 0, text = \"N > 0\")\n    %9 = expr(value = p) : i64", "`require` does not belong in a program [TDL0851]"},
    {"  program @copy", "  %z = const(value = 0) : i64\n  program @copy", "`const` does not belong beside programs [TDL0851]"},
    {"name = end, words", "name = sent, words", "`sent` is declared twice [TDL0852]"},
    {"sizes = [N]", "sizes = [N, N]", "`N` is declared twice [TDL0852]"},
    {"name = A, mode = in", "name = A, mode = local", "tensor `A` is an argument: `in`, `out` or `inout` [TDL0853]"},
    {"dims = [N], uniform", "dims = [N @ ranks], uniform", "tensor `B` has at most one distributed dimension, none if it is uniform [TDL0853]"},
    {"scope = protocol", "scope = everywhere", "buffer `A_in` has scope `protocol` or `rank` [TDL0853]"},
    {"origin = [0]", "origin = [0, 0]", "buffer `A_in` has an origin for each dimension [TDL0853]"},
    {"kind = data", "kind = news", "flag `here` is a `data` or `done` flag [TDL0853]"},
    {"kind = done, words = ranks", "kind = done, words = N", "flag `done` has `ranks` words, one per rank [TDL0853]"},
    {"value = t * 4)", "value = u * 4)", "`u` in `u * 4` is not known there [TDL0854]"},
    {"value = t * 4)", "value = c * 4)", "`c` in `c * 4` is not known there [TDL0854]"},
    {"dims = [N], origin", "dims = [N + rank], origin", "`rank` in `N + rank` is not known there [TDL0854]"},
    {"cap = 4)", "cap = t)", "`t` in `t` is not known there [TDL0854]"},
    {"counts = [max(1, ceil(N, 4))]", "counts = [max(1, ceil(N, t))]", "`t` in `max(1, ceil(N, t))` is not known there [TDL0854]"},
    {"coords = [t]", "coords = [t, u]", "program `copy`: 2 coordinates but 1 counts [TDL0855]"},
    {"coords = [p, c]", "coords = [p, N]", "program `push`: coordinate `N` has a name that is taken [TDL0855]"},
    // 2. axes
    {"    %i = span %14, %15(axis = i, cap = 4) : range<i> @2:11\n", "", "axis `i` of f32[i] has no span in scope [TDL0856]"},
    {"    %16 = at", "    %ii = span %14, %15(axis = i) : range<i>\n    %16 = at", "axis `i` has a span in scope already [TDL0857]"},
    // 3. operands
    {"span %14, %15", "span %14, %here_seen", "`span`: operand 1 is a token, not an i64 [TDL0858]"},
    {"base %B, %13", "base %done, %13", "`base`: operand 0 is a flag, not a tensor or buffer [TDL0858]"},
    {"base %B, %13 : ptr<f32>", "base %B, %13 : ptr<i32>", "`base`: gives a ptr<f32> [TDL0858]"},
    {"%20 = expr(value = max(1, ceil(N, 4)))", "%20 = stride %A(dim = 1)", "`stride`: `A` has no dimension 1 [TDL0858]"},
    {"at %B_base, %14 : ptr<f32>", "at %14, %14 : i64", "`at`: operand 0 is a i64, not an address [TDL0858]"},
    {"read %16, %17, %here_seen", "read %16, %here_seen", "`read`: operand 1 is a token, but there stands a stride per axis, an i64 [TDL0858]"},
    {"read %16, %17, %here_seen", "read %16", "`read`: operand 1 is missing: a stride per axis, an i64 [TDL0858]"},
    {"read %16, %17, %here_seen", "read %16, %17, %here_seen, %17", "`read`: operand 3 is a i64, but there stands a token [TDL0858]"},
    {"read %16, %17, %here_seen", "read %16, %17, %14, %15, %here_seen(clip = [i])", "`read`: needs a value (`or`) for what it does not read [TDL0858]"},
    {"write %18, %19, %17", "write %18, %19, %17, %14(clip = [i])", "`write`: operand 4 is missing: low and high of a clipped axis, an i64 each [TDL0858]"},
    {"write %18, %19, %17", "write %18, %19, %17, %14, %15(clip = [k])", "`write`: clips axis `k`, which f32[i] has not [TDL0858]"},
    {"write %18, %19, %17", "write %18, %19, %17, %17(guard)", "`write`: operand 3 is a i64, but there stands the guard, a bool [TDL0858]"},
    {"acquire %here,", "acquire %end,", "`acquire`: operand 0 is a join, not a flag [TDL0858]"},
    {"arrive_join %end,", "arrive_join %done,", "`arrive_join`: operand 0 is a flag, not a join [TDL0858]"},
    {"release %done, %peer,", "release %end, %peer,", "`release`: operand 0 is a join, not a flag [TDL0858]"},
    {"base %A, %2", "base %A, %0", "`A` of another rank is out of reach [TDL0859]"},
    {"%A_in_base_1 = base %A_in, %13", "%A_in_base_1 = base %A_in, %11", "`A_in` of another rank is out of reach [TDL0859]"},
    {"      ^(%peer: i64)", "      ^(%peer: f32)", "`loop`: block argument 0 should be its index, an i64 [TDL0858]"},
    // 4. tokens
    {"read %16, %17, %here_seen", "read %16, %17", "`read` of `A_in` without a token of a wait for `push`, which writes it [TDL0860]"},
    {"acquire %here, %11", "acquire %done, %11", "`read` of `A_in` without a token of a wait for `push`, which writes it [TDL0860]"},
    {"      release %here, %0, %2(scope = system) @2:40\n", "", "`read` of `A_in` without a token of a wait for `push`, which writes it [TDL0860]"},
    {"write %7, %8, %1, %done_seen", "write %7, %8, %1", "`write` to another rank's `A_in` without the token of a `done` flag [TDL0861]"},
    // 5. signals
    {"    if %last_1", "    write %18, %19, %17\n    if %last_1", "`write` stands behind a signal [TDL0862]"},
    {"    if %last_1", "    release %done, %13, %13(scope = system)\n    if %last_1", "`release` stands where an `arrive_join` has completed its total [TDL0864]"},
    {"      release %done, %peer", "      %more = arrive_join %sent, %11, %17(scope = device) : bool\n      release %done, %peer", "`arrive_join` happens once per ticket [TDL0864]"},
    // 6. scopes
    {"release %here, %0, %2(scope = system)", "release %here, %0, %2(scope = device)", "`release` has scope `system`, not `device` [TDL0863]"},
    {"%20(scope = device)", "%20(scope = system)", "`arrive_join` has scope `device`, not `system` [TDL0863]"},
};

} // namespace

TEST_CASE("the verifier finds each planted error") {
    const std::string good = readFile(std::filesystem::path(TDL_TESTS_DIR) / "lower/all_gather.kern");
    for (const Planted &p : kPlanted) {
        CAPTURE(std::string(p.message));
        size_t at = good.find(p.find);
        REQUIRE(at != std::string::npos);
        std::string text = good;
        text.replace(at, std::string(p.find).size(), p.put);
        Parsed kern("bad.kern", text);
        if (!kern.module) {
            FAIL_CHECK(kern.messages());
            continue;
        }
        CHECK(!kernel::verify(*kern.module, kern.diags));
        std::string out = kern.messages();
        CHECK_MESSAGE(out.find(std::string("error: ") + p.message) != std::string::npos, out);
        CHECK(out.find("bad.kern:") == 0);
    }
}
