// fuzz_programs: random programs through the compiler, run on threads as ranks and compared with the reference interpreter.
//
//     fuzz_programs SEED COUNT [options]     programs SEED .. SEED + COUNT - 1
//     fuzz_programs FILE... [options]        saved programs
//       --dump           print each program; do not run it
//       --keep           go on after a failure (else the first ends it)
//       --no-reduce      print a failing program as it is
//       --no-texts       leave out print-parse-print and re-entry
//       --plant=BUG      with a bug in the compiler (plant.h); ends with status 0 when a program has found it
//       --here           in this process, for a debugger
//       --jobs=N         so many at a time
//       --seconds=N      stop after that time
//
// Exit status: 0, 1 after a failure, 2.
#include "reduce.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

using namespace tdl::fuzz;

namespace {

struct Arguments {
    std::vector<std::string> names;
    bool dump = false, keep = false, reduce = true, here = false;
    int jobs = 1, seconds = 1 << 30;
    RunOptions run;
};

bool read(int argc, char **argv, Arguments &a) {
    for (int i = 1; i < argc; ++i) {
        std::string s = argv[i];
        if (s == "--dump") a.dump = true;
        else if (s == "--keep") a.keep = true;
        else if (s == "--no-reduce") a.reduce = false;
        else if (s == "--no-texts") a.run.texts = false;
        else if (s == "--here") a.here = true;
        else if (s.rfind("--jobs=", 0) == 0) a.jobs = std::atoi(s.c_str() + 7);
        else if (s.rfind("--seconds=", 0) == 0) a.seconds = std::atoi(s.c_str() + 10);
        else if (s.rfind("--plant=", 0) == 0) {
            auto p = findPlant(s.substr(8));
            if (!p) return false;
            a.run.plant = *p;
        } else if (s[0] == '-') return false;
        else a.names.push_back(s);
    }
    return !a.names.empty();
}

struct Named {
    std::string command; // that repeats it
    Program program;
};

class Campaign {
public:
    Campaign(const Arguments &a, std::vector<Named> p) : arguments(a), programs(std::move(p)) {}

    int run() {
        std::vector<std::thread> workers;
        for (int n = 1; n < arguments.jobs; ++n) workers.emplace_back([this] { work(); });
        work();
        for (std::thread &t : workers) t.join();
        double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        std::printf("%zu programs in %.1f s: %d fine, %d not built yet, %d failed\n", next, seconds, count[Kind::Fine], count[Kind::NotBuilt], failures);
        for (auto &[key, n] : keys) std::printf("  %4d  %s\n", n, key.c_str());
        if (arguments.run.plant == Plant::None) return failures > 0;
        std::printf("planted bug `%s`: %s\n", plantName(arguments.run.plant), failures > 0 ? "found" : "not found");
        return failures == 0;
    }

private:
    const Arguments &arguments;
    std::vector<Named> programs;
    std::mutex mutex;
    size_t next = 0;
    bool stop = false;
    std::map<Kind, int> count;
    std::map<std::string, int> keys;
    int failures = 0;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

    const Named *take() {
        std::lock_guard lock(mutex);
        if (stop || next >= programs.size() || std::chrono::steady_clock::now() - start > std::chrono::seconds(arguments.seconds)) return nullptr;
        return &programs[next++];
    }

    void work() {
        while (const Named *p = take()) {
            Outcome o = arguments.here ? runHere(p->program, arguments.run) : runProgram(p->program, arguments.run);
            {
                std::lock_guard lock(mutex);
                ++count[o.kind];
                if (o.kind != Kind::Fine) ++keys[std::string(kindName(o.kind)) + " " + o.key];
                if (!o.failed()) continue;
                ++failures;
                if (stop) continue;
                stop = !arguments.keep;
            }
            report(*p, o);
        }
    }

    void report(const Named &p, const Outcome &o) {
        std::string text = "FAILED (" + std::string(kindName(o.kind)) + " " + o.key + "): " + p.command + "\n" + o.report + "\n";
        if (arguments.run.plant != Plant::None) text = "found by program " + std::to_string(next) + ": " + p.command + "\n" + o.report + "\n";
        if (arguments.reduce && !arguments.here) {
            Reduced r = reduce(p.program, o, arguments.run, 90);
            text += "reduced (" + std::to_string(r.tried) + " tries), the same failure; save it to a file and give that to fuzz_programs:\n" + r.program.str() + r.outcome.report + "\n";
        } else {
            text += p.program.str() + "\n";
        }
        std::lock_guard lock(mutex);
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }
};

bool isNumber(const std::string &s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

} // namespace

int main(int argc, char **argv) {
    Arguments a;
    if (!read(argc, argv, a)) {
        std::fprintf(stderr, "usage: fuzz_programs SEED COUNT | FILE... [--dump] [--keep] [--no-reduce] [--no-texts] [--plant=BUG] [--here] [--jobs=N] [--seconds=N]\n");
        return 2;
    }
    std::vector<Named> programs;
    std::string plant = a.run.plant == Plant::None ? "" : std::string(" --plant=") + plantName(a.run.plant);
    if (a.names.size() == 2 && isNumber(a.names[0]) && isNumber(a.names[1])) {
        uint64_t first = std::strtoull(a.names[0].c_str(), nullptr, 10), many = std::strtoull(a.names[1].c_str(), nullptr, 10);
        for (uint64_t s = first; s < first + many; ++s) programs.push_back({"fuzz_programs " + std::to_string(s) + " 1" + plant, generate(s)});
    } else {
        for (const std::string &file : a.names) {
            std::ifstream in(file);
            std::stringstream text;
            text << in.rdbuf();
            programs.push_back({"fuzz_programs " + file + plant, readProgram(text.str())});
            if (!in || programs.back().program.text.empty()) {
                std::fprintf(stderr, "fuzz_programs: %s is not a saved program\n", file.c_str());
                return 2;
            }
        }
    }
    if (a.dump) {
        for (const Named &p : programs) std::printf("// %s\n%s\n", p.command.c_str(), p.program.str().c_str());
        return 0;
    }
    return Campaign(a, std::move(programs)).run();
}
