// A plan compiled for fast execution on small instances: expressions as postfix code over numbered symbols, values and
// memories as numbers. Only what indices and bounds depend on is computed; tile values are not.
#pragma once
#include "ir/op.h"
#include "plan/plan.h"
#include <map>
#include <unordered_map>

namespace tdl::plan {

/// Numbers of the symbols of a plan: ranks, rank, sizes, tile constants, coordinates (shared between tasks). Large
/// literals have one, too, so that an instance can make them small.
class Symbols {
public:
    static constexpr int64_t large = 8;
    int number(const std::string &name) {
        return static_cast<int>(numbers.try_emplace(name, numbers.size()).first->second);
    }
    int number(int64_t literal) { return literals[literal] = number("#" + std::to_string(literal)); }
    size_t size() const { return numbers.size(); }
    std::map<int64_t, int> literals; // of `large` or more

private:
    std::unordered_map<std::string, size_t> numbers;
};

class Code {
public:
    Code() = default;
    Code(const ir::Expr &, Symbols &);
    int64_t run(const int64_t *symbols) const;

private:
    struct Item {
        ir::ExprKind kind;
        int64_t value; // constant, or number of a symbol
    };
    std::vector<Item> items;
    size_t depth = 0; // of the stack
    size_t add(const ir::Expr &, Symbols &);
};

struct Instruction {
    const ir::Op *op = nullptr;
    std::vector<int> in; // numbers of operand values
    int out = -1;        // of the first result
    int memory = -1;     // of a load or store; flag or join of waits and arrivals
    Code a, b,
        c;   // range lo, hi; wait from, count; wait_join and arrive index, total; notify to, count, index;
             // store at; loop extent, lo, hi; whole extent; expr value
    Code by; // of a loop over ranges
    int arg = -1; // what a loop binds
    std::vector<Instruction> body;
};

struct Memory {
    const ir::Op *op = nullptr;
    bool tensor = false, protocol = false, startsDefined = false;
    int dist = -1;
    std::vector<Code> extents, origin, bounds; // of a tensor: global extents
};

struct TaskCode {
    const ir::Op *op = nullptr;
    std::vector<int> coords; // symbols
    std::vector<Code> counts;
    std::vector<Instruction> waits, work, arrivals;
};

struct PlanCode {
    explicit PlanCode(const ir::Op &plan);
    const ir::Op &plan;
    Symbols symbols;
    int rank, ranks;
    std::vector<Memory> memories;
    std::vector<const ir::Op *> flags, joins;
    std::vector<Code> flagWords, joinWords;
    std::vector<TaskCode> tasks;
    std::vector<Code> conditions;
    size_t values = 0;

private:
    std::unordered_map<const ir::Value *, int>
        numbers; // of values, memories, flags, joins: each kind for itself
    int value(const ir::Value *v);
    Instruction compile(const ir::Op &);
};

} // namespace tdl::plan
