// One instance of a plan in execution: memory and synchronisation of all ranks.
#pragma once
#include "plan/verify/instance.h"
#include "plan/verify/memory.h"

namespace tdl::plan {

class Machine {
public:
    Machine(const PlanCode &, const Instance &, Diagnostics &);
    Outcome run();
    std::vector<std::pair<const ir::Op *, std::string>> unread() const;

private:
    const PlanCode &code;
    const Instance &instance;
    Diagnostics &diags;
    bool ok = true;
    int64_t budget = 2000000; // elements and turns of loops; what needs more is not small
    bool spend(int64_t n) { return (budget -= n) >= 0; }

    // ---- Tickets: one rank after another, each rank's in order ----
    struct Ticket {
        int rank;
        const TaskCode *task;
        int64_t number; // within the task
        Tickets before; // known to happen before it
    };
    struct Rank {
        std::vector<int64_t> symbols;
        int next = 0, end = 0; // tickets
        std::vector<Area> areas;
    };
    std::vector<Ticket> tickets;
    std::vector<Rank> ranks;
    bool makeRanks(); // false: too large
    void setCoordinates(Ticket &);

    // ---- Synchronisation ----
    struct Word {
        bool set = false, awaited = false;
        Tickets published;
    };
    struct Counter {
        int64_t count = 0, total = -1;
        Tickets arrived;
    };
    std::vector<std::vector<std::vector<Word>>> flags; // by rank and flag
    std::vector<std::vector<std::vector<Counter>>> counters;
    std::vector<Tickets> touched; // by rank: accesses of what peers can write
    bool wait(Ticket &, const Instruction &, bool commit);
    void arrive(int ticket, const Instruction &, const Tickets &);
    void notify(int ticket, const Instruction &, const Tickets &);
    void finish();
    void blocked();

    // ---- Work ----
    struct Value {
        enum Kind : uint8_t { Unknown, Range, Int } kind = Unknown;
        int64_t lo = 0, hi = 0;
    };
    std::vector<Value> values;
    std::vector<bool> mayStore; // to these ranks: their done word was awaited
    void execute(int ticket);
    void work(int ticket, const std::vector<Instruction> &, bool maybe);
    void loop(int ticket, const Instruction &, bool maybe);
    void access(int ticket, const Instruction &, bool maybe);
    void compute(const Instruction &);
    Span blockOf(int64_t extent, int64_t rank) const;
    int64_t eval(const Code &c, int rank) const {
        return c.run(ranks[static_cast<size_t>(rank)].symbols.data());
    }

    template <class... A> void fail(const ir::Op &at, Diag kind, A &&...args);
    std::string where(int rank) const;
};

} // namespace tdl::plan
