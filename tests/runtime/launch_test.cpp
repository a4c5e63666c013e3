// Launches that succeed: right data for every number of ranks, in threads and processes, back to back, mixed.
#include "ranks.h"

#include <cstdlib>
#include <cstring>
#include <ctime>

static const Mode modes[] = {Mode::threads, Mode::processes};

TEST_CASE("all-gather on 1 to 8 ranks") {
    for (Mode mode : modes)
        for (int ranks : {1, 2, 3, 4, 5, 8}) {
            CAPTURE(ranks);
            CHECK_RANKS(mode, ranks, [](Rank &me) -> std::string {
                for (int64_t M : {0, 1, 3, 8, 13}) {
                    Gather g(me.ctx, M, 5);
                    EXPECT_OK(me, tdl_prepare(me.ctx, &fake_ag_kernel, &g.args));
                    for (int step = 0; step < 3; step++) {
                        g.fill(step);
                        EXPECT_OK(me, g.launch());
                        EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
                        EXPECT(g.check(step) == "");
                    }
                }
                return "";
            });
        }
}

TEST_CASE("several workers per rank, both plans, chaos") {
    for (const char *plan : {"rows", "halves"})
        for (uint64_t seed : {0, 1, 2, 3}) {
            CAPTURE(plan);
            CHECK_RANKS(
                Mode::threads, 3,
                [](Rank &me) -> std::string {
                    Gather g(me.ctx, 20, 3);
                    for (int step = 0; step < 20; step++) {
                        g.fill(step);
                        EXPECT_OK(me, g.launch());
                        EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
                        EXPECT(g.check(step) == "");
                    }
                    return "";
                },
                [&](tdl_options &o) {
                    o.threads = 1 + o.rank; // differs between ranks
                    o.plan = plan;
                    o.chaos = seed;
                });
        }
}

// Launches follow each other without any host synchronisation; every launch reads another input.
static std::string back_to_back(Rank &me, int launches) {
    std::vector<Gather> sets;
    for (int i = 0; i < 4; i++) sets.emplace_back(me.ctx, 9, 4);
    for (Gather &g : sets) g.args.A = g.A.data(), g.args.C = g.C.data();
    for (int step = 0; step < launches; step++) {
        Gather &g = sets[static_cast<size_t>(step % 4)];
        if (step >= 4 && step % 4 == 0) {
            EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
            for (int i = 0; i < 4; i++) EXPECT(sets[static_cast<size_t>(i)].check(step - 4 + i) == "");
        }
        g.fill(step);
        EXPECT_OK(me, g.launch());
    }
    EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
    return "";
}

TEST_CASE("1000 launches back to back on 8 ranks") {
    for (Mode mode : modes) {
        double start = seconds();
        CHECK_RANKS(mode, 8, [](Rank &me) { return back_to_back(me, 1000); });
        MESSAGE(std::string(mode == Mode::threads ? "threads: " : "processes: ")
                << seconds() - start << " s");
    }
}

TEST_CASE("many more launches than the queue holds") {
    for (Mode mode : modes)
        for (int threads : {1, 3})
            CHECK_RANKS(mode, 3, [](Rank &me) -> std::string {
                Gather g(me.ctx, 9, 4);
                std::vector<float> x(64, 2.0f), y(64, 0.0f);
                fake_axpy_args axpy{64, 0.5f, x.data(), y.data()};
                g.fill(1);
                for (int i = 0; i < 300; i++) {
                    EXPECT_OK(me, g.launch());
                    EXPECT_OK(me, tdl_launch(me.ctx, &fake_axpy_kernel, &axpy, nullptr));
                }
                EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
                EXPECT(y[63] == 300.0f);
                return g.check(1);
            }, [&](tdl_options &o) { o.threads = threads; });
}

TEST_CASE("two kernels and two sizes alternate in one context") {
    for (Mode mode : modes)
        CHECK_RANKS(mode, 4, [](Rank &me) -> std::string {
            Gather a(me.ctx, 11, 3), b(me.ctx, 6, 7), c(me.ctx, 11, 3);
            std::vector<float> x(64, 2.0f), y(64, 0.0f);
            fake_axpy_args axpy{64, 0.5f, x.data(), y.data()};
            EXPECT_OK(me, tdl_prepare(me.ctx, &fake_ag_kernel, &b.args));
            EXPECT_OK(me, tdl_prepare(me.ctx, &fake_mirror_kernel, &c.args));
            EXPECT_OK(me, tdl_prepare(me.ctx, &fake_axpy_kernel, &axpy));
            for (int step = 0; step < 100; step++) {
                a.fill(step), b.fill(step + 1), c.fill(step + 2);
                EXPECT_OK(me, a.launch());
                if (step % 3 == 0) EXPECT_OK(me, tdl_launch(me.ctx, &fake_axpy_kernel, &axpy, nullptr));
                EXPECT_OK(me, c.launch(fake_mirror_kernel));
                if (step % 2 == 0) EXPECT_OK(me, b.launch());
                EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
                EXPECT(a.check(step) == "");
                EXPECT(c.check(step + 2, -1) == "");
                if (step % 2 == 0) EXPECT(b.check(step + 1) == "");
            }
            EXPECT(y[63] == 34.0f);
            return "";
        });
}

TEST_CASE("a slow rank delays the others and harms nobody") {
    CHECK_RANKS(Mode::processes, 3, [](Rank &me) -> std::string {
        fake_hook = [](int64_t rank, uint64_t epoch, int64_t) {
            if (static_cast<uint64_t>(rank) == epoch % 4) {
                timespec nap{0, 2000000};
                nanosleep(&nap, nullptr);
            }
        };
        return back_to_back(me, 60);
    });
}

TEST_CASE("two contexts in one process") {
    for (Mode mode : modes)
        CHECK_BARE(mode, 3, [](Rank &me) -> std::string {
            tdl_ctx *one = nullptr, *two = nullptr;
            EXPECT_OK(me, tdl_init(&one, &me.options));
            EXPECT_OK(me, tdl_init(&two, &me.options));
            Gather a(one, 10, 3), b(two, 7, 5);
            for (int step = 0; step < 50; step++) {
                a.fill(step), b.fill(step + 5);
                EXPECT(a.launch() == TDL_OK);
                EXPECT(b.launch(fake_mirror_kernel) == TDL_OK);
                EXPECT(tdl_synchronize(two, nullptr) == TDL_OK);
                EXPECT(b.check(step + 5, -1) == "");
                EXPECT(tdl_synchronize(one, nullptr) == TDL_OK);
                EXPECT(a.check(step) == "");
            }
            EXPECT(tdl_finalize(one) == TDL_OK);
            b.fill(0);
            EXPECT(b.launch() == TDL_OK);
            EXPECT(tdl_synchronize(two, nullptr) == TDL_OK);
            EXPECT(b.check(0) == "");
            EXPECT(tdl_finalize(two) == TDL_OK);
            return "";
        });
}

TEST_CASE("init and finalize 100 times") {
    for (Mode mode : modes)
        CHECK_BARE(mode, 3, [](Rank &me) -> std::string {
            for (int i = 0; i < 100; i++) {
                EXPECT_OK(me, tdl_init(&me.ctx, &me.options));
                Gather g(me.ctx, 4, 2);
                g.fill(i);
                EXPECT_OK(me, g.launch());
                EXPECT(tdl_finalize(me.ctx) == TDL_OK);
                me.ctx = nullptr;
                EXPECT(g.check(i) == "");
            }
            return "";
        });
}

TEST_CASE("needs prepare") {
    for (Mode mode : modes)
        CHECK_RANKS(mode, 2, [](Rank &me) -> std::string {
            Gather small(me.ctx, 4, 4), large(me.ctx, 400, 4), wide(me.ctx, 4, 300);
            small.fill(0);
            EXPECT_OK(me, small.launch()); // prepares
            EXPECT_STATUS(me, large.launch(), TDL_NEEDS_PREPARE);
            EXPECT_TEXT(tdl_last_error(me.ctx), "`fake_ag` (plan `rows`) M=400 N=4",
                        "6400 in buffers of peers", "prepared are 256", "fake_ag_prepare");
            EXPECT_STATUS(me, wide.launch(), TDL_NEEDS_PREPARE);
            EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr)); // not an error that stays
            EXPECT_OK(me, tdl_prepare(me.ctx, &fake_ag_kernel, &large.args));
            EXPECT_OK(me, tdl_prepare(me.ctx, &fake_ag_kernel, &wide.args));
            large.fill(1), wide.fill(2);
            EXPECT_OK(me, large.launch());
            EXPECT_OK(me, wide.launch());
            EXPECT_OK(me, small.launch());
            EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
            EXPECT(large.check(1) == "");
            EXPECT(wide.check(2) == "");
            EXPECT(small.check(0) == "");
            return "";
        });
}

TEST_CASE("strided tensors") {
    CHECK_RANKS(Mode::threads, 2, [](Rank &me) -> std::string {
        Gather g(me.ctx, 5, 3);
        g.fill(1);
        std::vector<float> A(3 * 10, -7.0f), C(5 * 6, -7.0f);
        for (int i = 0; i < g.count; i++)
            memcpy(&A[static_cast<size_t>(10 * i)], &g.A[static_cast<size_t>(3 * i)], 12);
        g.args.A = A.data(), g.args.A_stride[0] = 10;
        g.args.C = C.data(), g.args.C_stride[0] = 6;
        EXPECT_OK(me, g.launch());
        EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
        for (int i = 0; i < 5; i++)
            memcpy(&g.C[static_cast<size_t>(3 * i)], &C[static_cast<size_t>(6 * i)], 12);
        EXPECT(g.check(1) == "");
        EXPECT(C[5] == -7.0f);
        return "";
    });
}

TEST_CASE("symmetric memory") {
    for (Mode mode : modes)
        CHECK_RANKS(mode, 3, [](Rank &me) -> std::string {
            void *p = nullptr, *q = nullptr, *r = nullptr;
            EXPECT_OK(me, tdl_alloc(me.ctx, 100000, &p));
            EXPECT_OK(me, tdl_alloc(me.ctx, 1, &q));
            EXPECT_OK(me, tdl_alloc(me.ctx, 0, &r));
            EXPECT(p && q && !r && p != q);
            EXPECT(reinterpret_cast<uintptr_t>(p) % 4096 == 0);
            memset(p, 1, 100000);
            memset(q, 2, 1);
            EXPECT_OK(me, tdl_free(me.ctx, p));
            EXPECT_OK(me, tdl_alloc(me.ctx, 50000, &r)); // in the gap, zeroed
            EXPECT(static_cast<char *>(r)[0] == 0);
            EXPECT(static_cast<char *>(q)[0] == 2);
            EXPECT_OK(me, tdl_free(me.ctx, nullptr));
            EXPECT_STATUS(me, tdl_free(me.ctx, static_cast<char *>(q) + 1), TDL_BAD_ARGUMENT);
            EXPECT_STATUS(me, tdl_alloc(me.ctx, me.rank == 1 ? 10 : 20, &p), TDL_MISMATCH);
            EXPECT_TEXT(tdl_last_error(me.ctx), "tdl_alloc", "10", "20");
            EXPECT_STATUS(me, tdl_alloc(me.ctx, SIZE_MAX, &p), TDL_OUT_OF_MEMORY);
            Gather g(me.ctx, 5, 3); // a tensor in it
            g.fill(3);
            g.args.C = static_cast<float *>(r);
            EXPECT_OK(me, g.launch());
            EXPECT_OK(me, tdl_synchronize(me.ctx, nullptr));
            memcpy(g.C.data(), r, 60);
            EXPECT(g.check(3) == "");
            return "";
        });
}
