// The choice of instances: ranks 1 to 4, sizes and tile constants that divide nothing, and nothing at all.
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
    std::optional<Instance> choose(int64_t ranks, int k) {
        Sequence draw(static_cast<uint64_t>(ranks * 100 + k) * 2654435761u + 12345);
        for (int attempt = 0; attempt < kTries; ++attempt) {
            Instance i;
            i.ranks = ranks;
            set(i, "ranks", ranks);
            // All sizes 0, then all 1, then mixed; with many sizes smaller ones.
            const auto &sizes = code.plan.names("sizes");
            int64_t most = sizes.size() > 4 ? 4 : 7;
            for (const std::string &s : sizes) {
                int64_t v = k < 2 && attempt == 0 ? k : draw.upTo(most);
                set(i, s, v);
                i.text += fmt::format("{} = {}, ", s, v);
            }
            for (const ir::Bind &b : code.plan.binds("tiles")) {
                int64_t v = 1 + draw.upTo(2);
                set(i, b.name, v);
                i.text += fmt::format("{} = {}, ", b.name, v);
            }
            i.text += fmt::format("ranks = {}", ranks);
            bool meets = true;
            i.symbols.resize(code.symbols.size());
            for (const Code &c : code.requires_) meets = meets && c.run(i.symbols.data());
            if (meets) return i;
        }
        return std::nullopt;
    }

private:
    PlanCode &code;
    void set(Instance &i, const std::string &name, int64_t v) {
        auto n = static_cast<size_t>(code.symbols.number(name));
        if (i.symbols.size() <= n) i.symbols.resize(n + 1);
        i.symbols[n] = v;
    }
};

} // namespace

std::optional<int> checkInstances(const ir::Op &plan, Diagnostics &d, bool remarkUnread) {
    PlanCode code(plan);
    Chooser chooser(code);
    int sound = 0;
    std::vector<std::pair<const ir::Op *, std::string>> unread;
    for (int64_t ranks = 1; ranks <= 4; ++ranks)
        for (int k = 0; k < kPerRanks; ++k) {
            auto instance = chooser.choose(ranks, k);
            if (!instance) continue;
            switch (execute(code, *instance, d, unread)) {
            case Outcome::Sound: ++sound; break;
            case Outcome::Wrong: return std::nullopt;
            case Outcome::TooLarge: break;
            }
        }
    std::unordered_set<const ir::Op *> told;
    for (auto &[buffer, where] : unread)
        if (remarkUnread && told.insert(buffer).second) d.report(ir::placeOf(*buffer), Diag::PlanUnread, buffer->name(), where);
    return sound;
}

} // namespace tdl::plan
