// Starting up: sockets, callbacks, groups, launchers' variables, and all the ways in which it can go wrong.
#include "ranks.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static tdl_status init(const tdl_options &o, std::string *text = nullptr) {
    tdl_ctx *ctx = nullptr;
    tdl_status s = tdl_init(&ctx, &o);
    if (text) *text = s ? tdl_last_error(nullptr) : "";
    if (!s) tdl_finalize(ctx);
    return s;
}

#define CHECK_FAILS(o, status, ...)                                                                          \
    do {                                                                                                     \
        std::string text_;                                                                                   \
        CHECK(init(o, &text_) == status);                                                                    \
        CHECK(missing_part(text_, {__VA_ARGS__}) == "");                                                     \
    } while (0)

TEST_CASE("options are checked") {
    tdl_options o{};
    CHECK(init(o) == TDL_OK); // rank 0 of 1
    o.ranks = -2;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `ranks` is -2: 1 to 256");
    o.ranks = 2, o.rank = 2, o.socket = "x";
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `rank` is 2: 0 to 1 is allowed");
    o.rank = 1, o.socket = nullptr;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "2 ranks, but neither option `socket` nor TDL_SOCKET");
    std::string longer(200, 'x');
    o.socket = longer.c_str();
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `socket` is `xxx", "1 to 100 bytes");
    o = {};
    o.rank = 3;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `rank` is 3, but `ranks` is 0");
    o = {};
    o.threads = 5000;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `threads` is 5000: 1 to 1024, or 0 for the default");
    o = {};
    o.timeout_ms = -1;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `timeout_ms` is -1");
    o = {};
    o.heap_bytes = 100;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `heap_bytes` is 100");
    o = {};
    o.device = "toaster";
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `device` is `toaster`: `host`, `cuda` or `cuda:N` is allowed");
    o = {};
    o.reserved[3] = 1;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `reserved[3]` is not 0");
    tdl_startup u{};
    o = {};
    o.startup = &u;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `startup`: `allgather` is NULL");
    o = {};
    o.heap_bytes = int64_t{1} << 60;
    CHECK_FAILS(o, TDL_OUT_OF_MEMORY, "1152921504606846976 bytes", "heap_bytes");
}

TEST_CASE("environment is checked") {
    const char *names[] = {"TDL_RANK",       "TDL_RANKS",  "TDL_SOCKET", "TDL_THREADS",
                           "TDL_TIMEOUT_MS", "TDL_DEVICE", "TDL_CHAOS",  "TDL_PLAN"};
    auto with = [&](std::vector<std::pair<const char *, const char *>> values, tdl_status status,
                    std::string part) {
        for (const char *n : names) unsetenv(n);
        for (auto &[name, value] : values) setenv(name, value, 1);
        std::string text;
        CHECK(init({}, &text) == status);
        CHECK(missing_part(text, {part}) == "");
        for (const char *n : names) unsetenv(n);
    };
    with({{"TDL_RANK", "0"},
          {"TDL_RANKS", "1"},
          {"TDL_THREADS", "2"},
          {"TDL_CHAOS", "7"},
          {"TDL_DEVICE", "host"}},
         TDL_OK, "");
    with({{"TDL_RANK", "0"}}, TDL_BAD_ARGUMENT, "TDL_RANK is set, but TDL_RANKS is not");
    with({{"TDL_RANKS", "2"}}, TDL_BAD_ARGUMENT, "TDL_RANKS is set, but TDL_RANK is not");
    with({{"TDL_RANK", "2"}, {"TDL_RANKS", "2"}}, TDL_BAD_ARGUMENT,
         "TDL_RANK is `2`: an integer from 0 to 1");
    with({{"TDL_RANK", "x"}, {"TDL_RANKS", "2"}}, TDL_BAD_ARGUMENT, "TDL_RANK is `x`");
    with({{"TDL_RANK", "1"}, {"TDL_RANKS", "2"}}, TDL_BAD_ARGUMENT, "TDL_SOCKET");
    with({{"TDL_THREADS", "0"}}, TDL_BAD_ARGUMENT, "TDL_THREADS is `0`: an integer from 1 to 1024");
    with({{"TDL_TIMEOUT_MS", "10s"}}, TDL_BAD_ARGUMENT, "TDL_TIMEOUT_MS is `10s`");
    with({{"TDL_DEVICE", "tpu"}}, TDL_BAD_ARGUMENT, "TDL_DEVICE is `tpu`");
}

TEST_CASE("launchers' variables") {
    struct Launcher {
        const char *rank, *ranks, *job;
    };
    for (Launcher l : {Launcher{"TDL_RANK", "TDL_RANKS", "TDL_SOCKET"},
                       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid"},
                       {"PMI_RANK", "PMI_SIZE", nullptr},
                       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"},
                       {"RANK", "WORLD_SIZE", "MASTER_PORT"}}) {
        CAPTURE(l.rank);
        std::string job = std::to_string(getpid());
        CHECK_BARE(Mode::processes, 3, [=](Rank &me) -> std::string {
            setenv(l.rank, std::to_string(me.rank).c_str(), 1);
            setenv(l.ranks, "3", 1);
            if (l.job) setenv(l.job, job.c_str(), 1);
            EXPECT_OK(me, tdl_init(&me.ctx, nullptr));
            EXPECT(tdl_rank(me.ctx) == me.rank);
            EXPECT(tdl_ranks(me.ctx) == 3);
            EXPECT(tdl_finalize(me.ctx) == TDL_OK);
            return "";
        });
    }
}

TEST_CASE("limits of the process make smaller heaps") {
    for (int what : {RLIMIT_AS, RLIMIT_FSIZE}) {
        CAPTURE(what);
        CHECK_BARE(Mode::processes, 3, [what](Rank &me) -> std::string {
            rlimit limit{rlim_t{1} << 33, rlim_t{1} << 33}; // the parent has had many threads, whose stacks and arenas count
            if (under_sanitizer() && what == RLIMIT_AS) return ""; // needs terabytes of address space itself
            EXPECT(setrlimit(static_cast<__rlimit_resource>(what), &limit) == 0);
            EXPECT_OK(me, tdl_init(&me.ctx, &me.options));
            Gather g(me.ctx, 9, 3);
            g.fill(1);
            EXPECT_OK(me, g.launch());
            EXPECT(tdl_finalize(me.ctx) == TDL_OK);
            me.ctx = nullptr;
            EXPECT(g.check(1) == "");
            me.options.heap_bytes = int64_t{1} << 34; // more than is allowed: refused, or the largest there can be
            tdl_status s = tdl_init(&me.ctx, &me.options);
            EXPECT(s == (what == RLIMIT_AS ? TDL_OUT_OF_MEMORY : TDL_OK));
            tdl_finalize(me.ctx);
            return "";
        });
    }
}

// What one call of tdl_init writes to stderr.
static std::string warning(std::vector<std::pair<const char *, const char *>> values) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    Processes one(1, [&](Rank &me) -> std::string {
        dup2(ends[1], 2);
        for (auto &[name, value] : values) setenv(name, value, 1);
        EXPECT_OK(me, tdl_init(&me.ctx, nullptr));
        EXPECT(tdl_ranks(me.ctx) == 1);
        EXPECT(tdl_finalize(me.ctx) == TDL_OK);
        return "";
    });
    CHECK(one.finish() == "");
    close(ends[1]);
    char text[1000];
    ssize_t n = read(ends[0], text, sizeof text);
    close(ends[0]);
    return std::string(text, n > 0 ? static_cast<size_t>(n) : 0);
}

TEST_CASE("a launcher that does not say who this is: a loud word") {
    CHECK(warning({}) == "");
    CHECK(missing_part(warning({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}),
                       {"rank 0 of 1", "SLURM_NTASKS is 4", "tdlrun"}) == "");
    CHECK(missing_part(warning({{"WORLD_SIZE", "8"}}), {"rank 0 of 1", "WORLD_SIZE is 8"}) == "");
}

// Callbacks over sockets that the test makes: an all-gather through rank 0.
struct Star {
    int rank, ranks;
    std::vector<int> fds;
};

static int star_allgather(void *user, const void *mine, void *all, size_t bytes) {
    auto *s = static_cast<Star *>(user);
    auto at = [&](int r) { return static_cast<char *>(all) + static_cast<size_t>(r) * bytes; };
    size_t total = bytes * static_cast<size_t>(s->ranks);
    memcpy(at(s->rank), mine, bytes);
    if (s->rank)
        return send(s->fds[0], mine, bytes, 0) < 0 ||
               recv(s->fds[0], all, total, MSG_WAITALL) != static_cast<ssize_t>(total);
    for (int r = 1; r < s->ranks; r++)
        if (recv(s->fds[static_cast<size_t>(r)], at(r), bytes, MSG_WAITALL) < 0) return 1;
    for (int r = 1; r < s->ranks; r++)
        if (send(s->fds[static_cast<size_t>(r)], all, total, 0) < 0) return 1;
    return 0;
}
static int star_barrier(void *) {
    return 0;
}
static int broken_allgather(void *, const void *, void *, size_t) {
    return 7;
}

TEST_CASE("start-up by callbacks") {
    constexpr int ranks = 4;
    int pairs[ranks][2];
    for (auto &p : pairs) REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, p) == 0);
    CHECK_BARE(Mode::processes, ranks, [&](Rank &me) -> std::string {
        Star star{me.rank, ranks, {}};
        if (me.rank)
            star.fds = {pairs[me.rank][1]};
        else
            for (auto &p : pairs) star.fds.push_back(p[0]);
        tdl_startup u{me.rank, ranks, star_allgather, star_barrier, &star};
        tdl_options o{};
        o.startup = &u;
        for (int i = 0; i < 3; i++) {
            EXPECT_OK(me, tdl_init(&me.ctx, &o));
            EXPECT(tdl_rank(me.ctx) == me.rank);
            Gather g(me.ctx, 9, 3);
            g.fill(i);
            EXPECT_OK(me, g.launch());
            EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
            EXPECT(g.check(i) == "");
            EXPECT(tdl_finalize(me.ctx) == TDL_OK);
            me.ctx = nullptr;
        }
        return "";
    });
    for (auto &p : pairs) close(p[0]), close(p[1]);

    tdl_startup u{0, 2, broken_allgather, star_barrier, nullptr};
    tdl_options o{};
    o.startup = &u;
    CHECK_FAILS(o, TDL_SYSTEM_ERROR, "`allgather` of option `startup` returned 7");
}

TEST_CASE("ranks that never come") {
    tdl_options o{};
    std::string name = unique_name();
    o.ranks = 3, o.socket = name.c_str(), o.startup_timeout_ms = 100;
    CHECK_FAILS(o, TDL_TIMEOUT, "rank 0 of 3 waited 100 ms at socket `" + name + "` for rank 1, 2");
    o.rank = 1;
    CHECK_FAILS(o, TDL_TIMEOUT, "rank 0 has not opened socket `" + name + "`");
    tdl_group *group = nullptr;
    REQUIRE(tdl_group_create(2, &group) == TDL_OK);
    o = {};
    o.group = group, o.startup_timeout_ms = 100;
    CHECK_FAILS(o, TDL_TIMEOUT, "rank 0 of a group of 2 threads waited 100 ms for rank 1");
    o.rank = 2;
    CHECK_FAILS(o, TDL_BAD_ARGUMENT, "option `rank` is 2: 0 to 1 is allowed in this group");
    tdl_group_destroy(group);
}

TEST_CASE("ranks that disagree") {
    // Two of rank 1, another number of ranks, another plan.
    for (int what : {0, 1, 2}) {
        CAPTURE(what);
        CHECK_BARE(Mode::processes, 3, [&](Rank &me) -> std::string {
            if (what == 0 && me.rank == 2) me.options.rank = 1;
            if (what == 1 && me.rank == 2) me.options.ranks = 4;
            if (what == 2 && me.rank == 2) me.options.plan = "other";
            me.options.startup_timeout_ms = 500;
            tdl_status s = tdl_init(&me.ctx, &me.options);
            // One may come too late for the words, or for the socket.
            EXPECT((s == TDL_MISMATCH || (what < 2 && (s == TDL_PEER_LOST || s == TDL_TIMEOUT))));
            std::string text = tdl_last_error(nullptr);
            if (me.rank == 0 && what == 0) EXPECT_TEXT(text, "two processes say that they are rank 1");
            if (me.rank == 0 && what == 1)
                EXPECT_TEXT(text, "rank 0 was started as one of 3 ranks, rank 2 as one of 4");
            if (me.rank == 0 && what == 2)
                EXPECT_TEXT(text, "plan (option `plan` or TDL_PLAN) is `` on rank 0, but `other` on rank 2");
            return "";
        });
    }
}

TEST_CASE("a rank that dies during start-up") {
    Processes group(3, [](Rank &me) -> std::string {
        if (me.rank == 2) {
            sockaddr_un a{}; // says hello wrongly and dies
            a.sun_family = AF_UNIX;
            strcpy(a.sun_path + 1, me.options.socket);
            int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
            for (int i = 0;
                 i < 1000 &&
                 connect(fd, reinterpret_cast<sockaddr *>(&a),
                         static_cast<socklen_t>(sizeof(sa_family_t) + 1 + strlen(me.options.socket)));
                 i++)
                usleep(1000);
            _exit(0);
        }
        me.options.startup_timeout_ms = 500;
        tdl_status s = tdl_init(&me.ctx, &me.options);
        EXPECT(s == TDL_TIMEOUT || s == TDL_PEER_LOST);
        if (me.rank == 0) EXPECT_TEXT(tdl_last_error(nullptr), "for rank 2");
        return "";
    });
    CHECK(group.finish() == "");
}

static std::vector<std::string> entries(const char *folder) {
    std::vector<std::string> names;
    if (DIR *d = opendir(folder)) {
        while (dirent *e = readdir(d)) names.push_back(e->d_name);
        closedir(d);
    }
    return names;
}

TEST_CASE("nothing is left behind: files, descriptors, threads") {
        CHECK_BARE(Mode::processes, 3, [](Rank &me) -> std::string {
        EXPECT_OK(me, tdl_init(&me.ctx, &me.options));
        EXPECT(tdl_finalize(me.ctx) == TDL_OK);
        size_t fds = entries("/proc/self/fd").size(), threads = entries("/proc/self/task").size();
        for (int i = 0; i < 5; i++) {
            EXPECT_OK(me, tdl_init(&me.ctx, &me.options));
            Gather g(me.ctx, 5, 5);
            g.fill(0);
            EXPECT_OK(me, g.launch());
            EXPECT(tdl_finalize(me.ctx) == TDL_OK);
            me.ctx = nullptr;
        }
        for (int i = 0; i < 3; i++) { // failures, too
            tdl_options o = me.options;
            o.rank = 0, o.ranks = 2, o.startup_timeout_ms = 20;
            std::string name = unique_name();
            o.socket = name.c_str();
            EXPECT(tdl_init(&me.ctx, &o) == TDL_TIMEOUT);
        }
        EXPECT(entries("/proc/self/fd").size() == fds);
        EXPECT(entries("/proc/self/task").size() == threads);
        return "";
    });
    for (const char *folder : {"/dev/shm", "/tmp", "."})
        for (const std::string &name : entries(folder)) CHECK(name.find("tdl-test.") == std::string::npos);
}
