// The axis of each tile that runs fastest, as far as memory has an opinion; the last of its type otherwise.
#pragma once
#include "codegen/common/storage.h"

namespace tdl::codegen {
void chooseInnerAxes(const ir::Op &program, std::unordered_map<const ir::Value *, std::string> &inner);
} // namespace tdl::codegen
