// The choice of instances: ranks 1 to 4, sizes and tile constants that divide nothing, and nothing at all.
//
// Constants of the program may make every instance large (`f32[M, 4096]`). Then they are taken for sizes and made small as
// well. A plan that is right for these is right for the constants; one that is not may rely on how they are related, so
// nothing is concluded from that.
#include "ir/verify.h"
#include "plan/verify/instance.h"
#include <unordered_set>

namespace tdl::plan {

namespace {

constexpr int kPerRanks = 6, kTries = 60;

/// A fixed sequence of numbers, the same everywhere.
class Sequence {
public:
    explicit Sequence(uint64_t seed) : state(seed) {}
    int64_t upTo(int64_t n) { // 0 .. n
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(n + 1));
    }

private:
    uint64_t state;
};

class Chooser {
public:
    explicit Chooser(PlanCode &c) : code(c) {}

    /// The k-th instance for so many ranks, if one was found that meets the plan's conditions.
    std::optional<Instance> choose(int64_t ranks, int k, bool smallLiterals) {
        Sequence draw(static_cast<uint64_t>(ranks * 100 + k) * 2654435761u + 12345);
        for (int attempt = 0; attempt < kTries; ++attempt) {
            Instance i;
            i.ranks = ranks;
            set(i, code.ranks, ranks);
            // All sizes 0, then all 1, then mixed; with many sizes smaller ones.
            const auto &sizes = code.plan.names("sizes");
            int64_t most = sizes.size() > 4 ? 4 : 7;
            for (const std::string &s : sizes) named(i, s, k < 2 && attempt == 0 ? k : draw.upTo(most));
            for (const ir::Bind &b : code.plan.binds("tiles")) named(i, b.name, 1 + draw.upTo(2));
            int64_t small = 1;
            for (auto &[literal, number] : code.symbols.literals) {
                small += 1 + draw.upTo(1); // their order is kept
                set(i, number, smallLiterals ? small : literal);
            }
            i.text += fmt::format("ranks = {}", ranks);
            i.symbols.resize(code.symbols.size());
            bool meets = true;
            for (const Code &c : code.conditions) meets = meets && c.run(i.symbols.data());
            if (meets) return i;
        }
        return std::nullopt;
    }

private:
    PlanCode &code;
    void named(Instance &i, const std::string &name, int64_t v) {
        set(i, code.symbols.number(name), v);
        i.text += fmt::format("{} = {}, ", name, v);
    }
    void set(Instance &i, int number, int64_t v) {
        auto n = static_cast<size_t>(number);
        if (i.symbols.size() <= n) i.symbols.resize(n + 1);
        i.symbols[n] = v;
    }
};

using Unread = std::vector<std::pair<const ir::Op *, std::string>>;

std::optional<int> runAll(PlanCode &code, bool smallLiterals, Diagnostics &d, Unread &unread) {
    Chooser chooser(code);
    int sound = 0;
    for (int64_t ranks = 1; ranks <= 4; ++ranks)
        for (int k = 0; k < kPerRanks; ++k) {
            auto instance = chooser.choose(ranks, k, smallLiterals);
            if (!instance) continue;
            switch (execute(code, *instance, d, unread)) {
            case Outcome::Sound: ++sound; break;
            case Outcome::Wrong: return std::nullopt;
            case Outcome::TooLarge: break;
            }
        }
    return sound;
}

} // namespace

std::optional<int> checkInstances(const ir::Op &plan, Diagnostics &d, bool remarkUnread) {
    PlanCode code(plan);
    Unread unread;
    auto sound = runAll(code, false, d, unread);
    if (sound && *sound <= kPerRanks && !code.symbols.literals.empty()) {
        Diagnostics scratch(d.sources());
        sound = *sound + runAll(code, true, scratch, unread).value_or(0);
    }
    std::unordered_set<const ir::Op *> told;
    if (sound && remarkUnread)
        for (auto &[buffer, where] : unread)
            if (told.insert(buffer).second)
                d.report(ir::placeOf(*buffer), Diag::PlanUnread, buffer->name(), where);
    return sound;
}

} // namespace tdl::plan
