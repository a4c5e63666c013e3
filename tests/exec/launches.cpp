// Many launches of generated kernels, as a program would do them: data change with every launch, ranks never meet except
// through the kernels. Run by launches.sh on several ranks; its arguments say what to do.
//
//     launches back-to-back N     N launches of all_gather; every output of every launch is checked
//     launches alternate N        two contexts and two kernels in turns
//     launches restart N          N times init, a launch, finalize
#include "kernels.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct Context {
    tdl_ctx *ctx = nullptr;
    Context() {
        if (tdl_status s = tdl_init(&ctx, nullptr)) fail(s);
    }
    ~Context() { tdl_finalize(ctx); }
    void check(tdl_status s) const {
        if (s) fail(s);
    }
    [[noreturn]] void fail(tdl_status s) const {
        std::fprintf(stderr, "%s: %s\n", tdl_status_string(s), tdl_last_error(ctx));
        std::_Exit(1);
    }
};

float value(int64_t launch, int64_t index) { return static_cast<float>((launch * 7919 + index * 31) % 4093); }

// One gather of M x N elements: rows of `launch` go in, all of them must come out.
struct Gather {
    const Context &c;
    int64_t M, N, begin, count, capacity;
    std::vector<float> A, B;
    Gather(const Context &ctx, int64_t m, int64_t n) : c(ctx), M(m), N(n) {
        tdl_shard(c.ctx, M, &begin, &count, &capacity);
        A.resize(static_cast<size_t>(capacity * N));
        B.resize(static_cast<size_t>(M * N));
    }
    void start(int64_t launch) {
        for (int64_t i = 0; i < count * N; ++i) A[static_cast<size_t>(i)] = value(launch, begin * N + i);
        all_gather_args a{};
        a.M = M, a.N = N, a.A = A.data(), a.B = B.data();
        c.check(all_gather(c.ctx, &a, nullptr));
    }
    int64_t finish(int64_t launch) {
        c.check(tdl_synchronize(c.ctx, nullptr));
        int64_t wrong = 0;
        for (int64_t i = 0; i < M * N; ++i) wrong += B[static_cast<size_t>(i)] != value(launch, i);
        return wrong;
    }
};

struct Reduce {
    const Context &c;
    std::vector<float> X, Y;
    Reduce(const Context &ctx, int64_t n) : c(ctx), X(static_cast<size_t>(n)), Y(static_cast<size_t>(n)) {}
    void start(int64_t launch) {
        int r = tdl_rank(c.ctx);
        for (size_t i = 0; i < X.size(); ++i) X[i] = value(launch + r, static_cast<int64_t>(i));
        all_reduce_args a{};
        a.N = static_cast<int64_t>(X.size()), a.X = X.data(), a.Y = Y.data();
        c.check(all_reduce(c.ctx, &a, nullptr));
    }
    int64_t finish(int64_t launch) {
        c.check(tdl_synchronize(c.ctx, nullptr));
        int64_t wrong = 0;
        for (size_t i = 0; i < X.size(); ++i) {
            float sum = 0;
            for (int r = 0; r < tdl_ranks(c.ctx); ++r) sum += value(launch + r, static_cast<int64_t>(i));
            wrong += Y[i] != sum;
        }
        return wrong;
    }
};

int64_t backToBack(int64_t launches) {
    Context c;
    Gather g(c, 37, 19);
    int64_t wrong = 0;
    for (int64_t n = 0; n < launches; ++n) {
        g.start(n);
        wrong += g.finish(n);
    }
    return wrong;
}

int64_t alternate(int64_t launches) {
    Context first, second;
    Gather g(first, 37, 19), h(second, 5, 130);
    Reduce r(second, 1001), q(first, 77);
    int64_t wrong = 0;
    for (int64_t n = 0; n < launches; ++n) { // launches of one context may queue up behind each other
        g.start(n);
        h.start(n + 1);
        q.start(n + 2);
        r.start(n + 3);
        wrong += r.finish(n + 3) + g.finish(n) + q.finish(n + 2) + h.finish(n + 1);
    }
    return wrong;
}

int64_t restart(int64_t times) {
    int64_t wrong = 0;
    for (int64_t n = 0; n < times; ++n) {
        Context c;
        Gather g(c, 9, 3);
        g.start(n);
        wrong += g.finish(n);
    }
    return wrong;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) return std::fprintf(stderr, "usage: launches back-to-back|alternate|restart N\n"), 2;
    int64_t n = std::atoll(argv[2]);
    auto start = std::chrono::steady_clock::now();
    int64_t wrong = !std::strcmp(argv[1], "back-to-back") ? backToBack(n) : !std::strcmp(argv[1], "alternate") ? alternate(n) : restart(n);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const char *rank = std::getenv("TDL_RANK");
    if (wrong || !rank || !std::strcmp(rank, "0"))
        std::printf("rank %s, %s %lld: %lld wrong, %.2f s\n", rank ? rank : "0", argv[1], static_cast<long long>(n), static_cast<long long>(wrong), seconds);
    return wrong != 0;
}
