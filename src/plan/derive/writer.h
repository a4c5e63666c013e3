// Writes a plan: declarations, tasks, names, and the chain of steps.
//
// A step is one task. It waits for the end of the step before on this rank, and what comes last tells all ranks that
// this one has finished with what they pushed to it:
//
//     task @a { ... arrive %a_end(index = 0, total = tickets of a) }
//     task @b { wait_join %a_end(index = 0, total = tickets of a)  ...  arrive %end(..) { notify %done(..) } }
#pragma once
#include "plan/derive/box.h"
#include "plan/derive/derive.h"
#include "plan/plan.h"
#include <unordered_map>
#include <unordered_set>

namespace tdl::plan {

/// A task under construction. Operations go to `body`; close() ends it.
struct Task {
    ir::Op *op;
    ir::Builder body;
};

class Writer {
public:
    /// Starts the plan of a kernel; its declarations are copied.
    Writer(const ir::Op &kernel, std::string plan, const Options &);

    const Options options;
    /// Tile IR values to plan values: tensors and parameters.
    const ir::ValueMap &declared() const { return map; }

    ir::Value *buffer(const std::string &name, Loc, Elem, std::string_view scope, const Box &);
    ir::Value *flag(const std::string &name, Loc); // data, a word per rank
    ir::Value *join(const std::string &name, Loc, ir::Expr words);

    ir::Value *doneFlag() const { return done; }

    /// What an earlier step has gathered of a tensor: the buffer, and the flag by which it has come.
    struct Staged {
        ir::Value *buffer, *here;
    };
    Staged *staged(const ir::Value *tensor, const Box &);
    void stage(const ir::Value *tensor, const Box &, Staged);
    void forget(const ir::Value *tensor);          // it is stored to
    std::unordered_set<const ir::Value *> awaited; // flags of which a step has awaited all words

    /// A name that no declaration or task of the plan has.
    std::string fresh(const std::string &hint);
    /// A coordinate's name that stands for nothing else in expressions; `used`: the task's others.
    std::string coord(const std::string &hint, const std::vector<std::string> &used) const;
    /// The size of a transfer's chunk along a dimension, as a tile constant of the plan.
    ir::Expr chunk(size_t dim, size_t dims);
    /// The next task: it waits for the step before.
    Task open(const std::string &name, std::string_view kind, Loc, std::vector<std::string> coords,
              std::vector<ir::Expr> counts);
    /// Ends a step of which each ticket arrives once.
    void close(Task &);
    /// Ends a step that is complete when `total` blocks of other joins have run; `b` appends to such a block.
    void close(Task &, ir::Builder &b, ir::Expr total);
    /// Completes the plan. A kernel without effect gets a task that only says so.
    std::unique_ptr<ir::Op> finish();

private:
    std::unique_ptr<ir::Op> plan;
    ir::Block tasks; // behind the declarations in the end
    ir::ValueMap map;
    std::unordered_set<std::string> taken, symbols; // names of declarations and tasks; in expressions
    ir::Value *done = nullptr;
    ir::Op *last = nullptr; // the arrival that ends the step before
    int64_t level = 0;

    struct StagedBox {
        const ir::Value *tensor;
        Box box;
        Staged staged;
    };
    std::vector<StagedBox> stagedBoxes;

    ir::Expr constant(const std::string &hint, int64_t value);
    std::unordered_map<std::string, std::string> constants; // hint to name

    void arriveAt(Task &, ir::Builder &, ir::Expr total);
};

/// Is it at least 1 whatever the sizes? (Only what this shows: max(1, ..), `ranks` and quotients of them rounded up.)
bool isPositive(const ir::Expr &);
/// Tiles of an interval as a coordinate of a task.
struct Tiles {
    ir::Expr count;  // of the coordinate
    ir::Expr lo, hi; // of the tile at the coordinate
};
Tiles tilesOf(const Interval &, const ir::Expr &by, const ir::Expr &coord);

} // namespace tdl::plan
