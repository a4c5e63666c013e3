#include "common.h"
#include <doctest/doctest.h>

using namespace tdl;
using namespace tdl::test;

TEST_CASE("every derived plan verifies") {
    for (const std::string &name : allFiles()) {
        Verdict v = verify(planOf(name));
        CHECK_MESSAGE(v.ok, name << "\n" << v.text);
        for (Diag k : v.kinds) CHECK_MESSAGE(k == Diag::PlanUnread, name << "\n" << v.text);
    }
}
