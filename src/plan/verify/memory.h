// Who wrote and who read each element, in one instance. Two accesses of an element, at least one a write, must be ordered:
// the earlier ticket is among those known to happen before the later one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tdl::plan {

/// A set of tickets.
class Tickets {
public:
    Tickets() = default;
    explicit Tickets(size_t n) : words((n + 63) / 64) {}
    void insert(int t) { words[static_cast<size_t>(t) / 64] |= uint64_t{1} << (t % 64); }
    bool contains(int t) const { return words[static_cast<size_t>(t) / 64] >> (t % 64) & 1; }
    void insert(const Tickets &o) {
        for (size_t i = 0; i < words.size(); ++i) words[i] |= o.words[i];
    }
    /// One that is missing in `all`, or -1.
    int outside(const Tickets &all) const;

private:
    std::vector<uint64_t> words;
};

using Span = std::pair<int64_t, int64_t>; // indices from first to before second

/// The elements of a tensor or buffer that one rank holds.
class Area {
public:
    Area() = default;
    Area(std::vector<Span> held, bool defined);

    const std::vector<Span> &held() const { return held_; }
    size_t size() const { return cells.size(); }

    struct Conflict {
        int other; // the ticket; undefined: none
        bool otherWrote;
        bool undefined;
    };
    /// Records an access of a box that lies inside; `before`: the tickets known to precede. `maybe`: data may leave it out.
    std::optional<Conflict> read(int ticket, const std::vector<Span> &box, const Tickets &before, bool maybe);
    std::optional<Conflict> write(int ticket, const std::vector<Span> &box, const Tickets &before);
    bool writtenEverywhere() const;
    /// Some ticket wrote an element that none has read since.
    bool hasUnread() const;

private:
    struct Cell {
        int writer;               // nobody, or atStart
        std::vector<int> readers; // since then
    };
    static constexpr int nobody = -1, atStart = -2;
    std::vector<Span> held_;
    std::vector<Cell> cells;

    template <class F> std::optional<Conflict> each(const std::vector<Span> &box, F &&f);
};

} // namespace tdl::plan
