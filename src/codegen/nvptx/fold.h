// A reduction in general: what an element does to the state of a sum (a value; of an argmax also an index), and how states
// of several threads become one. Internal.
#pragma once
#include "codegen/nvptx/nest.h"

namespace tdl::codegen::nvptx {

using State = std::vector<llvm::Value *>;

struct Fold {
    const ir::Value *result;
    std::vector<std::string> over; // summed axes
    std::string inner;             // the axis along which the operands' elements are neighbours in memory
    int slot = -1;                 // of the result; -1: a scalar
    bool add = false;              // to what the slot holds
    State start;                   // of nothing
    std::function<State(Nest &, State)> take;          // the element at the innermost point
    std::function<State(const State &, const State &)> join;
    std::function<llvm::Value *(const State &)> finish;
};

} // namespace tdl::codegen::nvptx
