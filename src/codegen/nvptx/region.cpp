#include "codegen/nvptx/region.h"
#include "codegen/nvptx/program.h"

namespace tdl::codegen::nvptx {

static bool isMemory(int resource) { return resource >= kUnknownMemory && resource < kSlots; }
static bool same(int x, int y) {
    if (x == y) return true;
    return (x == kUnknownMemory && isMemory(y)) || (y == kUnknownMemory && isMemory(x));
}
static bool meet(const std::set<int> &x, const std::set<int> &y) {
    for (int i : x)
        for (int j : y)
            if (same(i, j)) return true;
    return false;
}

bool conflict(const Uses &pending, const Uses &next) {
    return meet(pending.writes, next.reads) || meet(pending.writes, next.writes) || meet(pending.reads, next.writes);
}

Region::Region(ProgramEmitter &emitter) : e(emitter), barrier(emitPtx(emitter.b, Ptx::BarSync)) { e.hazards.current = {}; }

Region::~Region() {
    Hazards &h = e.hazards;
    bool needed = conflict(h.pending, h.current);
    if (needed) h.pending = {};
    if (!needed) barrier->eraseFromParent();
    h.pending.add(h.current);
    h.current = {};
}

void ProgramEmitter::barrier() {
    ptx(Ptx::BarSync);
    hazards.pending = {};
}
void ProgramEmitter::flush() {
    if (!hazards.pending.empty()) barrier();
}

} // namespace tdl::codegen::nvptx
