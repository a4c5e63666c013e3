// ranks.h: runs a function once per rank, as threads of this process or as forked processes.
//
//     CHECK_RANKS(Mode::processes, 4, [](Rank &me) -> std::string {
//         EXPECT_OK(me, ag(me.ctx, ...));
//         return "";                            // "" is success; anything else is the failure
//     });
#pragma once
#include "fake.h"

#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

enum class Mode { threads, processes };

struct Rank {
    int rank = 0, ranks = 1;
    tdl_options options{}; // enough for tdl_init
    tdl_ctx *ctx = nullptr;
};
using Body = std::function<std::string(Rank &)>;

// Without a context: `body` calls tdl_init itself.
std::string run_bare(Mode, int ranks, const Body &, const std::function<void(tdl_options &)> &change = {});
// With one, made before and finalised after `body`. Returns all failures, "" if there are none.
std::string run_ranks(Mode, int ranks, const Body &, const std::function<void(tdl_options &)> &change = {});

// Without doctest's copy of the whole lambda in the message.
#define CHECK_RANKS(...)                                                                                     \
    do {                                                                                                     \
        std::string failures = run_ranks(__VA_ARGS__);                                                       \
        CHECK(failures == "");                                                                               \
    } while (0)
#define CHECK_BARE(...)                                                                                      \
    do {                                                                                                     \
        std::string failures = run_bare(__VA_ARGS__);                                                        \
        CHECK(failures == "");                                                                               \
    } while (0)

// Processes one can kill. `body` as for run_ranks; results are awaited by finish().
class Processes {
public:
    Processes(int ranks, const Body &body, const std::function<void(tdl_options &)> &change = {});
    ~Processes();
    std::string finish(int except = -1); // failures of all ranks but one; kills what hangs after 20 s
    pid_t pid(int rank) const { return pids_[static_cast<size_t>(rank)]; }

private:
    std::vector<pid_t> pids_;
    std::vector<int> pipes_;
};

std::string unique_name(); // for a socket
double seconds();          // monotonic, the same clock in all processes
bool under_sanitizer();

std::string failed_line(const char *file, int line, const std::string &what);
#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) return failed_line(__FILE__, __LINE__, #condition);                                \
    } while (0)
#define EXPECT_OK(me, call) EXPECT_STATUS(me, call, TDL_OK)
#define EXPECT_STATUS(me, call, expected)                                                                    \
    do {                                                                                                     \
        tdl_status s_ = (call);                                                                              \
        if (s_ != (expected))                                                                                \
            return failed_line(__FILE__, __LINE__,                                                           \
                               std::string(#call) + ": " + tdl_status_string(s_) + ": " +                    \
                                   tdl_last_error((me).ctx));                                                \
    } while (0)
// Each of `parts` occurs in `text`.
#define EXPECT_TEXT(text, ...)                                                                               \
    do {                                                                                                     \
        std::string missing_ = missing_part(text, {__VA_ARGS__});                                            \
        if (!missing_.empty()) return failed_line(__FILE__, __LINE__, missing_);                             \
    } while (0)
std::string missing_part(const std::string &text, std::vector<std::string> parts);

// An all-gather with tensors of its own, whose values depend on rank, row, column and step.
struct Gather {
    Gather(tdl_ctx *, int64_t M, int64_t N);
    void fill(int step);
    tdl_status launch(const tdl_kernel &kernel = fake_ag_kernel);
    std::string check(int step, float factor = 1) const; // C after a launch and tdl_synchronize
    tdl_ctx *ctx;
    int64_t M, N, begin = 0, count = 0, capacity = 0;
    std::vector<float> A, C;
    fake_ag_args args{};
};
