// The checked mode: who has read and written each element in the current stage, and what that breaks.
//
//     a.tdl:4:9: error: `Y[8]` is written by the instance at i = 0 .. 9 and by the instance at i = 8 .. 17 [..]
//     a.tdl:6:9: note: the other write
//
// Rules (tdl.5, "Stores and reads"): an element is written at most once in a stage, and then read in that
// stage only by the instance that writes it, before the write. An `out` element is written by the end.
// Undefined elements are not read.
#pragma once
#include "diagnostics/diagnostics.h"
#include "interp/tensor.h"
#include <map>
#include <set>
#include <tuple>

namespace tdl::interp {

/// Who does something: a team in an instance of the current stage. Parts of an instance that single ranks
/// execute have no order between those ranks, unless the phases differ: the parts before and behind a
/// distributed loop.
struct Actor {
    int32_t instance = -1;
    int32_t rank = -1; // of a team of one; -1: all ranks
    int32_t phase = 0;
    const ir::Op *op = nullptr;
};

/// One index of an instance: `i = 60 .. 69` or `h = 3`.
struct Coordinate {
    std::string name;
    int64_t begin, end;
    bool isRange;
};

class Checker {
public:
    Checker(Diagnostics &d, bool enabled) : diags(d), on(enabled) {}
    bool enabled() const { return on; }
    bool failed() const { return failures > 0; }

    /// The contents of `t` are undefined until written.
    void startUndefined(const Tensor &t);
    /// `stored`: the tensors that the stage stores to; only of those is recorded who touches them.
    void beginStage(const ir::Op &stage, const std::vector<const Tensor *> &stored);
    int32_t addInstance(std::vector<Coordinate>);
    /// One execution of a load or store; then read or write for each element, `at` counting through all
    /// copies.
    void access(const Actor &);
    void read(const Tensor &, int64_t at);
    void write(const Tensor &, int64_t at);
    /// At the end of the kernel: is all of `out` defined?
    void end(const Tensor &out, const ir::Op &decl);

    void outside(const Tensor &, size_t dim, int64_t index, const ir::Op &);
    void notUniform(const Tensor &, const ir::Op &, const std::string &why);

private:
    static constexpr int32_t nobody = -1;
    struct Marks {
        int32_t writer = nobody, reader = nobody,
                other = nobody; // in `actors`; other: a reader beside the first
    };
    Diagnostics &diags;
    bool on;
    int failures = 0;
    std::string stage;
    std::vector<std::vector<Coordinate>> instances;
    std::vector<Actor> actors;                              // of this stage
    std::map<const Tensor *, std::vector<Marks>> marks;     // of stored tensors, in this stage
    std::map<const Tensor *, std::vector<uint8_t>> defined; // of tensors that start undefined
    std::set<std::tuple<Diag, const ir::Op *, const ir::Op *>> reported;

    template <class... A> void fail(Diag, const ir::Op &, const ir::Op *other, const char *note, A &&...);
    void conflict(const Tensor &, int64_t at, const Actor &reader, const Actor &writer, bool writesNow);
    std::string who(const Actor &) const;
};

} // namespace tdl::interp
