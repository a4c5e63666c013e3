// Where a block's threads have to meet. Every piece of work that is shared out over threads notes what it reads and writes;
// a barrier goes before the next piece that would read what others wrote, or write what others read or wrote.
//
//     slot 0 = ..          writes {slot 0}
//     slot 1 = slot 0 ..   reads {slot 0}, writes {slot 1}: barrier before
//     Y[..] = slot 1       reads {slot 1}, writes {Y}: barrier before
#pragma once
#include <set>

namespace llvm {
class CallInst;
}

namespace tdl::codegen::nvptx {

/// What was accessed since the last barrier. Resources: tensors and buffers by position, then shared scratch, then slots.
struct Uses {
    std::set<int> reads, writes;
    bool empty() const { return reads.empty() && writes.empty(); }
    void add(const Uses &u) {
        reads.insert(u.reads.begin(), u.reads.end());
        writes.insert(u.writes.begin(), u.writes.end());
    }
};
/// Some memory that is not known: any tensor or buffer.
constexpr int kUnknownMemory = -1, kBroadcast = -2, kSlots = 1 << 20; // + index of the slot

struct Hazards {
    Uses pending, current;
    void reads(int resource) { current.reads.insert(resource); }
    void writes(int resource) { current.writes.insert(resource); }
};

class ProgramEmitter;

/// A piece of work: the barrier before it is taken out again if it turns out not to be needed. Not nested.
class Region {
public:
    explicit Region(ProgramEmitter &);
    ~Region();
    Region(const Region &) = delete;

private:
    ProgramEmitter &e;
    llvm::CallInst *barrier;
};

/// Do all threads have to be through with `pending` before `next`?
bool conflict(const Uses &pending, const Uses &next);

} // namespace tdl::codegen::nvptx
