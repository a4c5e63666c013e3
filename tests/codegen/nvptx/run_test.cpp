// Every kernel of tests/exec/cases.txt through the simulator: results, guard zones, and what a launch leaves for the next.
#include "launch.h"
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>

namespace {

struct Case {
    std::string file, kernel, types, list;
};
std::vector<Case> cases(std::map<std::string, std::string> &lists) {
    std::ifstream in(TDL_SOURCE "/tests/exec/cases.txt");
    std::vector<Case> out;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string kind, name, types, list;
        words >> kind >> name >> types >> list;
        if (kind == "list") lists[name] = types;
        size_t colon = name.rfind(':');
        if (kind == "kernel") out.push_back({name.substr(0, colon), name.substr(colon + 1), types, list});
    }
    return out;
}
std::vector<std::map<std::string, int64_t>> shapes(const std::string &list) {
    std::vector<std::map<std::string, int64_t>> out;
    std::istringstream items(list);
    for (std::string item; std::getline(items, item, ',');) {
        out.emplace_back();
        std::istringstream sizes(item);
        for (std::string size; std::getline(sizes, size, ':');) out.back()[size.substr(0, size.find('='))] = std::atoll(size.c_str() + size.find('=') + 1);
    }
    return out;
}

} // namespace

// NVPTX_CASES=words restricts it to some kernels. Sizes are cut down: a fiber is slower than a thread of a GPU.
static void runAll(const std::string &folder, const std::string &onlyType) {
    std::map<std::string, std::string> lists;
    const char *only = std::getenv("NVPTX_CASES");
    bool everything = std::getenv("NVPTX_ALL") != nullptr;
    for (const Case &c : cases(lists)) {
        std::istringstream types(c.types);
        for (std::string type; std::getline(types, type, ',');) {
            if (only && std::string(only).find(c.kernel) == std::string::npos) continue;
            if (type != onlyType || !c.file.starts_with(folder)) continue;
            auto compilation = compiled(TDL_SOURCE "/" + c.file, {"T=" + type});
            simulate::Program program(*compilation->kernel);
            CHECK_MESSAGE(program.error().empty(), c.kernel, ": ", program.error());
            if (!program.error().empty()) continue;
            size_t number = 0;
            for (auto &sizes : shapes(lists[c.list])) {
                ++number;
                int64_t work = 1;
                for (auto &[name, n] : sizes) work *= std::max<int64_t>(n, 1);
                if (!everything && work > 30000) continue;
                for (int ranks : {1, 2 + static_cast<int>(number / 2 % 2)}) {
                    Trial t;
                    t.sizes = sizes;
                    t.ranks = ranks;
                    t.blocks = 1 + static_cast<int>(number % 3);
                    t.mode = number % 2 ? tdl::interp::DataMode::Exact : tdl::interp::DataMode::Real;
                    t.seed = number;
                    t.launches = number % 4 == 0 ? 2 : 1;
                    std::string shape;
                    for (auto &[name, n] : sizes) shape += name + "=" + std::to_string(n) + " ";
                    std::string wrong = attempt(*compilation, c.kernel, program, t);
                    CHECK_MESSAGE(wrong.empty(), c.kernel, " T=", type, " ", shape, "ranks ", ranks, " blocks ", t.blocks, ": ", wrong);
                }
            }
        }
    }
}

TEST_CASE("samples in the simulator, f32") { runAll("samples/", "f32"); }
TEST_CASE("samples in the simulator, bf16") { runAll("samples/", "bf16"); }
TEST_CASE("programs in the simulator, f32") { runAll("tests/", "f32"); }
TEST_CASE("programs in the simulator, bf16") { runAll("tests/", "bf16"); }

// The simulator notices what is missing: without some of the barriers, an order of the threads gives wrong results. (Others
// are there because what threads share is told apart by tile, not by element.)
TEST_CASE("missing barriers are noticed") {
    struct Row {
        const char *file, *kernel;
        std::map<std::string, int64_t> sizes;
    };
    for (const Row &row : {Row{"/samples/softmax/softmax.tdl", "softmax", {{"M", 20}, {"N", 300}}},
                           Row{"/samples/gemm_ar/gemm_ar.tdl", "gemm_ar", {{"M", 40}, {"N", 20}, {"K", 40}}}}) {
        auto compilation = compiled(TDL_SOURCE + std::string(row.file), {"T=f32"});
        int barriers = simulate::Program(*compilation->kernel).barriers, found = 0;
        for (int i = 0; i < barriers; ++i) {
            simulate::Program program(*compilation->kernel, 2, i);
            bool noticed = false;
            for (uint64_t seed = 0; seed < 6 && !noticed; ++seed) {
                Trial t{row.sizes, 2, 2, tdl::interp::DataMode::Real, seed, 2};
                noticed = !attempt(*compilation, row.kernel, program, t).empty();
            }
            found += noticed;
        }
        CHECK_MESSAGE(found * 3 >= barriers, row.kernel, ": ", found, " of ", barriers);
    }
}
