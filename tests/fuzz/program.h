// A random program: the text of one kernel, and how it is run. The first line of its text says the latter, so that a file is all
// that is needed to repeat a run:
//
//     // run: ranks=1,3 shapes=M=4:N=5,M=0:N=1 data=17 opt=2 threads=1 chaos=0 chunk=4 exact=1
//     kernel k<M, N>(X: in f32[M @ ranks, N], Y: out uniform f32[M, N]) { ... }
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tdl::fuzz {

using Shape = std::map<std::string, int64_t>;

struct Program {
    std::string text; // without the first line
    std::vector<int> ranks = {1};
    std::vector<Shape> shapes;
    uint64_t data = 1;   // seed of the tensors' contents
    int opt = 2;         // -O
    int threads = 1;     // workers of a rank
    uint64_t chaos = 0;  // seed of random delays
    int chunk = 4;       // indices of a dimension that travel together
    bool exact = true;   // results are equal bit by bit; else real data with the tolerance of the types
    std::string str() const;
};

/// Nothing but an empty text if `text` has no first line as above.
Program readProgram(const std::string &text);

/// The program of this seed: the same on every machine.
Program generate(uint64_t seed);

} // namespace tdl::fuzz
