#include "plan/derive/cuts.h"
#include "plan/plan.h"
#include <algorithm>
#include <fmt/format.h>

namespace tdl::plan {

using namespace ir;

namespace {

class Namer {
public:
    explicit Namer(Op &k) : kernel(k), tiles(k.binds("tiles")) {}

    void run() {
        for (auto &op : kernel.body().ops) {
            if (op->kind != OpKind::Stage) continue;
            auto loops = op->loops();
            for (LoopSpec &l : loops) name(l);
            op->set("loops", loops);
            body(op->body());
        }
        kernel.set("tiles", tiles);
    }

private:
    Op &kernel;
    std::vector<Bind> tiles;

    void body(Block &b) {
        for (auto &op : b.ops) {
            if (op->kind == OpKind::For) {
                LoopSpec l = op->loop();
                name(l);
                op->set("loop", l);
            }
            for (auto &inner : op->blocks) body(*inner);
        }
    }

    void name(LoopSpec &l) {
        if (!l.isRange || !l.by.isConst()) return;
        std::string symbol = "by_" + l.name;
        for (int i = 1; taken(symbol); ++i) symbol = fmt::format("by_{}_{}", l.name, i);
        tiles.push_back({symbol, l.by.value()});
        l.by = Expr::sym(symbol);
    }

    bool taken(const std::string &s) const {
        const auto &sizes = kernel.names("sizes");
        return s == "rank" || s == "ranks" || std::find(sizes.begin(), sizes.end(), s) != sizes.end() ||
               std::any_of(tiles.begin(), tiles.end(), [&](const Bind &b) { return b.name == s; });
    }
};

} // namespace

std::unique_ptr<Op> withNamedCuts(const Op &kernel) {
    ValueMap map;
    auto copy = clone(kernel, map);
    Namer(*copy).run();
    return copy;
}

} // namespace tdl::plan
