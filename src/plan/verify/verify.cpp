#include "plan/verify/verify.h"
#include "ir/verify.h"
#include "plan/verify/instance.h"
#include "plan/verify/rules.h"

namespace tdl::plan {

bool verify(const ir::Module &m, Diagnostics &diags, const VerifyOptions &options) {
    if (!ir::verifyStructure(m, diags)) return false;
    bool ok = true;
    for (auto &plan : m.top.ops) {
        if (plan->kind != ir::OpKind::Plan) {
            ok = false;
            diags.report(ir::placeOf(*plan), Diag::PlanPlace, plan->info().text, "beside plans");
            continue;
        }
        bool declarations = checkDeclarations(*plan, diags), tasks = checkTasks(*plan, diags);
        if (!declarations || !tasks || !checkSynchronisation(*plan, diags)) {
            ok = false;
            continue;
        }
        auto sound = checkInstances(*plan, diags, options.remarkUnread);
        if (!sound)
            ok = false;
        else if (*sound == 0)
            diags.report(ir::placeOf(*plan), Diag::PlanUnchecked, plan->symbol);
    }
    return ok;
}

} // namespace tdl::plan
