#pragma once
#include "ir/verify.h"
#include "plan/verify/machine.h"

namespace tdl::plan {

template <class... A> void Machine::fail(const ir::Op &at, Diag kind, A &&...args) {
    if (!ok) return; // the first says enough
    ok = false;
    diags.report(ir::placeOf(at), kind, std::forward<A>(args)...);
}

} // namespace tdl::plan
