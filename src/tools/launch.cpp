#include "tools/launch.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <random>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tdl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(5);       // for the other ranks to report after one failed
constexpr auto kTermToKill = std::chrono::seconds(1);

std::string uniqueSocket() {
    std::random_device random;
    return fmt::format("tdl-{}-{:08x}{:08x}", ::getpid(), random(), random());
}

class Group {
public:
    explicit Group(const LaunchOptions &o) : options(o) {}

    int run(const std::function<int(int)> &rankMain) {
        sigset_t handled, old;
        sigemptyset(&handled);
        for (int s : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&handled, s);
        sigprocmask(SIG_BLOCK, &handled, &old); // taken by sigtimedwait below: no handlers, no races
        int status = start(rankMain, old);
        if (status == 0) status = wait(handled);
        sigprocmask(SIG_SETMASK, &old, nullptr);
        return status;
    }

private:
    const LaunchOptions &options;
    std::vector<pid_t> pids; // by rank, 0 when it has ended
    int running = 0;
    bool ending = false;  // we are ending the ranks: that they end is no news
    bool blamed = false;  // a rank's failing status was reported; the others mostly follow from it

    int start(const std::function<int(int)> &rankMain, const sigset_t &mask) {
        std::string socket = uniqueSocket();
        pid_t parent = ::getpid();
        std::fflush(nullptr); // or every rank prints what is buffered here
        for (int r = 0; r < options.ranks; ++r) {
            pid_t pid = ::fork();
            if (pid < 0) {
                std::fprintf(stderr, "tdlrun: cannot start rank %d: %s\n", r, std::strerror(errno));
                signalAll(SIGKILL);
                while (running > 0 && reap(true)) {}
                return kExitEnvironment;
            }
            if (pid == 0) {
                ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (::getppid() != parent) ::_exit(kExitEnvironment);
                sigprocmask(SIG_SETMASK, &mask, nullptr);
                ::setenv("TDL_RANK", std::to_string(r).c_str(), 1);
                ::setenv("TDL_RANKS", std::to_string(options.ranks).c_str(), 1);
                ::setenv("TDL_SOCKET", socket.c_str(), 1);
                for (auto &[name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
                int status = rankMain(r);
                std::fflush(nullptr);
                ::_exit(status);
            }
            pids.push_back(pid);
            ++running;
        }
        return 0;
    }

    int wait(const sigset_t &handled) {
        auto deadline = options.timeoutMs > 0 ? Clock::now() + std::chrono::milliseconds(options.timeoutMs) : Clock::time_point::max();
        auto term = Clock::time_point::max(), kill = Clock::time_point::max();
        int result = 0, ask = SIGTERM; // what asks the ranks to end
        auto fail = [&](int status, Clock::duration grace) {
            if (result == 0) result = status;
            term = std::min(term, Clock::now() + grace);
        };
        while (running > 0) {
            while (reap(false))
                if (lastFailed) fail(kExitFailed, kGrace);
            if (running == 0) break;
            auto now = Clock::now();
            if (now >= deadline) {
                std::fprintf(stderr, "tdlrun: time-out: %d of %d ranks still run after %d ms\n", running, options.ranks, options.timeoutMs);
                deadline = Clock::time_point::max();
                fail(kExitTimeout, Clock::duration::zero());
            }
            if (now >= term) {
                ending = true;
                signalAll(ask);
                signalAll(SIGCONT); // a stopped rank takes no other signal
                term = Clock::time_point::max();
                kill = now + kTermToKill;
            }
            if (now >= kill) {
                signalAll(SIGKILL);
                kill = Clock::time_point::max();
            }
            timespec tick{0, 50'000'000};
            siginfo_t info;
            int sig = sigtimedwait(&handled, &info, &tick);
            if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP) {
                ask = sig;
                ending = true;
                fail(128 + sig, Clock::duration::zero());
            }
        }
        return result;
    }

    bool lastFailed = false;
    // One ended rank; false if there is none (with `block`: none left).
    bool reap(bool block) {
        int status = 0;
        pid_t pid = ::waitpid(-1, &status, block ? 0 : WNOHANG);
        if (pid <= 0) return false;
        lastFailed = false;
        for (size_t r = 0; r < pids.size(); ++r) {
            if (pids[r] != pid) continue;
            pids[r] = 0;
            --running;
            lastFailed = status != 0;
            if (ending) continue;
            if (WIFEXITED(status) && status != 0 && !blamed) {
                std::fprintf(stderr, "tdlrun: rank %zu ended with status %d\n", r, WEXITSTATUS(status));
                blamed = true;
            }
            if (WIFSIGNALED(status)) std::fprintf(stderr, "tdlrun: rank %zu was ended by signal %d (%s)\n", r, WTERMSIG(status), strsignal(WTERMSIG(status)));
        }
        return true;
    }

    void signalAll(int sig) {
        for (pid_t pid : pids)
            if (pid > 0) ::kill(pid, sig);
    }
};

} // namespace

int launchRanks(const LaunchOptions &options, const std::function<int(int)> &rankMain) { return Group(options).run(rankMain); }

std::string cannotRun(const std::string &program) {
    auto runs = [](const std::string &path) {
        struct stat st;
        if (::stat(path.c_str(), &st) != 0) return errno;
        if (S_ISDIR(st.st_mode)) return EISDIR;
        return ::access(path.c_str(), X_OK) != 0 ? errno : 0;
    };
    int error = ENOENT;
    if (program.find('/') != std::string::npos) {
        error = runs(program);
    } else {
        const char *list = std::getenv("PATH");
        std::stringstream folders(list ? list : "/bin:/usr/bin");
        for (std::string folder; error != 0 && std::getline(folders, folder, ':');)
            if (int e = runs((folder.empty() ? "." : folder) + "/" + program); e != ENOENT && e != EISDIR && e != ENOTDIR) error = e;
    }
    return error == 0 ? "" : std::strerror(error);
}

int execProgram(const std::vector<std::string> &command) {
    std::vector<char *> argv;
    for (const std::string &s : command) argv.push_back(const_cast<char *>(s.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    std::fprintf(stderr, "tdlrun: cannot run `%s`: %s\n", argv[0], std::strerror(errno));
    return kExitEnvironment;
}

} // namespace tdl
