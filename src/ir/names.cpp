#include "ir/names.h"
#include <unordered_set>

namespace tdl::ir {
namespace {

struct Namer {
    std::unordered_map<const Value *, std::string> names;
    std::unordered_set<std::string> taken;
    int next = 0;

    void value(const Value &v) {
        std::string name = v.hint;
        if (name.empty()) {
            name = std::to_string(next++);
        } else {
            for (int i = 1; !taken.insert(name).second; ++i) name = v.hint + "_" + std::to_string(i);
        }
        names.emplace(&v, std::move(name));
    }
    // In the order of the text: results stand before the blocks.
    void op(const Op &o) {
        for (auto &r : o.results) value(*r);
        for (auto &b : o.blocks) {
            for (auto &a : b->args) value(*a);
            for (auto &inner : b->ops) op(*inner);
        }
    }
};

void settle(Op &o, const std::unordered_map<const Value *, std::string> &names) {
    auto take = [&](Value &v) {
        if (!v.hint.empty()) v.hint = names.at(&v);
    };
    for (auto &r : o.results) take(*r);
    for (auto &b : o.blocks) {
        for (auto &a : b->args) take(*a);
        for (auto &inner : b->ops) settle(*inner, names);
    }
}

} // namespace

std::unordered_map<const Value *, std::string> namesOf(const Op &top) {
    Namer n;
    n.op(top);
    return std::move(n.names);
}

void settleNames(Module &m) {
    for (auto &op : m.top.ops) settle(*op, namesOf(*op));
}

} // namespace tdl::ir
