// Ranks that die or stop in the middle of a kernel. Forks its own ranks, which launch a generated kernel for ever; at a
// random moment one of them gets SIGKILL or SIGSTOP. All others must come back with an error that names a rank, the
// kernel and a source line: after a kill within 0.5 s, after a stop within the time-out and 1 s. Nothing may stay behind.
//
//     deaths TRIES [SEED]
#include "kernels.h"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRanks = 4, kTimeoutMs = 300;

struct Report {
    int rank, status;
    char text[1000];
};

// Launches until something goes wrong, then tells the parent. Never returns.
[[noreturn]] void rankMain(int rank, const std::string &socket, int ready, int reports) {
    setenv("TDL_TIMEOUT_MS", std::to_string(kTimeoutMs).c_str(), 1);
    tdl_options o{};
    o.rank = rank, o.ranks = kRanks, o.socket = socket.c_str();
    tdl_ctx *ctx = nullptr;
    Report r{rank, 0, ""};
    tdl_status s = tdl_init(&ctx, &o);
    const int64_t M = 70, N = 90, K = 65;
    std::vector<float> A(M * K, 1.f), B(N * K, 1.f), C(M * N);
    gemm_rs_args a{};
    a.M = M, a.N = N, a.K = K, a.A = A.data(), a.B = B.data(), a.C = C.data();
    if (!s) s = gemm_rs(ctx, &a, nullptr);
    if (!s) s = tdl_synchronize(ctx, nullptr);
    if (!s && write(ready, "r", 1) != 1) _exit(1);
    while (!s) {
        s = gemm_rs(ctx, &a, nullptr);
        if (!s) s = tdl_synchronize(ctx, nullptr);
    }
    r.status = s;
    std::snprintf(r.text, sizeof r.text, "%s", tdl_last_error(ctx));
    if (write(reports, &r, sizeof r) != static_cast<ssize_t>(sizeof r)) _exit(1);
    tdl_finalize(ctx);
    _exit(0);
}

bool readAll(int fd, void *to, size_t n, int timeoutMs) {
    char *p = static_cast<char *>(to);
    auto end = Clock::now() + std::chrono::milliseconds(timeoutMs);
    while (n > 0) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd poller{fd, POLLIN, 0};
        if (left <= 0 || poll(&poller, 1, static_cast<int>(left)) <= 0) return false;
        ssize_t got = read(fd, p, n);
        if (got <= 0) return false;
        p += got, n -= static_cast<size_t>(got);
    }
    return true;
}

int leftSockets(const std::string &name) {
    std::ifstream in("/proc/net/unix");
    int n = 0;
    for (std::string line; std::getline(in, line);) n += line.find(name) != std::string::npos;
    return n;
}

struct Worst {
    double kill = 0, stop = 0;
} worst;

int oneTry(std::mt19937 &random, int number) {
    int failures = 0;
    auto complain = [&](const char *what, const char *detail) {
        std::printf("try %d: %s %s\n", number, what, detail);
        ++failures;
    };
    std::string socket = "tdl-deaths-" + std::to_string(getpid()) + "-" + std::to_string(number);
    int ready[2], reports[2];
    if (pipe(ready) || pipe(reports)) return std::perror("pipe"), 1;
    std::vector<pid_t> pids;
    for (int r = 0; r < kRanks; ++r) {
        pid_t pid = fork();
        if (pid == 0) rankMain(r, socket, ready[1], reports[1]);
        pids.push_back(pid);
    }
    char marks[kRanks];
    bool started = readAll(ready[0], marks, kRanks, 20'000);
    if (!started) complain("did not start", "");
    int victim = static_cast<int>(random() % kRanks);
    bool stop = random() % 2;
    usleep(static_cast<useconds_t>(random() % 20'000));
    if (started) kill(pids[static_cast<size_t>(victim)], stop ? SIGSTOP : SIGKILL);
    auto hit = Clock::now();
    for (int i = 0; started && i < kRanks - 1; ++i) {
        Report r;
        if (!readAll(reports[0], &r, sizeof r, 10'000)) {
            complain("a rank never reported", stop ? "(stop)" : "(kill)");
            break;
        }
        double seconds = std::chrono::duration<double>(Clock::now() - hit).count();
        double &slowest = stop ? worst.stop : worst.kill;
        slowest = std::max(slowest, seconds);
        if (seconds > (stop ? kTimeoutMs / 1000. + 1 : 0.5)) complain("reported late:", (std::to_string(seconds) + " s, " + (stop ? "stop" : "kill")).c_str());
        if (r.rank == victim || (r.status != TDL_TIMEOUT && r.status != TDL_PEER_LOST)) complain("has the wrong status:", r.text);
        std::string name = "rank " + std::to_string(victim);
        if (!std::strstr(r.text, "gemm_rs") || !std::strstr(r.text, ".tdl:") || !std::strstr(r.text, "rank")) complain("says too little:", r.text);
        if (number == 0 && i == 0) std::printf("after a %s, rank %d says: %s\n", stop ? "stop" : "kill", r.rank, r.text);
    }
    for (pid_t pid : pids) kill(pid, SIGKILL);
    for (pid_t pid : pids) waitpid(pid, nullptr, 0);
    for (int fd : {ready[0], ready[1], reports[0], reports[1]}) close(fd);
    if (leftSockets(socket)) complain("a socket stays behind:", socket.c_str());
    return failures;
}

} // namespace

int main(int argc, char **argv) {
    int tries = argc > 1 ? std::atoi(argv[1]) : 20, failures = 0;
    std::mt19937 random(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
    for (int i = 0; i < tries; ++i) failures += oneTry(random, i) != 0;
    std::printf("%d tries, %d failed; slowest report after a kill %.3f s, after a stop %.3f s (time-out %.1f s)\n", tries, failures, worst.kill, worst.stop, kTimeoutMs / 1000.);
    return failures != 0;
}
