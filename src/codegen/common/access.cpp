// What operations of the kernel IR say about memory and axes, taken apart once for analysis and emission.
#include "codegen/common/storage.h"
#include <algorithm>

namespace tdl::codegen {
using ir::OpKind;

bool isConstant(const ir::Value *v, int64_t n) {
    if (!v->def) return false;
    if (v->def->kind == OpKind::ExprOp) return v->def->expr("value").isConst(n);
    if (v->def->kind != OpKind::Const) return false;
    const int64_t *c = std::get_if<int64_t>(v->def->find("value"));
    return c && *c == n;
}

const ir::Value *memoryOf(const ir::Value *address) {
    while (address->def && address->def->kind == OpKind::At) address = address->def->operands[0];
    return address->def && address->def->kind == OpKind::Base ? address->def->operands[0] : nullptr;
}

Access accessOf(const ir::Op &op) {
    Access a;
    bool write = op.kind == OpKind::Write;
    const ir::Type &tile = write ? op.operands[0]->type : op.results[0]->type;
    size_t next = write ? 1 : 0;
    a.address = op.operands[next++];
    for (size_t i = 0; i < tile.axes.size(); ++i) a.strides.push_back(op.operands[next++]);
    if (op.has("clip"))
        for (const std::string &axis : op.names("clip")) {
            a.clips.push_back({axis, {op.operands[next], op.operands[next + 1]}});
            next += 2;
        }
    if (op.has("guard")) a.guard = op.operands[next++];
    if (!write && op.has("or")) a.outside = op.operands[next++];
    return a;
}

DotAxes dotAxes(const ir::Op &dot) {
    DotAxes d;
    d.over = dot.names("over");
    const ir::Type &x = dot.operands[0]->type, &y = dot.operands[1]->type;
    auto summed = [&](const std::string &a) {
        return std::find(d.over.begin(), d.over.end(), a) != d.over.end();
    };
    for (const std::string &a : x.axes)
        if (!summed(a)) (y.hasAxis(a) ? d.both : d.rows).push_back(a);
    for (const std::string &a : y.axes)
        if (!summed(a) && !x.hasAxis(a)) d.columns.push_back(a);
    return d;
}

} // namespace tdl::codegen
