#include "kernel/order.h"

namespace tdl::kernel {

// The least solution of: a signal publishes its task, what that task waited for, and, behind a join, what the join
// published. Sets only grow, so the loop ends.
std::unordered_map<const ir::Value *, std::set<size_t>> completedBefore(const std::vector<TaskSync> &tasks) {
    std::unordered_map<const ir::Value *, std::set<size_t>> published;
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t t = 0; t < tasks.size(); ++t) {
            std::set<size_t> mine{t};
            for (auto *w : tasks[t].waits) mine.insert(published[w].begin(), published[w].end());
            for (const TaskSync::Signal &s : tasks[t].signals) {
                std::set<size_t> more = mine;
                if (s.behind) more.insert(published[s.behind].begin(), published[s.behind].end());
                std::set<size_t> &to = published[s.to];
                size_t before = to.size();
                to.insert(more.begin(), more.end());
                grew |= to.size() != before;
            }
        }
    }
    return published;
}

} // namespace tdl::kernel
