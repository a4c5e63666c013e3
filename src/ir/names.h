// The names that values have in text: the hint where it is free in the top-level operation, else hint_1, hint_2, ...;
// values without a hint are numbered.
#pragma once
#include "ir/op.h"
#include <unordered_map>

namespace tdl::ir {

/// Names without `%`, of all values of a top-level operation.
std::unordered_map<const Value *, std::string> namesOf(const Op &top);

/// Makes every hint the name that the printer gives, so that a module and the one parsed from its text are alike even for
/// stages that derive names from hints.
void settleNames(Module &);

} // namespace tdl::ir
