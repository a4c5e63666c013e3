#include "sema/context.h"

namespace tdl::sema {

ir::Value *Context::emit(ir::OpKind k, Loc loc, std::vector<ir::Value *> operands, ir::Type result,
                         std::vector<std::pair<std::string_view, ir::Attr>> attrs) {
    return ir::Builder(*block).make(k, loc, std::move(operands), std::move(result), std::move(attrs));
}

std::string Context::freshAxis(const std::string &source) {
    std::string name = source;
    for (int i = 1; !axisNames.insert(name).second; ++i) name = fmt::format("{}_{}", source, i);
    return name;
}

std::string Context::axisSource(const std::string &axis) const {
    auto it = axes.find(axis);
    return it == axes.end() ? axis : it->second.source;
}

std::string Context::show(const ir::Type &type) const {
    ir::Type t = type;
    for (std::string &a : t.axes) a = axisSource(a);
    return t.str();
}

const Tensor &Context::tensorOf(const ir::Value *v) const {
    for (auto &t : tensors)
        if (t->value == v) return *t;
    return *tensors.front(); // not reached: accesses are made from the table
}

const std::string *Context::define(const std::string &name) {
    const std::string *found = nullptr;
    for (auto &[n, value] : defines)
        if (n == name) found = &value; // the last one counts, as of gcc
    if (found) usedDefines.insert(name);
    return found;
}

} // namespace tdl::sema
