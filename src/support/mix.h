// A hash of 64 bits (the finaliser of splitmix64): the same numbers from the same seed on every machine.
#pragma once
#include <cstdint>
#include <string_view>

namespace tdl {

inline uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

inline uint64_t mix(uint64_t seed, std::string_view text) {
    for (char c : text) seed = mix(seed ^ static_cast<unsigned char>(c));
    return mix(seed ^ text.size());
}

/// A sequence of them.
class Random {
public:
    explicit Random(uint64_t seed) : state(seed) {}
    uint64_t next() { return mix(state++); }
    /// 0 .. n - 1, n >= 1.
    int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }

private:
    uint64_t state;
};

} // namespace tdl
