// Launches that fail: every rank gets an error with the same story, in time, and a reset brings the context
// back.
#include "ranks.h"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <random>

static const Mode modes[] = {Mode::threads, Mode::processes};

static void nap(double s) {
    timespec t{static_cast<time_t>(s),
               static_cast<long>((s - static_cast<double>(static_cast<time_t>(s))) * 1e9)};
    nanosleep(&t, nullptr);
}

static std::string works(Rank &me, int step) {
    Gather g(me.ctx, 7, 3);
    g.fill(step);
    EXPECT_OK(me, g.launch());
    EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
    return g.check(step);
}

// Ranks may come to the reset at different times.
static tdl_status patient_reset(tdl_ctx *ctx) {
    tdl_status s = TDL_TIMEOUT;
    for (int i = 0; s == TDL_TIMEOUT && i < 20; i++) s = tdl_reset(ctx);
    return s;
}

TEST_CASE("time-out: the report") {
    for (Mode mode : modes) {
        CHECK_RANKS(
            mode, 3,
            [](Rank &me) -> std::string {
                EXPECT(works(me, 0) == "");
                fake_stuck_args a{5};
                double start = seconds();
                EXPECT_OK(me, tdl_launch(me.ctx, &fake_stuck_kernel, &a, nullptr));
                EXPECT_STATUS(me, tdl_synchronize(me.ctx, nullptr), TDL_TIMEOUT);
                double took = seconds() - start;
                EXPECT(took >= 0.29);
                EXPECT(took < 1.3);
                std::string text = tdl_last_error(me.ctx);
                EXPECT_TEXT(text, " of 3: no progress for 3",
                            "fake.tdl:42:17: kernel `fake_stuck` (plan `only`) N=5, launch 2, "
                            "task `wait` tile (1, 2), ticket 7",
                            "waits for flag `never`[2] to reach 2; it is ", "rank ", " is in launch 2");
                // Refused until the reset, with the same text.
                EXPECT_STATUS(me, tdl_launch(me.ctx, &fake_stuck_kernel, &a, nullptr), TDL_TIMEOUT);
                EXPECT(text == tdl_last_error(me.ctx));
                EXPECT_STATUS(me, tdl_prepare(me.ctx, &fake_stuck_kernel, &a), TDL_TIMEOUT);
                void *p;
                EXPECT_STATUS(me, tdl_alloc(me.ctx, 1, &p), TDL_TIMEOUT);
                EXPECT_OK(me, patient_reset(me.ctx));
                EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
                for (int step = 0; step < 5; step++) EXPECT(works(me, step) == "");
                return "";
            },
            [](tdl_options &o) { o.timeout_ms = 300; });
    }
}

TEST_CASE("launches queued behind a failing one do not run") {
    CHECK_RANKS(
        Mode::threads, 2,
        [](Rank &me) -> std::string {
            EXPECT(works(me, 0) == "");
            fake_stuck_args a{5};
            Gather g(me.ctx, 7, 3);
            g.fill(0);
            EXPECT_OK(me, tdl_launch(me.ctx, &fake_stuck_kernel, &a, nullptr));
            for (int i = 0; i < 3; i++) (void)g.launch(); // may be refused already
            EXPECT_STATUS(me, tdl_synchronize(me.ctx, nullptr), TDL_TIMEOUT);
            EXPECT(g.C[0] == -1.0f);
            for (int i = 0; i < 3; i++) {
                EXPECT_OK(me, patient_reset(me.ctx));
                EXPECT(works(me, i) == "");
            }
            return "";
        },
        [](tdl_options &o) { o.timeout_ms = 100; });
}

TEST_CASE("a rank that does not launch") {
    CHECK_RANKS(
        Mode::processes, 3,
        [](Rank &me) -> std::string {
            Gather g(me.ctx, 7, 3);
            EXPECT(works(me, 0) == "");
            if (me.rank == 1) {
                nap(0.6);
            } else {
                g.fill(1);
                EXPECT_OK(me, g.launch());
            }
            EXPECT_STATUS(me, tdl_synchronize(me.ctx, nullptr), TDL_TIMEOUT);
            EXPECT_TEXT(tdl_last_error(me.ctx), "kernel `fake_ag`", "task `", "waits for flag `arrived`[",
                        "rank 1 (process ", ") has finished launch 1 and not started the next");
            EXPECT_OK(me, patient_reset(me.ctx));
            return works(me, 2);
        },
        [](tdl_options &o) { o.timeout_ms = 300; });
}

TEST_CASE("mismatch: another size, kernel, scalar") {
    for (Mode mode : modes)
        for (int what : {0, 1, 2}) {
            CAPTURE(what);
#ifdef __SANITIZE_THREAD__
            // Different kernels do write the same scratch at the same time until the difference is noticed.
            if (mode == Mode::threads && what < 2) continue;
#endif
            CHECK_RANKS(mode, 3, [what](Rank &me) -> std::string {
                Gather g(me.ctx, 8, 4), h(me.ctx, 9, 4);
                std::vector<float> x(8), y(8);
                fake_axpy_args axpy{8, me.rank == 2 ? 1.0f : 2.0f, x.data(), y.data()};
                g.fill(0), h.fill(0);
                EXPECT_OK(me, tdl_prepare(me.ctx, &fake_ag_kernel, &h.args));
                EXPECT_OK(me, tdl_prepare(me.ctx, &fake_mirror_kernel, &h.args));
                axpy.alpha = 3;
                EXPECT_OK(me, tdl_prepare(me.ctx, &fake_axpy_kernel, &axpy));
                axpy.alpha = me.rank == 2 ? 1.0f : 2.0f;
                double start = seconds();
                tdl_status s;
                if (what == 0)
                    s = (me.rank == 2 ? h : g).launch();
                else if (what == 1)
                    s = g.launch(me.rank == 2 ? fake_mirror_kernel : fake_ag_kernel);
                else
                    s = tdl_launch(me.ctx, &fake_axpy_kernel, &axpy, nullptr);
                if (s == TDL_OK) s = tdl_synchronize(me.ctx, nullptr);
                // A rank that needs nothing of others may have ended before; it learns of it at its next
                // launches.
                for (int i = 0; s == TDL_OK && i < 3; i++) {
                    s = tdl_launch(me.ctx, &fake_axpy_kernel, &axpy, nullptr);
                    if (s == TDL_OK) s = tdl_synchronize(me.ctx, nullptr);
                }
                EXPECT_STATUS(me, s, TDL_MISMATCH);
                EXPECT(seconds() - start < 1.5); // by comparison, not by time-out
                std::string text = tdl_last_error(me.ctx);
                EXPECT_TEXT(text, "ranks launch different kernels", "rank 2: ");
                if (what == 0)
                    EXPECT_TEXT(text, "`fake_ag` (plan `rows`) M=8 N=4",
                                "rank 2: `fake_ag` (plan `rows`) M=9 N=4");
                if (what == 1)
                    EXPECT_TEXT(text, "`fake_ag` (plan `rows`) M=8 N=4",
                                "rank 2: `fake_mirror` (plan `rows`) M=8 N=4");
                if (what == 2)
                    EXPECT_TEXT(text, "N=8 alpha=2", "rank 2: `fake_axpy` (plan `only`) N=8 alpha=1");
                EXPECT_OK(me, patient_reset(me.ctx));
                return works(me, 1);
            });
        }
}

TEST_CASE("mismatch: different calls, first launches, prepare") {
    for (Mode mode : modes)
        CHECK_RANKS(mode, 2, [](Rank &me) -> std::string {
            Gather g(me.ctx, 8, 4), h(me.ctx, 9, 4);
            g.fill(0);
            void *p;
            tdl_status s = me.rank ? g.launch() : tdl_alloc(me.ctx, 16, &p);
            EXPECT_STATUS(me, s, TDL_MISMATCH);
            EXPECT_TEXT(tdl_last_error(me.ctx), "rank 0: tdl_alloc",
                        "rank 1: fake.tdl:3: preparing kernel `fake_ag` (plan `rows`) M=8 N=4");
            EXPECT_STATUS(me, tdl_prepare(me.ctx, &fake_ag_kernel, me.rank ? &g.args : &h.args),
                          TDL_MISMATCH);
            EXPECT_TEXT(tdl_last_error(me.ctx), "M=8 N=4", "M=9 N=4");
            EXPECT(works(me, 0) == ""); // both calls failed together: nothing is spoilt
            EXPECT_OK(me, tdl_prepare(me.ctx, &fake_ag_kernel, &h.args));
            // A collective call against a launch.
            s = me.rank ? g.launch() : tdl_alloc(me.ctx, 16, &p);
            if (s == TDL_OK) s = tdl_synchronize(me.ctx, nullptr);
            EXPECT_STATUS(me, s, TDL_MISMATCH);
            EXPECT_TEXT(tdl_last_error(me.ctx), "collective call", "tdl_alloc");
            EXPECT_OK(me, patient_reset(me.ctx));
            return works(me, 1);
        });
}

TEST_CASE("an object that contradicts itself") {
    CHECK_RANKS(Mode::threads, 2, [](Rank &me) -> std::string {
        fake_stuck_args a{5};
        (void)tdl_launch(me.ctx, &fake_wild_kernel, &a, nullptr); // the other rank may have found it already
        EXPECT_STATUS(me, tdl_synchronize(me.ctx, nullptr), TDL_INTERNAL_ERROR);
        EXPECT_TEXT(tdl_last_error(me.ctx), "a flag outside of its array", "kernel `fake_wild`",
                    "tile (1, 2)");
        EXPECT_OK(me, patient_reset(me.ctx));
        return works(me, 1);
    });
}

TEST_CASE("a rank finalises while others go on") {
    for (Mode mode : modes)
        CHECK_RANKS(mode, 3, [](Rank &me) -> std::string {
            if (me.rank == 1) {
                Gather g(me.ctx, 7, 3);
                EXPECT_OK(me, g.launch());
                (void)tdl_synchronize(me.ctx,
                                      nullptr); // others may already miss this rank in the next launch
                return "";
            }
            double start = seconds();
            tdl_status s = TDL_OK;
            while (s == TDL_OK && seconds() - start < 5) {
                Gather g(me.ctx, 7, 3);
                s = g.launch();
                if (s == TDL_OK) s = tdl_synchronize(me.ctx, nullptr);
            }
            EXPECT_STATUS(me, s, TDL_PEER_LOST);
            EXPECT(seconds() - start < 1);
            EXPECT_TEXT(tdl_last_error(me.ctx), "kernel `fake_ag`", "rank 1",
                        "has finalised its context after launch 1");
            EXPECT_STATUS(me, tdl_reset(me.ctx), TDL_PEER_LOST);
            EXPECT_TEXT(tdl_last_error(me.ctx), " is gone");
            return "";
        });
}

TEST_CASE("reset waits for all, and can be repeated") {
    CHECK_RANKS(
        Mode::threads, 2,
        [](Rank &me) -> std::string {
            EXPECT(works(me, 0) == "");
            if (me.rank == 0) {
                EXPECT_STATUS(me, tdl_reset(me.ctx), TDL_TIMEOUT);
                EXPECT_TEXT(tdl_last_error(me.ctx), "tdl_reset waited 100 ms for rank 1");
            } else {
                nap(0.15);
            }
            EXPECT_OK(me, patient_reset(me.ctx));
            return works(me, 1);
        },
        [](tdl_options &o) { o.timeout_ms = 100; });
}

// Loops over launches until one fails; says when, and with what.
static std::string until_failure(Rank &me, tdl_status expected, std::vector<std::string> parts,
                                 double latest) {
    Gather g(me.ctx, 12, 50);
    tdl_status s = TDL_OK;
    for (int step = 0; s == TDL_OK && seconds() < latest + 5; step++) {
        if (step % 3 == 0) g.fill(step);
        s = g.launch();
        if (s == TDL_OK && step % 3 == 2) s = tdl_synchronize(me.ctx, nullptr);
    }
    double now = seconds();
    std::string text = tdl_last_error(me.ctx);
    tdl_status again = tdl_synchronize(me.ctx, nullptr); // launches before may still use the tensors
    EXPECT_STATUS(me, s, expected);
    EXPECT(now < latest);
    EXPECT(again == expected);
    std::string missing = missing_part(text, parts);
    return missing.empty() ? "" : failed_line(__FILE__, __LINE__, missing);
}

TEST_CASE("a rank is killed at a random moment") {
    std::mt19937 random(static_cast<unsigned>(time(nullptr)));
    const char *tries = getenv("TDL_TEST_KILLS");
    for (int n = tries ? atoi(tries) : 8; n > 0; n--) {
        int ranks = 2 + static_cast<int>(random() % 4),
            victim = static_cast<int>(random() % static_cast<unsigned>(ranks));
        double when = seconds() + 0.02 + static_cast<double>(random() % 1000) * 5e-5;
        CAPTURE(ranks);
        CAPTURE(victim);
        Processes group(
            ranks,
            [=](Rank &me) -> std::string {
                tdl_status s = tdl_init(&me.ctx, &me.options);
                if (s != TDL_OK && me.rank != victim) // killed before it joined
                    return s == TDL_PEER_LOST || s == TDL_TIMEOUT ? "" : tdl_last_error(nullptr);
                std::string result =
                    until_failure(me, TDL_PEER_LOST,
                                  {"rank " + std::to_string(victim), "fake_ag", "fake.tdl:"}, when + 0.5);
                EXPECT(tdl_finalize(me.ctx) == TDL_PEER_LOST);
                return result;
            },
            [](tdl_options &o) { o.startup_timeout_ms = 2000; });
        nap(when - seconds() > 0 ? when - seconds() : 0);
        kill(group.pid(victim), SIGKILL);
        CHECK(group.finish(victim) == "");
    }
}

TEST_CASE("a rank is stopped at a random moment") {
    std::mt19937 random(static_cast<unsigned>(time(nullptr)));
    const char *tries = getenv("TDL_TEST_STOPS");
    for (int n = tries ? atoi(tries) : 3; n > 0; n--) {
        int ranks = 2 + static_cast<int>(random() % 3),
            victim = static_cast<int>(random() % static_cast<unsigned>(ranks));
        double when = seconds() + 0.15 + static_cast<double>(random() % 1000) * 5e-5;
        Processes group(
            ranks,
            [=](Rank &me) -> std::string {
                EXPECT_OK(me, tdl_init(&me.ctx, &me.options));
                double latest = me.rank == victim ? when + 10 : when + 0.3 + 1;
                std::string result = until_failure(
                    me, TDL_TIMEOUT, {"no progress for", "fake.tdl:", "kernel `fake_ag`", "it is stopped"},
                    latest);
                if (!result.empty()) return result;
                // The stopped rank goes on, finds the others' verdict, and all can be reset.
                EXPECT_OK(me, patient_reset(me.ctx));
                result = works(me, 1);
                EXPECT(tdl_finalize(me.ctx) == TDL_OK);
                return result;
            },
            [](tdl_options &o) { o.timeout_ms = 300; });
        nap(when - seconds());
        kill(group.pid(victim), SIGSTOP);
        nap(1.4);
        kill(group.pid(victim), SIGCONT);
        CHECK(group.finish() == "");
    }
}
