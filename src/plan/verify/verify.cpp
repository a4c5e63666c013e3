#include "plan/verify/verify.h"
#include "ir/verify.h"

namespace tdl::plan {

bool verify(const ir::Module &m, Diagnostics &d) { return ir::verifyStructure(m, d); }

} // namespace tdl::plan
