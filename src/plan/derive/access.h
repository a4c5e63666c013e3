// What the loads and stores of a phase become, from placements and indices alone.
//
//     load  of a distributed tensor    own, if its index runs over this rank's block; else gathered into a buffer
//     load  of any other               from this rank's own copy
//     store by all ranks               into the own copy; of a distributed tensor only what is own (`own`)
//     store by one rank                own, if provably; else sent to the owner, or to every copy
#pragma once
#include "diagnostics/diagnostics.h"
#include "plan/derive/box.h"
#include "plan/derive/phases.h"

namespace tdl::plan {

/// The header loop that each phase may be cut to this rank's block of, or null: only the owner needs a uniform value
/// that is stored in distributed tensors along that loop and nowhere else.
std::vector<const ir::Value *> restrictionsOf(const ir::Op &stage, const std::vector<Phase> &,
                                              const Bindings &);

/// What loads of one tensor need from other ranks.
struct Gather {
    const ir::Value *tensor = nullptr;
    Loc loc;
    Box box;                       // of rank `rank`
    std::vector<std::string> axes; // a name per dimension, for people
    bool bounded = false;          // some load asks what lies outside the tensor
};

enum class StoreWay : uint8_t { Local, Own, Send };

/// A store of one rank to memory of others: what it writes in all.
struct Send {
    const ir::Op *store = nullptr;
    Box box;
    std::vector<std::string> axes;
};

struct Accesses {
    std::vector<Gather> gathers;
    std::unordered_map<const ir::Op *, size_t> gathered; // loads; which gather
    std::unordered_map<const ir::Op *, StoreWay> stores;
    std::vector<Send> sends;
};
/// Nothing if a store to other ranks covers no exact box; that is reported.
std::optional<Accesses> accessesOf(const ir::Op &stage, const Phase &, const Bindings &,
                                   const ir::Value *restricted, Diagnostics &);

} // namespace tdl::plan
