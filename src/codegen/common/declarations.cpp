#include "codegen/common/declarations.h"

namespace tdl::codegen {
using ir::OpKind;

Declarations declarationsOf(const ir::Op &kern) {
    Declarations d;
    for (const std::string &s : kern.names("sizes")) d.sizes.emplace(s, static_cast<int>(d.sizes.size()));
    auto number = [](auto &map, const ir::Op &op) { map.emplace(op.result(), static_cast<int>(map.size())); };
    for (auto &op : kern.body().ops) switch (op->kind) {
        case OpKind::Tensor:
            d.firstStride[op->result()] = d.strides;
            d.strides += static_cast<int>(op->dims().size());
            number(d.tensors, *op);
            d.memory.push_back(op.get());
            break;
        case OpKind::Buffer:
            number(d.buffers, *op);
            d.memory.push_back(op.get());
            break;
        case OpKind::Param: number(d.params, *op); break;
        case OpKind::Flag:
            number(d.flags, *op);
            d.flagList.push_back(op.get());
            break;
        case OpKind::Join:
            number(d.joins, *op);
            d.joinList.push_back(op.get());
            break;
        case OpKind::Program: d.programs.push_back(op.get()); break;
        default: break;
        }
    return d;
}

} // namespace tdl::codegen
