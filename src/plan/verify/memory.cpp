#include "plan/verify/memory.h"
#include <algorithm>
#include <bit>

namespace tdl::plan {

int Tickets::outside(const Tickets &all) const {
    for (size_t i = 0; i < words.size(); ++i)
        if (uint64_t rest = words[i] & ~all.words[i])
            return static_cast<int>(64 * i) + std::countr_zero(rest);
    return -1;
}

Area::Area(std::vector<Span> held, bool defined) : held_(std::move(held)) {
    size_t n = 1;
    for (auto &[lo, hi] : held_) n *= static_cast<size_t>(std::max<int64_t>(0, hi - lo));
    cells.assign(n, Cell{defined ? atStart : nobody, {}});
}

template <class F> std::optional<Area::Conflict> Area::each(const std::vector<Span> &box, F &&f) {
    std::vector<int64_t> at;
    for (auto &[lo, hi] : box) {
        if (lo >= hi) return std::nullopt;
        at.push_back(lo);
    }
    while (true) {
        size_t index = 0;
        for (size_t d = 0; d < box.size(); ++d)
            index = index * static_cast<size_t>(held_[d].second - held_[d].first) +
                    static_cast<size_t>(at[d] - held_[d].first);
        if (auto c = f(cells[index])) return c;
        size_t d = box.size();
        while (d > 0 && ++at[d - 1] == box[d - 1].second) --d, at[d] = box[d].first;
        if (d == 0) return std::nullopt;
    }
}

std::optional<Area::Conflict> Area::read(int ticket, const std::vector<Span> &box, const Tickets &before,
                                         bool maybe) {
    return each(box, [&](Cell &c) -> std::optional<Conflict> {
        if (c.writer == nobody) {
            if (!maybe) return Conflict{-1, false, true};
        } else if (c.writer >= 0 && c.writer != ticket && !before.contains(c.writer)) {
            return Conflict{c.writer, true, false};
        }
        if (c.readers.empty() || c.readers.back() != ticket) c.readers.push_back(ticket);
        return std::nullopt;
    });
}

std::optional<Area::Conflict> Area::write(int ticket, const std::vector<Span> &box, const Tickets &before) {
    return each(box, [&](Cell &c) -> std::optional<Conflict> {
        auto late = [&](int other) { return other >= 0 && other != ticket && !before.contains(other); };
        if (late(c.writer)) return Conflict{c.writer, true, false};
        for (int r : c.readers)
            if (late(r)) return Conflict{r, false, false};
        c.writer = ticket;
        c.readers.clear();
        return std::nullopt;
    });
}

bool Area::writtenEverywhere() const {
    return std::all_of(cells.begin(), cells.end(), [](const Cell &c) { return c.writer != nobody; });
}

bool Area::hasUnread() const {
    return std::any_of(cells.begin(), cells.end(),
                       [](const Cell &c) { return c.writer >= 0 && c.readers.empty(); });
}

} // namespace tdl::plan
