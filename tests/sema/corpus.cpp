// Real programs: the samples, the programs of the execution tests, and the design corpus. All of them are
// checked without a word, but for those that use what is not built yet, which say so and nothing else. What
// is checked prints and parses.
#include "check_file.h"
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace tdl;
namespace fs = std::filesystem;

namespace {

// Programs of the design corpus that wait for a part of the language.
const std::set<std::string> kWaiting{
    "attention.tdl",          "decode.tdl",         "emb_a2a.tdl", "gemm_bias_gelu.tdl", "language_more.tdl",
    "language_schedules.tdl", "ring_attention.tdl", "swiglu.tdl",  "token_ring.tdl",     "ulysses.tdl"};

// Those that need what the language only reserves, and the feature that the first message has to name.
const std::map<std::string, std::string> kReserved{{"ep_moe.tdl", "a ragged dimension"},
                                                   {"gemm_u4.tdl", "`u4`"},
                                                   {"heat.tdl", "`repeat`"},
                                                   {"moe_ag.tdl", "a ragged dimension"},
                                                   {"summa.tdl", "`on mesh(...)`"}};

std::vector<fs::path> corpus() {
    const fs::path source = TDL_SOURCE_DIR;
    std::vector<fs::path> out;
    auto take = [&](const fs::path &folder) {
        for (const auto &entry : fs::recursive_directory_iterator(folder))
            if (entry.path().extension() == ".tdl") out.push_back(entry.path());
    };
    take(source / "samples");
    take(source / "tests/exec/programs");
    take(source / "tests/syntax/programs");
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace

TEST_CASE("the corpus is checked, or refused by name") {
    int passed = 0;
    for (const auto &file : corpus()) {
        INFO(file.string());
        std::string name = file.filename().string();
        test::Checked checked(name, test::readFile(file));
        if (kWaiting.contains(name) || kReserved.contains(name)) {
            CHECK(checked.module == nullptr);
            for (const Diagnostic &d : checked.diags.list()) {
                INFO(d.text);
                CHECK((d.kind == Diag::NotBuilt || d.kind == Diag::NoKernel));
            }
            continue;
        }
        ++passed;
        CHECK(renderText(checked.diags, false) == "");
        REQUIRE(checked.module != nullptr);
        std::string text = ir::print(*checked.module);
        Sources sources;
        Diagnostics diags(sources);
        auto again = ir::parse(sources, sources.add("x.tile", text), diags);
        REQUIRE(again != nullptr);
        CHECK(ir::print(*again) == text);
    }
    CHECK(passed >= 36);
}

TEST_CASE("programs of reserved features are refused by the name of the feature") {
    size_t met = 0;
    for (const auto &file : corpus()) {
        auto feature = kReserved.find(file.filename().string());
        if (feature == kReserved.end()) continue;
        ++met;
        INFO(file.string());
        test::Checked checked(file.filename().string(), test::readFile(file));
        REQUIRE(!checked.diags.list().empty());
        CHECK(checked.diags.list().front().text == feature->second + " is not supported yet");
    }
    CHECK(met == kReserved.size());
}
