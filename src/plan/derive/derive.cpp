#include "plan/derive/derive.h"
#include "plan/derive/cuts.h"
#include "plan/derive/stage.h"

namespace tdl::plan {

std::unique_ptr<ir::Module> derive(const ir::Module &tile, const Options &options, Diagnostics &diags) {
    auto out = std::make_unique<ir::Module>();
    out->stage = ir::Stage::Plan;
    out->sources = tile.sources;
    bool ok = true;
    for (auto &kernel : tile.top.ops) {
        auto named = withNamedCuts(*kernel);
        Writer w(*named, "sequential", options);
        bool fine = true;
        for (auto &op : named->body().ops)
            if (op->kind == ir::OpKind::Stage) fine = deriveStage(w, *op, diags) && fine;
        if (fine) out->top.append(w.finish());
        ok = ok && fine;
    }
    return ok ? std::move(out) : nullptr;
}

} // namespace tdl::plan
