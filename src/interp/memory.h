// The tensors of a launch while it runs. Within a stage every load sees the memory as it was before the
// stage: an element that the stage writes may be read there only before the write, so nobody who may read can
// tell the difference, and the order in which instances and ranks are executed does not matter.
#pragma once
#include "interp/check.h"
#include "interp/run.h"
#include "interp/tile.h"
#include <deque>
#include <unordered_map>

namespace tdl::interp {

/// What an operand or block argument holds.
using Item = std::variant<TileRef, Range>;

class Memory {
public:
    Memory(const ir::Op &kernel, Launch &, const ir::Expr::Env &, Checker &);

    void beginStage(const ir::Op &stage);
    const Tensor &tensor(const ir::Op &decl) const { return *slots.at(&decl).now; }
    /// A load or store as `rank` executes it. `otherwise`: the value outside the extents, if the load has
    /// one.
    Tile load(const ir::Op &, int64_t rank, const std::vector<Item> &indices, const Tile *otherwise);
    void store(const ir::Op &, int64_t rank, const std::vector<Item> &indices, const Tile &value);
    void finish();

private:
    struct Slot {
        const ir::Op *decl = nullptr;
        Tensor *now = nullptr;
        std::vector<double> beforeF; // the contents before the stage, if the stage both loads and stores
        std::vector<int64_t> beforeI;
        bool isCopied = false;
    };
    Checker &checker;
    std::deque<Tensor> locals;
    std::unordered_map<const ir::Op *, Slot> slots;
    std::vector<const ir::Op *> order; // of declaration

    std::vector<int64_t> places(const Tensor &, const std::vector<Axis> &, const std::vector<Item> &,
                                const ir::Op &, bool mayLieOutside);
};

} // namespace tdl::interp
