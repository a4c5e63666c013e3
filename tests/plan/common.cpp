#include "common.h"
#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>

namespace tdl::test {

const std::vector<std::string> kSamples{"vector_add", "gemm",    "softmax", "all_gather", "reduce_scatter",
                                        "all_reduce", "ag_gemm", "gemm_rs", "gemm_ar"};
const std::vector<std::string> kMore{"products", "moves", "sums"};

std::vector<std::string> allFiles() {
    auto files = kSamples;
    files.insert(files.end(), kMore.begin(), kMore.end());
    return files;
}

std::string read(const std::string &path) {
    std::ifstream in(std::string(TDL_TESTS_DIR) + "/" + path);
    REQUIRE_MESSAGE(in, path);
    std::stringstream s;
    s << in.rdbuf();
    return s.str();
}

std::unique_ptr<ir::Module> parse(const std::string &text) {
    Sources sources;
    Diagnostics diags(sources);
    auto m = ir::parse(sources, sources.add("text", text), diags);
    REQUIRE_MESSAGE(m, renderText(diags, false));
    REQUIRE_MESSAGE(!diags.hasErrors(), renderText(diags, false));
    return m;
}

std::string planOf(const std::string &name) {
    auto tile = parse(read("tile/" + name + ".tile"));
    Sources sources;
    Diagnostics diags(sources);
    auto plan = plan::derive(*tile, {}, diags);
    REQUIRE_MESSAGE(plan, renderText(diags, false));
    return ir::print(*plan);
}

bool Verdict::has(Diag d) const {
    return std::find(kinds.begin(), kinds.end(), d) != kinds.end();
}

Verdict verify(const ir::Module &m) {
    Sources sources;
    Diagnostics diags(sources);
    Verdict v{plan::verify(m, diags, {.remarkUnread = true}), {}, {}};
    v.text = renderText(diags, false);
    CHECK(v.ok == !diags.hasErrors());
    for (const Diagnostic &d : diags.list()) v.kinds.push_back(d.kind);
    return v;
}
Verdict verify(const std::string &planText) {
    return verify(*parse(planText));
}

std::string with(std::string text, const std::string &from, const std::string &to) {
    size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    REQUIRE_MESSAGE(text.find(from, at + 1) == std::string::npos, "twice: " << from);
    return text.replace(at, from.size(), to);
}

} // namespace tdl::test
