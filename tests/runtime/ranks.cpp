#include "ranks.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string unique_name() {
    static int counter = 0;
    return "tdl-test." + std::to_string(getpid()) + "." + std::to_string(counter++);
}

bool under_sanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

std::string failed_line(const char *file, int line, const std::string &what) {
    return std::string(file) + ":" + std::to_string(line) + ": " + what + "\n";
}

std::string missing_part(const std::string &text, std::vector<std::string> parts) {
    for (const std::string &p : parts)
        if (text.find(p) == std::string::npos) return "`" + p + "` is missing in: " + text;
    return "";
}

static std::string with_context(Rank &me, const Body &body) {
    tdl_status s = tdl_init(&me.ctx, &me.options);
    if (s)
        return failed_line("tdl_init", 0, std::string(tdl_status_string(s)) + ": " + tdl_last_error(nullptr));
    std::string result = body(me);
    tdl_finalize(me.ctx); // its status is the body's business
    return result;
}

static std::string run_threads(int ranks, const Body &body,
                               const std::function<void(tdl_options &)> &change) {
    tdl_group *group = nullptr;
    if (tdl_group_create(ranks, &group)) return tdl_last_error(nullptr);
    std::vector<std::string> results(static_cast<size_t>(ranks));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; r++)
        threads.emplace_back([&, r] {
            Rank me;
            me.rank = me.options.rank = r;
            me.ranks = ranks;
            me.options.group = group;
            me.options.threads = 1;
            if (change) change(me.options);
            results[static_cast<size_t>(r)] = body(me);
        });
    for (std::thread &t : threads) t.join();
    tdl_group_destroy(group);
    std::string all;
    for (int r = 0; r < ranks; r++)
        if (!results[static_cast<size_t>(r)].empty())
            all += "rank " + std::to_string(r) + ": " + results[static_cast<size_t>(r)];
    return all;
}

Processes::Processes(int ranks, const Body &body, const std::function<void(tdl_options &)> &change) {
    std::string name = unique_name();
    fflush(nullptr);
    for (int r = 0; r < ranks; r++) {
        int ends[2];
        if (pipe(ends)) abort();
        pid_t pid = fork();
        if (pid < 0) abort();
        if (pid == 0) {
            close(ends[0]);
            for (int fd : pipes_) close(fd);
            Rank me;
            me.rank = me.options.rank = r;
            me.ranks = me.options.ranks = ranks;
            me.options.socket = name.c_str();
            me.options.threads = 1;
            if (change) change(me.options);
            std::string result = body(me);
            if (!result.empty() && write(ends[1], result.data(), result.size()) < 0) _exit(2);
            _exit(result.empty() ? 0 : 1); // without the parent's atexit handlers
        }
        close(ends[1]);
        pids_.push_back(pid);
        pipes_.push_back(ends[0]);
    }
}

std::string Processes::finish(int except) {
    std::string all;
    for (size_t r = 0; r < pids_.size(); r++) {
        if (static_cast<int>(r) == except) continue;
        std::string text;
        char buffer[4096];
        for (;;) {
            pollfd p{pipes_[r], POLLIN, 0};
            int ready = poll(&p, 1, 20000);
            if (ready == 0) text += "hangs\n", kill(pids_[r], SIGKILL);
            ssize_t n = read(pipes_[r], buffer, sizeof buffer);
            if (n <= 0) break;
            text.append(buffer, static_cast<size_t>(n));
        }
        int status = 0;
        waitpid(pids_[r], &status, 0);
        pids_[r] = 0;
        if (text.empty() && status) text = "ended with status " + std::to_string(status) + "\n";
        if (!text.empty()) all += "rank " + std::to_string(r) + ": " + text;
    }
    return all;
}

Processes::~Processes() {
    for (pid_t p : pids_)
        if (p) kill(p, SIGKILL), waitpid(p, nullptr, 0);
    for (int fd : pipes_) close(fd);
}

std::string run_bare(Mode mode, int ranks, const Body &body,
                     const std::function<void(tdl_options &)> &change) {
    if (mode == Mode::threads) return run_threads(ranks, body, change);
    return Processes(ranks, body, change).finish();
}

std::string run_ranks(Mode mode, int ranks, const Body &body,
                      const std::function<void(tdl_options &)> &change) {
    return run_bare(
        mode, ranks, [&](Rank &me) { return with_context(me, body); }, change);
}

// ---- Gather
// ---------------------------------------------------------------------------------------------------
static float value(int64_t row, int64_t column, int step) {
    return static_cast<float>(row * 31 + column * 7 + step * 1013 % 4099) + 0.5f;
}

Gather::Gather(tdl_ctx *c, int64_t m, int64_t n) : ctx(c), M(m), N(n) {
    tdl_shard(ctx, M, &begin, &count, &capacity);
    A.resize(static_cast<size_t>(capacity * N + 1));
    C.resize(static_cast<size_t>(M * N + 1));
    args.M = M;
    args.N = N;
    args.A = A.data();
    args.C = C.data();
}

void Gather::fill(int step) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < N; j++) A[static_cast<size_t>(i * N + j)] = value(begin + i, j, step);
    std::fill(C.begin(), C.end(), -1.0f);
}

tdl_status Gather::launch(const tdl_kernel &kernel) {
    return tdl_launch(ctx, &kernel, &args, nullptr);
}

std::string Gather::check(int step, float factor) const {
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            float got = C[static_cast<size_t>(i * N + j)], want = value(i, j, step) * factor;
            if (got != want)
                return "step " + std::to_string(step) + ": C[" + std::to_string(i) + ", " +
                       std::to_string(j) + "] is " + std::to_string(got) + ", not " + std::to_string(want) +
                       "\n";
        }
    return "";
}
