// What has happened before a wait returns, from the waits, arrivals and notifies of all tasks alike.
//
//     push: arrive %sent { notify %here }        gemm: wait %here ..        before the wait: push, and what push waited for
//
// The lowering gives tokens by it (from the plan), the verifier checks them by it (from the kernel IR).
#pragma once
#include "ir/op.h"
#include <set>

namespace tdl::kernel {

/// The synchronisation of one task or program: flags and joins by the values that declare them.
struct TaskSync {
    struct Signal {
        const ir::Value *to;     // flag or join
        const ir::Value *behind; // the join in whose completion it happens; null: the task itself
    };
    std::vector<const ir::Value *> waits; // but for `done` flags: those speak of earlier launches
    std::vector<Signal> signals;          // notifies and arrivals
};

/// For each flag and join: the tasks, by index, that are complete when a wait for it has returned.
std::unordered_map<const ir::Value *, std::set<size_t>> completedBefore(const std::vector<TaskSync> &tasks);

} // namespace tdl::kernel
