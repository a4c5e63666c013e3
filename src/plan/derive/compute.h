// The tile operations of a phase as a task: one ticket per instance of the stage.
//
//     stage @s(loops = [h in H, i in M @ ranks by TM]) { ^(%h: i64, %i: range<i>) ... store %0, %C[%h, %i] }
// -->
//     task @s(coords = [th, ti], counts = [max(1, H), max(1, ceil(max(1, ceil(M, ranks)), TM))]) {
//       %i = range(lo = begin of my block + ti * TM, hi = min(end of my block, lo + TM))
//       for (loop = h in H[th : th + 1]) { ^(%h: i64) ... store %0, %C[%h, %i] }     // none if H = 0
//     }
#pragma once
#include "plan/derive/access.h"
#include "plan/derive/writer.h"

namespace tdl::plan {

/// Where values of a stage's instances lie between two phases: a dimension per header loop (the index; the range that is
/// an axis of the value; the number of the tile for a range that is not), then one per whole extent among its axes.
struct Slot {
    struct Dim {
        enum Kind : uint8_t { Index, Axis, Tile } kind;
        size_t loop;       // of the header, or `none`
        std::string axis;  // of Axis
        Interval interval; // of all instances
    };
    static constexpr size_t none = ~size_t(0);
    std::vector<Dim> dims;
    ir::Value *memory = nullptr; // a buffer; for parts of a sum, the source rank is a dimension before these

    /// All instances; only those of this rank's block of header loop `restricted`.
    Box box(const ir::Op &stage, const ir::Value *restricted) const;
    std::vector<std::string> axes() const;
};
Slot slotFor(const ir::Op &stage, const ir::Type &value);

class PhaseTask {
public:
    PhaseTask(Writer &writer, const ir::Op &stageOp, const ir::Value *cut)
        : w(writer), stage(stageOp), restricted(cut) {}

    /// Opens the task; then waits may be added to `task()`, then start() binds the loops of the header.
    void open(const std::string &name, std::string_view kind);
    Task &task() { return *task_; }
    void start();

    void reload(const ir::Value &, const Slot &, Loc);
    void spill(const ir::Value &, const Slot &, Loc);
    /// Combines the parts of all ranks in rank order.
    void combine(const ir::Op &reduceRanks, const Slot &parts);
    /// Copies an operation; loads and stores go where the accesses say, `buffers` per gather and per sending store.
    struct Targets {
        const Accesses &accesses;
        std::vector<ir::Value *> gathers;
        std::unordered_map<const ir::Op *, ir::Value *> sends;
    };
    void copy(const ir::Op &, const Targets &);
    void close();

private:
    Writer &w;
    const ir::Op &stage;
    const ir::Value *restricted;
    std::optional<Task> task_;
    std::optional<ir::Builder> out; // the innermost block
    ir::ValueMap map;
    std::vector<std::string> coords;

    ir::Value *rangeOf(const std::string &axis, Loc);
    std::vector<ir::Value *> indices(const Slot &, Loc);
    void copyInto(ir::Builder &, const ir::Op &, const Targets &);
};

} // namespace tdl::plan
