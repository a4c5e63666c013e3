// Runs plans on values: all ranks in one process, agents that draw tickets in order and run whenever chance picks them and
// their waits are met. The arithmetic is the reference interpreter's.
#pragma once
#include "interp/run.h"
#include "interp/tile.h"
#include "plan/plan.h"
#include <random>
#include <unordered_map>

namespace tdl::test {

class Engine {
public:
    /// `launch` has the sizes, scalars and inputs; its outputs are written back by run().
    Engine(const ir::Op &plan, interp::Launch &launch);
    /// False if no agent can go on before the end. `agents` per rank.
    bool run(uint64_t seed, int agents);
    /// Copies of uniform tensors that differ between ranks, by name.
    std::string differing;

private:
    using Item = std::variant<std::monostate, interp::TileRef, interp::Range>;
    struct Storage {
        std::vector<int64_t> origin, dims, bounds; // bounds: where `or` begins to count
        std::vector<double> f;
        std::vector<int64_t> i;
    };
    struct Agent {
        int64_t rank;
        const ir::Op *task = nullptr; // that it has drawn
        int64_t ticket = 0;
    };
    struct Queue { // of a rank
        size_t task = 0;
        int64_t ticket = 0;
    };

    const ir::Op &plan;
    interp::Launch &launch;
    std::vector<const ir::Op *> tasks;
    std::unordered_map<std::string, int64_t> symbols;
    std::vector<std::unordered_map<const ir::Value *, Storage>> storage; // by rank
    std::vector<std::unordered_map<const ir::Value *, std::vector<int64_t>>> words;
    std::unordered_map<const ir::Value *, Item> values;
    std::vector<Queue> queues;

    int64_t eval(const ir::Expr &) const;
    void setRank(int64_t r) { symbols["rank"] = r; }
    void place(const Agent &);
    bool draw(Agent &);
    bool ready(const Agent &);
    void execute(const Agent &);
    void block(const ir::Block &);
    void arrive(const ir::Op &);
    void load(const ir::Op &);
    void store(const ir::Op &);
    void loop(const ir::Op &);
    void load(int64_t rank, const ir::Op &decl, Storage &);
    void writeBack();
    const interp::Tile &tile(const ir::Value *v) { return *std::get<interp::TileRef>(values.at(v)); }
    const interp::Range &range(const ir::Value *v) { return std::get<interp::Range>(values.at(v)); }
    int64_t integer(const ir::Value *v) { return tile(v).i.at(0); }
};

} // namespace tdl::test
