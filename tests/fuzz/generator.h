// The generator's state: what the kernel has so far, and what is in scope where text is being written. Whatever it writes is valid by
// construction: it knows which values differ between ranks, which elements a stage writes, and how large numbers may become (sums and
// products of small integers and a few binary digits stay exact, so that results can be compared bit by bit).
#pragma once
#include "program.h"
#include "support/mix.h"
#include <set>

namespace tdl::fuzz {

enum class Class { Float, Int, Bool };

/// Numbers are at most `most` in magnitude, and multiples of 2^-digits.
struct Bound {
    double most = 1;
    int digits = 0;
};

/// An extent: a size, a `let`, a named constant or `ranks`. `whole`: its name can be an axis.
struct Extent {
    std::string name;
    bool whole = true;
    std::string value = {}; // of a `let`, which parameters cannot name
};

struct Tensor {
    std::string name, elem, mode; // mode: in, out, inout, local
    std::vector<size_t> extents;
    int dist = -1;
    bool uniform = false;
    Bound bound;
    bool defined = true; // may be read
    bool shared() const { return uniform || dist >= 0; }
};

/// What a loop binds, or an extent that is taken whole as an axis.
struct Binding {
    std::string name;
    size_t extent = 0;
    bool range = false, dist = false, whole = false;
    bool sliced = false; // does not reach all of its extent
    bool differs = false; // between ranks
};

struct Variable {
    std::string name;
    Class cls;
    std::set<std::string> axes;
    Bound bound;
    bool differs;
};

struct Value {
    std::string text;
    Bound bound;
    bool differs = false;
    bool atom = true;     // binds tighter than any operator
    bool literal = false; // has no type of its own
};

class Generator {
public:
    explicit Generator(uint64_t seed) : random(seed) {}
    Program run();

private:
    Random random;
    bool exact = true;
    std::vector<Extent> extents;
    std::vector<Tensor> tensors;
    std::vector<std::string> sizes, parameters, constants, definitions, stages;
    std::vector<int64_t> bys; // that occurred, for shapes around them

    // Of the stage in work
    std::vector<Binding> scope;
    std::vector<Variable> variables;
    std::set<size_t> written, read; // tensors
    bool alone = false;             // the team is one rank
    bool sameOnly = false;          // values must not differ between ranks
    int indent = 0, names = 0;
    size_t deepest = 1;             // loops and whole extents within each other, in any stage
    std::string body;

    // ---- Chance (generate.cpp)
    bool chance(int percent) { return random.below(100) < percent; }
    int64_t below(int64_t n) { return random.below(n); }
    template <class T> const T &pick(const std::vector<T> &list) { return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))]; }
    std::string fresh(const char *prefix) { return prefix + std::to_string(names++); }
    void line(const std::string &text) { body += std::string(static_cast<size_t>(indent) * 4, ' ') + text + "\n"; }

    // ---- Kernel, stages, targets (generate.cpp)
    void declareSizes();
    void stage(bool last);
    std::vector<Binding> header();
    std::string loopText(Binding &, bool mayDist, bool mayShare);
    std::string by();
    size_t target(const std::vector<Binding> &indices, bool last);
    bool fits(const Tensor &, std::vector<size_t> extents) const;
    void store(size_t target, const std::vector<Binding> &indices);
    std::vector<Shape> shapes();

    // ---- Statements (statements.cpp)
    void assign();
    void accumulate();
    void recur();
    void overRanks();
    void remember(const std::string &name, Class, const std::set<std::string> &axes, const Value &);
    std::set<std::string> someAxes(int percent);
    std::string elemOf(Class);

    // ---- Expressions (expressions.cpp)
    Value expression(Class, const std::set<std::string> &axes, int depth);
    Value leaf(Class, const std::set<std::string> &axes);
    Value literal(Class);
    Value load(Class, const std::set<std::string> &axes, const std::string &must);
    std::string index(const Binding &, bool &needsOr);
    Value arithmetic(Class, const std::set<std::string> &axes, int depth);
    Value elementary(const std::set<std::string> &axes, int depth);
    Value condition(const std::set<std::string> &axes, int depth);
    Value overWhole(Class, const std::set<std::string> &axes, int depth);
    Value clamped(Class, Value);
    Value sized(Class, Value); // clamped if it might not be exact
    double longest(const Binding &) const;
};

/// Sizes are at most this.
inline constexpr double kLongest = 40;

std::string inBrackets(const Value &);

} // namespace tdl::fuzz
