// checks/*.tile: one broken program each, run in checked mode by the lines at its top; what is reported
// stands beside the lines it is about, and nothing else is:
//
//     //run ranks=2 N=8                     (several lines: several launches)
//     store %0, %Y[%zero]        //! error: `Y[0]` is written by ...
//
// A program with "//run" and no expectation is right.
#include "interp/agree.h"
#include "launch.h"
#include <cstdlib>

using namespace tdl;
using namespace tdl::interp;
using test::Run;

namespace {

struct Command {
    int64_t ranks = 1;
    test::Sizes sizes;
};

std::vector<Command> commands(const std::string &text) {
    std::vector<Command> out;
    std::istringstream lines(text);
    std::string line, word;
    while (std::getline(lines, line)) {
        if (line.rfind("//run ", 0) != 0) continue;
        std::istringstream words(line.substr(6));
        out.emplace_back();
        while (words >> word) {
            size_t at = word.find('=');
            int64_t value = std::stoll(word.substr(at + 1));
            if (word.substr(0, at) == "ranks")
                out.back().ranks = value;
            else
                out.back().sizes[word.substr(0, at)] = value;
        }
    }
    return out;
}

/// Runs the launches of a text, with generated data; `varied`: checked, and with several cuts and orders.
void execute(test::Parsed &program, const std::vector<Command> &list, bool varied) {
    REQUIRE_MESSAGE(program.module, renderText(program.diags, false));
    REQUIRE_MESSAGE(tile::verify(*program.module, program.diags), renderText(program.diags, false));
    for (const Command &c : list) {
        Run run(program, "k", c.ranks, c.sizes);
        run.launch.scalars["s"] = 1.0;
        if (!prepare(*run.kernel, run.launch, program.diags)) continue;
        run.fill({DataMode::Real, 1, 1});
        if (varied)
            runVaried(*run.kernel, run.launch, DataMode::Real, 1, 4, program.diags);
        else
            interp::run(*run.kernel, run.launch, run.options, program.diags);
    }
}

} // namespace

TEST_CASE("each check is triggered by a planted mistake") {
    auto files = test::tileFiles(std::filesystem::path(TDL_TESTS_DIR) / "checks");
    std::map<int, int> seen;
    for (const auto &file : files) {
        INFO(file.filename().string());
        std::string text = test::readFile(file);
        auto list = commands(text);
        REQUIRE(!list.empty());
        test::Parsed program(text);
        execute(program, list, true);
        test::Lines actual = test::reported(program.diags);
        for (const Diagnostic &d : program.diags.list()) ++seen[diagInfo(d.kind).number];
        if (std::getenv("TDL_UPDATE")) {
            test::update(file, text, actual);
            continue;
        }
        test::Lines wanted = test::expected(text);
        for (auto &[line, what] : actual) CHECK_MESSAGE(wanted[line] == what, "line ", line);
        for (auto &[line, what] : wanted) CHECK_MESSAGE(actual[line] == what, "line ", line);
        // Without checks every program runs to its end all the same.
        test::Parsed again(text);
        execute(again, list, false);
    }
    for (int kind = 1000; kind < 1100; ++kind)
        if (findDiag(kind)) CHECK_MESSAGE(seen[kind] > 0, "no input for TDL", kind);
}
