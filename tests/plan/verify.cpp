// Each rule of the contract by a plan that breaks it.
#include "common.h"
#include <doctest/doctest.h>

using namespace tdl;
using namespace tdl::test;

namespace {

void refused(const std::string &plan, Diag kind) {
    Verdict v = verify(plan);
    CHECK(!v.ok);
    CHECK_MESSAGE(v.has(kind), "instead of " << diagInfo(kind).name << ":\n" << v.text);
}

const std::string &ag() {
    static const std::string text = planOf("ag_gemm");
    return text;
}
const std::string &rs() {
    static const std::string text = planOf("gemm_rs");
    return text;
}
const std::string kPushTo = "(rank + 1 + p) % ranks";

} // namespace

TEST_CASE("places") {
    const std::string wait = "    wait %A_here(from = 0, count = ranks) @8:38+7\n";
    refused(with(with(ag(), wait, ""), "    store %7, %C", wait + "    store %7, %C"), Diag::PlanPlace);
    refused(with(ag(), "      notify %done", "      %x = const(value = 1) : i64\n      notify %done"),
            Diag::PlanPlace);
    refused(with(ag(), "  task @gemm", "  %x = const(value = 1) : i64\n  task @gemm"), Diag::PlanPlace);
    refused("tdl.plan 1\n\n%x = const(value = 1) : i64\n", Diag::PlanPlace);
}

TEST_CASE("names") {
    refused(with(ag(), "dims = [M, K], origin", "dims = [M, L], origin"), Diag::PlanName);
    refused(with(ag(), "dims = [M, K], origin", "dims = [M, rank], origin"), Diag::PlanName);
    refused(with(ag(), "lo = ti * TM", "lo = c * TM"), Diag::PlanName);
    refused(with(ag(), "for %2(loop = k in K", "for %2(loop = k in L"), Diag::PlanName);
    refused(with(ag(), "coords = [ti, tj]", "coords = [ti, rank]"), Diag::PlanDeclaration);
    refused(with(ag(), "coords = [ti, tj]", "coords = [ti]"), Diag::PlanDeclaration);
    refused(with(ag(), "name = A_sent", "name = A_here"), Diag::PlanDeclaration);
    refused(with(ag(), "scope = protocol", "scope = shared"), Diag::PlanDeclaration);
    refused(with(ag(), "origin = [0, 0]", "origin = [0]"), Diag::PlanDeclaration);
    refused(with(ag(), "TK = 64", "TK = 0"), Diag::PlanDeclaration);
}

TEST_CASE("the done flag") {
    refused(with(ag(), "name = done, kind = done", "name = done, kind = data"), Diag::PlanDone);
    refused(with(ag(), "kind = done, words = ranks", "kind = done, words = 1"), Diag::PlanDone);
    refused(with(ag(), "notify %done(to = 0, count = ranks", "notify %done(to = 0, count = 1"),
            Diag::PlanDone);
}

TEST_CASE("stores") {
    refused(with(ag(), "store %7, %C[%i_1, %j]", "store %7, %C[%i_1, %j](at = rank)"), Diag::PlanStore);
    refused(with(ag(), "%A_in[%i, %k](at = " + kPushTo + ")", "%A_in[%i, %k](own)"), Diag::PlanStore);
    refused(with(ag(), "store %7, %C[%i_1, %j]", "store %7, %A[%i_1, %j]"), Diag::PlanStore);
    refused(with(rs(), "scope = protocol", "scope = rank"), Diag::PlanStore);
}

TEST_CASE("levels") {
    refused(with(ag(), "level = 2", "level = 0"), Diag::PlanLevel);
    refused(with(ag(), "level = 2", "level = 1"), Diag::PlanLevel);
}

TEST_CASE("flags and joins") {
    refused(with(ag(), "    wait %A_here(from = 0, count = ranks) @8:38+7\n", ""), Diag::PlanFlag);
    refused(with(ag(), "    wait_join %push_A_end(index = 0, total = ranks) @6:11+4\n", ""), Diag::PlanJoin);
    refused(with(ag(), "wait_join %push_A_end(index = 0, total = ranks)",
                 "wait_join %push_A_end(index = 0, total = 1)"),
            Diag::PlanJoin);
    refused(with(ag(), "wait_join %push_A_end", "wait_join %A_here"), Diag::IrTypeRule);
}

TEST_CASE("waits without end") {
    // Each rank tells the one behind the one that it has served; two ranks or more find words missing.
    refused(with(ag(), "notify %A_here(to = " + kPushTo, "notify %A_here(to = rank"), Diag::PlanCount);
    std::string both = with(ag(), "arrive %push_A_end(index = 0, total = ranks)",
                            "arrive %push_A_end(index = 0, total = ranks + 1)");
    refused(with(both, "wait_join %push_A_end(index = 0, total = ranks)",
                 "wait_join %push_A_end(index = 0, total = ranks + 1)"),
            Diag::PlanDeadlock);
}

TEST_CASE("order of accesses") {
    // Each part is announced to the rank behind the one that got it.
    refused(with(rs(), "notify %gemm_here(to = " + kPushTo, "notify %gemm_here(to = (rank + 2 + p) % ranks"),
            Diag::PlanRace);
    refused(
        with(ag(), "lo = ti * TM, hi = min(M, ti * TM + TM)", "lo = ti * TM, hi = min(M, ti * TM + TM + 1)"),
        Diag::PlanRace);
}

TEST_CASE("what is read has been written, what is reached is there") {
    refused(with(rs(), "hi = min(N, c_1 * chunk_last + chunk_last)",
                 "hi = min(N, c_1 * chunk_last + chunk_last - 1)"),
            Diag::PlanUndefined);
    refused(with(ag(), "dims = [M, K], origin = [0, 0]", "dims = [M - 1, K], origin = [0, 0]"),
            Diag::PlanOutside);
    refused(
        with(ag(), "lo = ti * TM, hi = min(M, ti * TM + TM)", "lo = ti * TM, hi = min(M - 1, ti * TM + TM)"),
        Diag::PlanUnwritten);
}

TEST_CASE("counts") {
    refused(with(rs(), "counts = [max(1, ceil(M, TM)), max(1, ceil(N, TN))]",
                 "counts = [ceil(M, TM), max(1, ceil(N, TN))]"),
            Diag::PlanCount);
    refused(with(ag(), "arrive %gemm_end(index = 0, total = ", "arrive %gemm_end(index = 0, total = 1 + "),
            Diag::PlanCount);
}

TEST_CASE("isolation of launches") {
    refused(with(ag(), "    wait %done(from = " + kPushTo + ", count = 1) @8:38+7\n", ""),
            Diag::PlanIsolation);
    // Done is said when all has been pushed, not when it has been read.
    std::string early =
        with(ag(), " {\n      notify %done(to = 0, count = ranks, index = rank) @6:11+4\n    }", "");
    early = with(early, "arrive %push_A_end(index = 0, total = ranks) @8:38+7",
                 "arrive %push_A_end(index = 0, total = ranks) @8:38+7 {\n notify %done(to = 0, count = "
                 "ranks, index = rank) @6:11+4\n}");
    Verdict v = verify(early);
    CHECK(!v.ok);
}

TEST_CASE("data that nobody reads is remarked, constants do not stop the check") {
    Verdict v = verify(with(rs(), "loop = source in ranks", "loop = source in ranks[1 : ranks]"));
    CHECK(v.ok);
    CHECK(v.has(Diag::PlanUnread));
    // 4096 columns are taken for a few; a condition that nothing meets leaves the rules.
    auto columns = [](std::string text) {
        for (size_t at; (at = text.find("N]")) != std::string::npos;) text.replace(at, 2, "4096]");
        for (size_t at; (at = text.find("(N, ")) != std::string::npos;) text.replace(at, 4, "(4096, ");
        return text;
    };
    std::string big = columns(with(planOf("all_gather"), "sizes = [M, N]", "sizes = [M]"));
    Verdict w = verify(big);
    CHECK_MESSAGE(w.ok, w.text);
    CHECK(w.kinds.empty());
    Verdict u =
        verify(with(ag(), "  %done = flag", "  require(cond = M < 0, text = \"M < 0\")\n  %done = flag"));
    CHECK(u.ok);
    CHECK(u.has(Diag::PlanUnchecked));
}
