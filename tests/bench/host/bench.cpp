// Times the kernels of kernels.tdl on one thread: products against OpenBLAS (where libopenblas.so.0 is there) and
// against the plain product of the same size, the rest against memcpy. What is compared runs in turns, each
// once a round, so that whatever else the machine does meets all alike; medians over the rounds are shown.
//
//     bench_host [ROUNDS] [GROUP...]        groups: 256 512 1000 1024 1536 2048 forms memory
#include "kernels.h"
#include "tdl.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <sched.h>
#include <string>
#include <vector>

namespace {

tdl_ctx *ctx = nullptr;

void must(tdl_status s) {
    if (s == TDL_OK) return;
    std::fprintf(stderr, "%s: %s\n", tdl_status_string(s), tdl_last_error(ctx));
    std::exit(1);
}

using Floats = std::vector<float>;
Floats numbers(int64_t n) {
    Floats v(static_cast<size_t>(n));
    uint32_t state = 1;
    for (float &x : v) state = state * 1664525u + 1013904223u, x = static_cast<float>(state >> 8) / (1 << 24) - 0.5f;
    return v;
}

// One thing that is timed: work in operations or bytes per run.
struct Entry {
    std::string name;
    double work;
    std::function<void()> run;
    std::vector<double> seconds = {};
};

template <class Args> std::function<void()> launch(tdl_status (*f)(tdl_ctx *, const Args *, void *), Args a) {
    return [=] {
        must(f(ctx, &a, nullptr));
        must(tdl_synchronize(ctx, nullptr));
    };
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

// Runs all in turns and prints rates; the last column relates each to the first.
void compare(const std::string &title, const char *unit, std::vector<Entry> entries, int rounds) {
    for (Entry &e : entries) e.run(); // prepares, touches
    for (int r = 0; r < rounds; ++r)
        for (Entry &e : entries) {
            auto start = std::chrono::steady_clock::now();
            e.run();
            e.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
    double first = entries[0].work / median(entries[0].seconds);
    for (Entry &e : entries) {
        double rate = e.work / median(e.seconds), best = e.work / *std::min_element(e.seconds.begin(), e.seconds.end());
        std::printf("%-8s %-22s %8.2f %s   best %8.2f   x %.2f\n", title.c_str(), e.name.c_str(), rate / 1e9, unit,
                    best / 1e9, rate / first);
    }
    std::fflush(stdout);
}

// cblas_sgemm of OpenBLAS at the level that the kernels are compiled for, or null.
using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                       int);
Sgemm openblas() {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_CORETYPE", std::strstr(TDL_BENCH_CPU, "v4") ? "SkylakeX" : "Haswell", 0);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!library) std::fprintf(stderr, "without OpenBLAS: %s\n", dlerror());
    return library ? reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm")) : nullptr;
}

template <class Args, class T> Args product(const std::vector<T> &a, const std::vector<T> &b, Floats &c, int64_t n) {
    Args x = {};
    x.M = x.N = x.K = n;
    x.A = a.data(), x.B = b.data(), x.C = c.data();
    return x;
}

void square(Sgemm sgemm, int64_t n, int rounds) {
    Floats a = numbers(n * n), b = numbers(n * n), c(a.size()), d(a.size());
    double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    std::vector<Entry> e;
    int m = static_cast<int>(n);
    if (sgemm)
        e.push_back({"OpenBLAS NT", flops, [&, m] {
                         sgemm(101, 111, 112, m, m, m, 1, a.data(), m, b.data(), m, 0, d.data(), m);
                     }});
    e.push_back({"gemm NT", flops, launch(gemm_nt, product<gemm_nt_args>(a, b, c, n))});
    e.push_back({"gemm NN", flops, launch(gemm_nn, product<gemm_nn_args>(a, b, c, n))});
    e.push_back({"gemm TN", flops, launch(gemm_tn, product<gemm_tn_args>(a, b, c, n))});
    compare(std::to_string(n), "GFLOP/s", e, rounds);
    if (!sgemm) return;
    e[1].run();
    double worst = 0;
    for (size_t i = 0; i < c.size(); ++i) worst = std::max(worst, double(std::fabs(c[i] - d[i]) / (1 + std::fabs(d[i]))));
    if (!(worst < 1e-4)) std::printf("%-8s WRONG: differs from OpenBLAS by %g\n", std::to_string(n).c_str(), worst);
}

// Other forms of a product against the plain one.
void forms(int rounds) {
    const int64_t n = 1024, heads = 8, m = 512;
    Floats a = numbers(n * n), b = numbers(n * n), s = numbers(n), c(a.size());
    std::vector<uint16_t> h(a.size()), g(a.size());
    std::vector<uint16_t> h16(a.size()), g16(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
        h[i] = tdl_bf16_from_f32(a[i]), g[i] = tdl_bf16_from_f32(b[i]);
        h16[i] = tdl_f16_from_f32(a[i]), g16[i] = tdl_f16_from_f32(b[i]);
    }
    double flops = 2.0 * n * n * n;
    auto scale = [&](auto x) {
        x.M = x.N = x.K = n;
        x.A = a.data(), x.B = b.data(), x.S = s.data(), x.R = s.data(), x.C = c.data();
        return x;
    };
    std::vector<Entry> e;
    e.push_back({"gemm NT", flops, launch(gemm_nt, product<gemm_nt_args>(a, b, c, n))});
    e.push_back({"dot(a * s, b) + r, by k", flops, launch(scaled, scale(scaled_args{}))});
    e.push_back({"dot(a * s, b) + r", flops, launch(whole, scale(whole_args{}))});
    gelu_args ga = product<gelu_args>(a, b, c, n);
    ga.R = s.data();
    e.push_back({"gemm, bias, GELU", flops, launch(gelu, ga)});
    e.push_back({"gemm bf16", flops, launch(gemm_bf16, product<gemm_bf16_args>(h, g, c, n))});
    e.push_back({"gemm f16", flops, launch(gemm_f16, product<gemm_f16_args>(h16, g16, c, n))});
    Floats ab = numbers(heads * m * m), bb = numbers(heads * m * m), cb(ab.size());
    batched_args ba = {};
    ba.H = heads, ba.M = ba.N = ba.K = m, ba.A = ab.data(), ba.B = bb.data(), ba.C = cb.data();
    e.push_back({"batched, 8 of 512", 2.0 * heads * m * m * m, launch(batched, ba)});
    const int64_t S = 1024, D = 64;
    Floats q = numbers(heads * S * D), k = numbers(heads * S * D), v = numbers(heads * S * D), o(q.size());
    attention_args at = {};
    at.H = heads, at.S = S, at.D = D, at.Q = q.data(), at.K = k.data(), at.V = v.data(), at.O = o.data(), at.scale = 0.125f;
    // the elements that the mask keeps: S (S + 1) / 2
    e.push_back({"causal attention D=64", 2.0 * heads * S * (S + 1) * D, launch(attention, at)});
    Floats q2 = numbers(heads * S * 128), k2 = numbers(heads * S * 128), v2 = numbers(heads * S * 128), o2(q2.size());
    at.D = 128, at.Q = q2.data(), at.K = k2.data(), at.V = v2.data(), at.O = o2.data();
    e.push_back({"causal attention D=128", 2.0 * heads * S * (S + 1) * 128, launch(attention, at)});
    compare("forms", "GFLOP/s", e, rounds);
}

void memory(int rounds) {
    const int64_t n = int64_t{1} << 24, m = 4096; // 64 MiB: beyond the caches
    Floats a = numbers(n), b = numbers(n), c(a.size());
    double bytes = 4.0 * static_cast<double>(n);
    std::vector<Entry> e;
    e.push_back({"memcpy", 2 * bytes, [&] { std::memcpy(c.data(), a.data(), a.size() * sizeof(float)); }});
    copy_args ca = {};
    ca.N = n, ca.A = a.data(), ca.C = c.data();
    e.push_back({"copy", 2 * bytes, launch(copy, ca)});
    add_args ad = {};
    ad.N = n, ad.A = a.data(), ad.B = b.data(), ad.C = c.data();
    e.push_back({"vector add", 3 * bytes, launch(add, ad)});
    softmax_args sa = {};
    sa.M = n / m, sa.N = m, sa.A = a.data(), sa.C = c.data();
    e.push_back({"softmax, rows of 4096", 2 * bytes, launch(softmax, sa)});
    rmsnorm_args ra = {};
    ra.M = n / m, ra.N = m, ra.A = a.data(), ra.W = b.data(), ra.C = c.data();
    e.push_back({"RMSNorm, rows of 4096", 2 * bytes, launch(rmsnorm, ra)});
    compare("memory", "GB/s", e, rounds);
}

} // namespace

int main(int argc, char **argv) {
    cpu_set_t here; // one core for the library's worker and for what runs on this thread
    CPU_ZERO(&here);
    CPU_SET(static_cast<size_t>(std::max(0, sched_getcpu())), &here);
    sched_setaffinity(0, sizeof here, &here);
    int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
    auto wanted = [&](const std::string &group) {
        return argc <= 2 || std::find(argv + 2, argv + argc, group) != argv + argc;
    };
    tdl_options options = {};
    options.threads = 1;
    must(tdl_init(&ctx, &options));
    Sgemm sgemm = openblas();
    for (int64_t n : {256, 512, 1000, 1024, 1536, 2048})
        if (wanted(std::to_string(n))) square(sgemm, n, n > 1024 ? std::max(3, rounds / 3) : rounds);
    if (wanted("forms")) forms(rounds);
    if (wanted("memory")) memory(rounds);
    must(tdl_finalize(ctx));
}
