#include "interp/agree.h"

namespace tdl::interp {

bool runVaried(const ir::Op &kernel, Launch &l, DataMode mode, uint64_t seed, int variants,
               Diagnostics &diags) {
    const Launch inputs = l;
    Options options;
    options.check = true;
    bool ok = run(kernel, l, options, diags);
    for (int n = 0; ok && n < variants; ++n) {
        Launch other = inputs;
        options.cuts = Cuts::Random;
        options.order = n % 2 ? Order::Shuffled : Order::Descending;
        options.seed = seed + static_cast<uint64_t>(n);
        ok = run(kernel, other, options, diags);
        for (auto &op : kernel.body().ops) {
            if (!ok || op->kind != ir::OpKind::Tensor) continue;
            const std::string &where = op->name("mode");
            if (where != "out" && where != "inout") continue;
            const Tensor &reference = *l.find(op->name());
            Comparison c = compare(reference, *other.find(op->name()), toleranceFor(kernel, reference, mode));
            if (c.ok()) continue;
            Difference d = c.first.empty() ? Difference{} : c.first[0];
            diags.report(op->loc.valid() ? op->loc : op->text, Diag::RunDisagrees, op->name(), c.wrong,
                         reference.element(d.number), d.ref, d.out);
            ok = false;
        }
    }
    return ok;
}

} // namespace tdl::interp
