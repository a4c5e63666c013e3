#include "reduce.h"
#include "edit.h"
#include <chrono>

namespace tdl::fuzz {
namespace {

class Reducer {
public:
    Reducer(const Program &p, const Outcome &o, const RunOptions &r, int seconds) : best{p, o}, options(r), end(Clock::now() + std::chrono::seconds(seconds)) {
        options.texts = o.kind == Kind::Text;
        options.seconds = o.kind == Kind::Hang ? 5 : options.seconds;
    }

    Reduced run() {
        for (bool again = true; again && !late();) {
            again = howItRuns();
            again |= text();
        }
        return best;
    }

private:
    using Clock = std::chrono::steady_clock;
    Reduced best;
    RunOptions options;
    Clock::time_point end;

    bool late() const { return Clock::now() >= end; }

    bool keeps(const Program &candidate) {
        if (late()) return false;
        ++best.tried;
        // Timing decides about races: they get three tries.
        for (int tries = best.outcome.kind == Kind::Different ? 2 : 1; tries > 0; --tries) {
            Outcome o = runProgram(candidate, options);
            if (!o.sameAs(best.outcome)) continue;
            ++best.kept;
            best.program = candidate;
            best.outcome = o;
            return true;
        }
        return false;
    }

    bool howItRuns() {
        bool any = false;
        auto attempt = [&](auto &&change) {
            Program p = best.program;
            change(p);
            return p.str() != best.program.str() && keeps(p) && (any = true);
        };
        for (int n : std::vector<int>(best.program.ranks))
            if (best.program.ranks.size() > 1 && attempt([&](Program &p) { p.ranks = {n}; })) break;
        for (const Shape &s : std::vector<Shape>(best.program.shapes))
            if (best.program.shapes.size() > 1 && attempt([&](Program &p) { p.shapes = {s}; })) break;
        if (best.program.ranks.size() == 1)
            for (int n = 1; n < best.program.ranks[0]; ++n)
                if (attempt([&](Program &p) { p.ranks = {n}; })) break;
        attempt([](Program &p) { p.chaos = 0; });
        attempt([](Program &p) { p.threads = 1; });
        attempt([](Program &p) { p.opt = 0; });
        attempt([](Program &p) { p.chunk = 64; });
        for (size_t n = 0; n < best.program.shapes.size(); ++n)
            for (auto &[size, value] : Shape(best.program.shapes[n]))
                for (int64_t smaller = 0; smaller < value; ++smaller)
                    if (attempt([&](Program &p) { p.shapes[n][size] = smaller; })) break;
        return any;
    }

    bool text() {
        bool any = false;
        for (int n = 0; !late();) {
            std::optional<std::string> smaller;
            {
                std::lock_guard lock(forking());
                smaller = edit(best.program.text, n);
            }
            if (!smaller) break;
            Program p = best.program;
            p.text = *smaller;
            if (!smaller->empty() && keeps(p))
                any = true;
            else
                ++n;
        }
        return any;
    }
};

} // namespace

Reduced reduce(const Program &p, const Outcome &o, const RunOptions &r, int seconds) { return Reducer(p, o, r, seconds).run(); }

} // namespace tdl::fuzz
