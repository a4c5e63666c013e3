// The run of an instance: tickets and synchronisation.
#include "plan/verify/machine.h"
#include "ir/verify.h"
#include "plan/verify/report.h"
#include <algorithm>

namespace tdl::plan {

using namespace ir;

namespace {
// Beyond these an instance is not small.
constexpr int64_t kTickets = 4000, kCells = 300000;
} // namespace

Machine::Machine(const PlanCode &c, const Instance &i, Diagnostics &d) : code(c), instance(i), diags(d) {}

std::string Machine::where(int rank) const {
    return fmt::format("rank {}, {}", rank, instance.text);
}

Span Machine::blockOf(int64_t extent, int64_t rank) const {
    int64_t block = std::max<int64_t>(1, apply(ExprKind::Ceil, extent, instance.ranks));
    auto begin = [&](int64_t r) { return std::min(extent, apply(ExprKind::Mul, r, block)); };
    return {begin(rank), begin(rank + 1)};
}

bool Machine::makeRanks() {
    int64_t count = 0, cells = 0;
    ranks.resize(static_cast<size_t>(instance.ranks));
    for (int r = 0; r < instance.ranks; ++r) {
        Rank &me = ranks[static_cast<size_t>(r)];
        me.symbols = instance.symbols;
        me.symbols.resize(code.symbols.size());
        me.symbols[static_cast<size_t>(code.rank)] = r;
        me.next = static_cast<int>(count);
        for (const TaskCode &t : code.tasks) {
            int64_t n = 1;
            for (const Code &c : t.counts) {
                int64_t k = eval(c, r);
                if (k < 1) {
                    fail(*t.op, Diag::PlanCount, "task", t.op->symbol,
                         fmt::format("a coordinate has {} values", k), where(r));
                    return true;
                }
                if (k > kTickets || (n *= k) > kTickets || (count + n) > kTickets) return false;
            }
            for (int64_t k = 0; k < n; ++k) tickets.push_back({r, &t, k, {}});
            count += n;
            if (count > kTickets) return false;
        }
        me.end = static_cast<int>(count);
        for (const Memory &m : code.memories) {
            std::vector<Span> held;
            int64_t size = 1;
            for (size_t d = 0; d < m.extents.size(); ++d) {
                int64_t extent = std::max<int64_t>(0, eval(m.extents[d], r));
                if (extent > kCells || (size *= extent) > kCells) return false;
                int64_t origin = m.tensor ? 0 : eval(m.origin[d], r);
                if (m.tensor && m.dist == static_cast<int>(d))
                    held.push_back(blockOf(extent, r));
                else
                    held.emplace_back(origin, apply(ExprKind::Add, origin, extent));
                if (held.back().first > held.back().second) return false; // wraps around
            }
            if ((cells += size) > kCells) return false;
            me.areas.emplace_back(std::move(held), m.startsDefined);
        }
    }
    for (Ticket &t : tickets) t.before = Tickets(tickets.size());
    touched.assign(ranks.size(), Tickets(tickets.size()));
    flags.resize(ranks.size());
    counters.resize(ranks.size());
    for (int r = 0; r < instance.ranks; ++r) {
        auto words = [&](const Code &c) { return static_cast<size_t>(std::max<int64_t>(0, eval(c, r))); };
        for (const auto *all : {&code.flagWords, &code.joinWords})
            for (const Code &c : *all)
                if (words(c) > kTickets) return false;
        for (const Code &c : code.flagWords)
            flags[static_cast<size_t>(r)].emplace_back(words(c), Word{false, false, Tickets(tickets.size())});
        for (const Code &c : code.joinWords)
            counters[static_cast<size_t>(r)].emplace_back(words(c), Counter{0, -1, Tickets(tickets.size())});
    }
    return true;
}

void Machine::setCoordinates(Ticket &t) {
    auto &symbols = ranks[static_cast<size_t>(t.rank)].symbols;
    int64_t rest = t.number;
    for (size_t i = t.task->coords.size(); i-- > 0;) {
        int64_t n = eval(t.task->counts[i], t.rank);
        symbols[static_cast<size_t>(t.task->coords[i])] = rest % n;
        rest /= n;
    }
}

Outcome Machine::run() {
    if (!makeRanks()) return Outcome::TooLarge;
    values.resize(code.values);
    for (bool progress = ok; progress && ok && budget >= 0;) {
        progress = false;
        for (Rank &r : ranks) {
            while (r.next < r.end && ok && budget >= 0) {
                Ticket &t = tickets[static_cast<size_t>(r.next)];
                setCoordinates(t);
                bool ready = std::all_of(t.task->waits.begin(), t.task->waits.end(),
                                         [&](const Instruction &w) { return wait(t, w, false); });
                if (!ready || !ok) break;
                execute(r.next++);
                progress = true;
            }
        }
    }
    if (budget < 0) return Outcome::TooLarge;
    if (ok) finish();
    return ok ? Outcome::Sound : Outcome::Wrong;
}

// Is it satisfied? With `commit`, take over what it publishes.
bool Machine::wait(Ticket &t, const Instruction &w, bool commit) {
    int64_t a = eval(w.a, t.rank), b = eval(w.b, t.rank);
    auto me = static_cast<size_t>(t.rank), memory = static_cast<size_t>(w.memory);
    if (w.op->kind == OpKind::WaitJoin) {
        auto &words = counters[me][memory];
        if (a < 0 || a >= static_cast<int64_t>(words.size())) {
            fail(*w.op, Diag::PlanCount, "join", code.joins[memory]->name(),
                 fmt::format("there is no counter {}", a), where(t.rank));
            return false;
        }
        const Counter &c = words[static_cast<size_t>(a)];
        if (c.count < b || c.total < 0) return false;
        if (c.total != b)
            fail(*w.op, Diag::PlanCount, "join", code.joins[memory]->name(),
                 fmt::format("waits for {} of {} arrivals", b, c.total), where(t.rank));
        if (commit) t.before.insert(c.arrived);
        return true;
    }
    const Op &flag = *code.flags[memory];
    auto &words = flags[me][memory];
    auto size = static_cast<int64_t>(words.size());
    if (a < 0 || b < 0 || a > size || b > size - a) {
        fail(*w.op, Diag::PlanCount, "flag", flag.name(),
             fmt::format("there are no {} words from {} on", b, a), where(t.rank));
        return false;
    }
    bool done = flag.name("kind") == "done";
    for (int64_t i = a; i < a + b; ++i) {
        Word &word = words[static_cast<size_t>(i)];
        if (done) {
            if (commit) mayStore[static_cast<size_t>(i)] = true; // the launch before has ended there
            continue;
        }
        if (!word.set) return false;
        if (!commit) continue;
        word.awaited = true;
        t.before.insert(word.published);
    }
    return true;
}

void Machine::execute(int n) {
    Ticket &t = tickets[static_cast<size_t>(n)];
    mayStore.assign(ranks.size(), false);
    for (const Instruction &w : t.task->waits) wait(t, w, true);
    work(n, t.task->work, false);
    Tickets published = t.before;
    published.insert(n);
    for (const Instruction &a : t.task->arrivals)
        if (ok) arrive(n, a, published);
}

void Machine::arrive(int n, const Instruction &a, const Tickets &published) {
    int rank = tickets[static_cast<size_t>(n)].rank;
    int64_t index = eval(a.a, rank), total = eval(a.b, rank);
    auto memory = static_cast<size_t>(a.memory);
    auto &words = counters[static_cast<size_t>(rank)][memory];
    auto wrong = [&](std::string why) {
        fail(*a.op, Diag::PlanCount, "join", code.joins[memory]->name(), std::move(why), where(rank));
    };
    if (index < 0 || index >= static_cast<int64_t>(words.size()))
        return wrong(fmt::format("there is no counter {}", index));
    Counter &c = words[static_cast<size_t>(index)];
    if (total < 1) return wrong(fmt::format("its total is {}", total));
    if (c.total >= 0 && c.total != total) return wrong(fmt::format("its total is {} and {}", c.total, total));
    c.total = total;
    c.arrived.insert(published);
    if (++c.count > total) return wrong(fmt::format("more than {} arrive at counter {}", total, index));
    if (c.count < total) return;
    Tickets all = c.arrived;
    for (const Instruction &i : a.body) {
        if (!ok) return;
        i.op->kind == OpKind::Arrive ? arrive(n, i, all) : notify(n, i, all);
    }
}

void Machine::notify(int n, const Instruction &i, const Tickets &published) {
    int rank = tickets[static_cast<size_t>(n)].rank;
    int64_t to = eval(i.a, rank), count = eval(i.b, rank), index = eval(i.c, rank);
    auto memory = static_cast<size_t>(i.memory);
    const Op &flag = *code.flags[memory];
    auto wrong = [&](std::string why) {
        fail(*i.op, Diag::PlanCount, "flag", flag.name(), std::move(why), where(rank));
    };
    if (to < 0 || count < 0 || to > instance.ranks || count > instance.ranks - to)
        return wrong(fmt::format("there are no {} ranks from {} on", count, to));
    if (flag.name("kind") == "done") {
        if (int late = touched[static_cast<size_t>(rank)].outside(published); late >= 0)
            fail(*i.op, Diag::PlanIsolation, tickets[static_cast<size_t>(late)].task->op->symbol,
                 fmt::format("is not ordered before the `done` of rank {}, whose buffers it uses", rank),
                 where(rank));
    }
    for (int64_t r = to; r < to + count; ++r) {
        auto &words = flags[static_cast<size_t>(r)][memory];
        if (index < 0 || index >= static_cast<int64_t>(words.size()))
            return wrong(fmt::format("there is no word {}", index));
        Word &w = words[static_cast<size_t>(index)];
        if (w.set) return wrong(fmt::format("word {} on rank {} is notified twice", index, r));
        w.set = true;
        w.published = published;
    }
}

// Everything ran: counters at their totals, words awaited, outputs written, every rank's done everywhere.
void Machine::finish() {
    for (Rank &r : ranks)
        if (r.next < r.end) return blocked();
    for (size_t r = 0; r < ranks.size() && ok; ++r) {
        int rank = static_cast<int>(r);
        for (size_t j = 0; j < code.joins.size(); ++j)
            for (size_t i = 0; i < counters[r][j].size(); ++i)
                if (const Counter &c = counters[r][j][i]; ok && c.count != std::max<int64_t>(0, c.total))
                    fail(*code.joins[j], Diag::PlanCount, "join", code.joins[j]->name(),
                         fmt::format("counter {} ends at {} of {}", i, c.count, c.total), where(rank));
        for (size_t f = 0; f < code.flags.size(); ++f) {
            bool done = code.flags[f]->name("kind") == "done";
            for (size_t i = 0; i < flags[r][f].size(); ++i) {
                const Word &w = flags[r][f][i];
                if (!ok || (done ? w.set : !w.set || w.awaited)) continue;
                if (done)
                    fail(*code.flags[f], Diag::PlanDone,
                         fmt::format("rank {} does not notify rank {} ({})", i, rank, instance.text));
                else
                    fail(*code.flags[f], Diag::PlanCount, "flag", code.flags[f]->name(),
                         fmt::format("nobody waits for word {}", i), where(rank));
            }
        }
        for (size_t m = 0; m < code.memories.size(); ++m)
            if (const Op &op = *code.memories[m].op; ok && code.memories[m].tensor &&
                                                     op.name("mode") == "out" &&
                                                     !ranks[r].areas[m].writtenEverywhere())
                fail(op, Diag::PlanUnwritten, op.name(), rank, instance.text);
    }
}

void Machine::blocked() {
    for (Rank &r : ranks) {
        if (r.next == r.end) continue;
        Ticket &t = tickets[static_cast<size_t>(r.next)];
        setCoordinates(t);
        for (const Instruction &w : t.task->waits)
            if (!wait(t, w, false) && ok)
                return fail(*w.op, Diag::PlanDeadlock, t.task->op->symbol, w.op->operands[0]->def->name(),
                            where(t.rank));
    }
}

std::vector<std::pair<const Op *, std::string>> Machine::unread() const {
    std::vector<std::pair<const Op *, std::string>> out;
    for (size_t m = 0; m < code.memories.size(); ++m)
        for (size_t r = 0; r < ranks.size(); ++r)
            if (code.memories[m].protocol && ranks[r].areas[m].hasUnread()) {
                out.emplace_back(code.memories[m].op, where(static_cast<int>(r)));
                break;
            }
    return out;
}

Outcome execute(const PlanCode &code, const Instance &i, Diagnostics &d,
                std::vector<std::pair<const Op *, std::string>> &unread) {
    Machine m(code, i, d);
    Outcome o = m.run();
    if (o == Outcome::Sound)
        for (auto &u : m.unread()) unread.push_back(std::move(u));
    return o;
}

} // namespace tdl::plan
