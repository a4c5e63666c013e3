// What the PTX of every kernel must and must not hold, and that ptxas takes it.
#include "codegen/nvptx/ptxas.h"
#include "launch.h"
#include <doctest/doctest.h>
#include <filesystem>
#include <regex>
#include <set>

using namespace tdl;
using namespace tdl::codegen;

namespace {

std::vector<std::string> files() {
    std::set<std::string> out;
    for (const char *folder : {"/samples", "/tests/exec/programs"})
        for (auto &e : std::filesystem::recursive_directory_iterator(TDL_SOURCE + std::string(folder)))
            if (e.path().extension() == ".tdl") out.insert(e.path());
    return {out.begin(), out.end()};
}
size_t countOf(const std::string &text, const char *pattern) {
    std::regex r(pattern);
    return static_cast<size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), r), std::sregex_iterator()));
}
size_t countOps(const ir::Block &b, ir::OpKind kind) {
    size_t n = 0;
    for (auto &op : b.ops) {
        n += op->kind == kind;
        for (auto &inside : op->blocks) n += countOps(*inside, kind);
    }
    return n;
}

} // namespace

TEST_CASE("PTX spells out order and scope, waits and signals as often as the plan, and is the same each time") {
    for (const std::string &file : files()) {
        INFO(file);
        auto c = compiled(file, {});
        Diagnostics diags(c->sources);
        nvptx::DeviceOptions options;
        for (nvptx::Arch arch : {nvptx::Arch{80, false}, nvptx::Arch{90, true}, nvptx::Arch{100, true}}) {
            auto ptx = nvptx::emitPtxText(*c->kernel, arch, options, diags);
            REQUIRE(ptx);
            CHECK(*ptx == nvptx::emitPtxText(*c->kernel, arch, options, diags));
            CHECK(countOf(*ptx, R"(\b(atom|red)\.(?!(relaxed|acquire|release|acq_rel)\.(cta|gpu|sys)))") == 0);
            CHECK(countOf(*ptx, R"(\bld\.global\S*\.nc\b)") == 0);
            CHECK(countOf(*ptx, R"(__local_depot)") == 0);
            CHECK(countOf(*ptx, R"(\bcall\b)") == 0);
            size_t kerns = c->kernel->top.ops.size(), arrivals = countOps(c->kernel->top, ir::OpKind::ArriveJoin);
            size_t releases = countOps(c->kernel->top, ir::OpKind::Release), waits = countOps(c->kernel->top, ir::OpKind::Acquire);
            size_t joins = countOps(c->kernel->top, ir::OpKind::AcquireJoin);
            CHECK(countOf(*ptx, R"(atom\.acq_rel\.gpu)") == arrivals + kerns);      // and the end of each entry
            CHECK(countOf(*ptx, R"(st\.release\.sys)") == releases + kerns + waits + joins); // and the words of aborts
            CHECK(countOf(*ptx, R"(fence\.acq_rel\.sys)") == waits);
            CHECK(countOf(*ptx, R"(fence\.acq_rel\.gpu)") == joins);
        }
    }
}

TEST_CASE("ptxas takes every program, the samples without spills") {
    std::string program = nvptx::findPtxas("");
    if (program.empty()) {
        MESSAGE("skipped: there is no ptxas");
        return;
    }
    for (const std::string &file : files()) {
        INFO(file);
        auto c = compiled(file, {});
        Diagnostics diags(c->sources);
        nvptx::DeviceOptions options;
        options.archs = {{80, false}, {90, true}, {100, true}};
        auto code = nvptx::compileDevice(*c->kernel, options, diags);
        INFO(renderText(diags, false));
        REQUIRE(code);
        CHECK(code->images.size() == 4);
        // Programs with tiles of whole extents by several products may spill on the generic path, and say so.
        bool sample = file.starts_with(TDL_SOURCE "/samples/");
        for (const Diagnostic &d : diags.list()) CHECK((!sample && d.kind == Diag::Spills));
        for (auto &image : code->images) CHECK((image.cubin || !image.arch.specific));
    }
}

TEST_CASE("messages of ptxas are taken apart") {
    auto says = nvptx::readPtxas("ptxas info    : Compiling entry function 'f$p' for 'sm_90a'\n"
                                 "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
                                 "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
                                 "ptxas info    : Used 30 registers, used 1 barriers, 512 bytes smem\n"
                                 "ptxas t.ptx, line 7; error   : Unknown symbol 'x'\n");
    REQUIRE(says.entries.size() == 1);
    CHECK((says.entries[0].name == "f$p" && says.entries[0].registers == 30 && says.entries[0].shared == 512 && says.entries[0].spills == 12));
    CHECK(says.serialised.size() == 1);
    REQUIRE(says.errors.size() == 1);
    CHECK(says.errors[0].line == 7);
}
