// Generated data: the value of an element is a function of (seed, tensor, global index), so that each rank makes its
// part of a tensor, and the reference all of it, without any communication. Two modes:
//     exact   values from {-1, 0, 1}, one in four not zero: sums come out exactly, results must agree to the bit
//     real    uniform values of standard deviation `scale`: results agree within the element type's tolerance
#ifndef SAMPLES_DATA_H
#define SAMPLES_DATA_H

#include "number.h"

#include <vector>

namespace sample {

enum class Mode { exact, real };

inline uint64_t hash(uint64_t x) { // the finaliser of splitmix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// A tensor's contents. `name` tells tensors apart; a private tensor adds the rank to it.
struct Data {
    Mode mode;
    uint64_t seed;
    double scale;

    double operator()(uint64_t name, int64_t index) const {
        uint64_t h = hash(hash(seed + name * 0x100000001b3u) + uint64_t(index));
        if (mode == Mode::exact) return h & 3 ? 0.0 : h & 4 ? 1.0 : -1.0;
        return (double(h >> 11) / 9007199254740992.0 * 2 - 1) * 1.7320508075688772 * scale;
    }
};

/// The name of one rank's private tensor.
inline uint64_t of_rank(uint64_t name, int rank) { return name + 256 * (uint64_t(rank) + 1); }

/// `count` elements from `begin` on, as an E would hold them.
template <class E> std::vector<float> values(const Data &data, uint64_t name, int64_t begin, int64_t count) {
    std::vector<float> v(size_t(count) + 1); // never empty, so that data() is not null
    for (int64_t x = 0; x < count; ++x) v[size_t(x)] = rounded<E>(data(name, begin + x));
    return v;
}

} // namespace sample

#endif
