// What the sample programs share: shapes from the command line, one rank's storage of a tensor, comparison.
//
//     ./ag_gemm [--exact | --real] [--seed=S] [--digest] [M=64:N=512:K=256 ...]
//
// Without shapes a program runs its own list; without a mode, both (data.h). --digest prints a hash of each rank's
// output, to compare runs and ranks by.
#ifndef SAMPLES_SAMPLE_H
#define SAMPLES_SAMPLE_H

#include "data.h"
#include "tdl.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace sample {

/// Ends the program with the runtime's message unless `status` is fine.
inline void must(tdl_ctx *ctx, tdl_status status) {
    if (status == TDL_OK) return;
    std::fprintf(stderr, "%s: %s\n", tdl_status_string(status), tdl_last_error(ctx));
    std::exit(1);
}

/// One dimension of a tensor: its extent, and the part of it that this rank holds.
struct Dim {
    int64_t extent, begin, count, capacity;
    Dim(int64_t e) : extent(e), begin(0), count(e), capacity(e) {}
    Dim(int64_t e, int64_t b, int64_t n, int64_t c) : extent(e), begin(b), count(n), capacity(c) {}
};

/// `extent @ ranks`: my block of it; storage has the same capacity on every rank.
inline Dim shard(tdl_ctx *ctx, int64_t extent) {
    int64_t begin = 0, count = 0, capacity = 0;
    must(ctx, tdl_shard(ctx, extent, &begin, &count, &capacity));
    return Dim(extent, begin, count, capacity);
}

/// One rank's storage of a matrix (a vector has one row). All of it, and a guard zone on either side, starts as
/// NaN: what a kernel forgets to write, writes twice as wide, or takes from the unused tail of a shard shows.
template <class E> class Matrix {
    using Storage = typename E::Storage;

public:
    Matrix(Dim rows, Dim columns)
        : rows_(rows), columns_(columns),
          all_(size_t(rows.capacity * columns.capacity) + 2 * guard, E::poison()) {}

    Storage *data() { return all_.data() + guard; }

    void fill(const Data &data, uint64_t name) {
        each([&](Storage &e, int64_t i, int64_t j) {
            e = E::from_float(float(data(name, (rows_.begin + i) * columns_.extent + columns_.begin + j)));
        });
    }

    /// The largest |out - ref| / (1 + |ref|), infinite where an element is NaN or storage of no element was touched.
    double error(const std::vector<float> &reference) {
        double worst = 0;
        size_t n = 0;
        std::vector<Storage> rest = all_;
        each([&](Storage &e, int64_t, int64_t) {
            double ref = reference[n++], off = std::fabs(double(E::to_float(e)) - ref) / (1 + std::fabs(ref));
            worst = off <= worst ? worst : std::isnan(off) ? INFINITY : off;
            rest[size_t(&e - all_.data())] = E::poison();
        });
        for (const Storage &e : rest)
            if (std::memcmp(&e, &rest[0], sizeof e) != 0) return INFINITY;
        return worst;
    }

    /// A hash of my part's bits.
    uint64_t digest() {
        uint64_t h = 0;
        each([&](Storage &e, int64_t, int64_t) {
            uint64_t bits = 0;
            std::memcpy(&bits, &e, sizeof e);
            h = hash(h + bits);
        });
        return h;
    }

private:
    static constexpr size_t guard = 64;
    template <class F> void each(F f) {
        for (int64_t i = 0; i < rows_.count; ++i)
            for (int64_t j = 0; j < columns_.count; ++j) f(data()[i * columns_.capacity + j], i, j);
    }
    Dim rows_, columns_;
    std::vector<Storage> all_;
};

/// One shape in one mode.
struct Case {
    std::string shape;
    Mode mode;
    uint64_t seed;
    bool digest;

    /// The size called `name`.
    int64_t operator[](const char *name) const {
        std::string text = ":" + shape, key = std::string(":") + name + "=";
        size_t at = text.find(key);
        if (at == std::string::npos) std::fprintf(stderr, "no %s in shape %s\n", name, shape.c_str()), std::exit(2);
        return std::strtoll(text.c_str() + at + key.size(), nullptr, 10);
    }
    Data data(double scale = 1) const { return Data{mode, seed, scale}; }

    /// Prints what came out (rank 0 always, others when it is wrong) and returns whether it is right: equal to the
    /// reference in exact mode if `linear`, within the element type's tolerance otherwise.
    template <class E>
    bool report(tdl_ctx *ctx, const char *kernel, Matrix<E> &out, const std::vector<float> &reference, double seconds,
                bool linear = true) const {
        double error = out.error(reference), limit = linear && mode == Mode::exact ? 0 : E::tolerance;
        bool good = error <= limit;
        if (!good || tdl_rank(ctx) == 0)
            std::printf("rank %d of %d: %s %s %s %-5s %s: largest error %.1e, allowed %.1e, %.1f ms\n", tdl_rank(ctx),
                        tdl_ranks(ctx), kernel, E::name, shape.c_str(), mode == Mode::exact ? "exact" : "real",
                        good ? "ok" : "WRONG", error, limit, seconds * 1e3);
        if (digest)
            std::printf("digest %s %s rank %d %016llx\n", shape.c_str(), mode == Mode::exact ? "exact" : "real",
                        tdl_rank(ctx), (unsigned long long)out.digest());
        std::fflush(stdout);
        return good;
    }
};

/// The cases that the command line asks for.
inline std::vector<Case> cases(int argc, char **argv, std::initializer_list<const char *> usual) {
    std::vector<std::string> shapes;
    std::vector<Mode> modes = {Mode::exact, Mode::real};
    uint64_t seed = 1;
    bool digest = false;
    for (int i = 1; i < argc; ++i) {
        std::string a = argv[i];
        if (a == "--exact") modes = {Mode::exact};
        else if (a == "--real") modes = {Mode::real};
        else if (a == "--digest") digest = true;
        else if (a.compare(0, 7, "--seed=") == 0) seed = std::strtoull(a.c_str() + 7, nullptr, 10);
        else if (a[0] == '-' || a.find('=') == std::string::npos)
            std::fprintf(stderr, "usage: %s [--exact | --real] [--seed=S] [--digest] [SIZE=N:SIZE=N... ...]\n", argv[0]), std::exit(2);
        else shapes.push_back(a);
    }
    if (shapes.empty()) shapes.assign(usual.begin(), usual.end());
    std::vector<Case> all;
    for (const std::string &s : shapes)
        for (Mode m : modes) all.push_back(Case{s, m, seed, digest});
    return all;
}

class Stopwatch {
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
};

} // namespace sample

#endif
