#include "object/arguments.h"

namespace tdl {

ArgumentLayout layoutArguments(const ir::Op &kernel) {
    ArgumentLayout out;
    int end = 0, largest = 1;
    auto place = [&](int bytes, int count = 1) {
        end = (end + bytes - 1) / bytes * bytes;
        largest = std::max(largest, bytes);
        int at = end;
        end += bytes * count;
        return at;
    };
    for (const std::string &s : kernel.names("sizes")) {
        Argument a;
        a.name = s;
        a.offset = place(8);
        a.loc = kernel.loc;
        out.args.push_back(std::move(a));
    }
    for (auto &op : kernel.body().ops) {
        Argument a;
        a.loc = op->loc;
        if (op->kind == ir::OpKind::Param) {
            a.kind = Argument::Scalar;
            a.elem = op->result()->type.elem;
            a.offset = place(elemBytes(a.elem));
        } else if (op->kind == ir::OpKind::Tensor && op->name("mode") != "local") {
            a.kind = Argument::Tensor;
            a.elem = op->result()->type.elem;
            a.mode = op->name("mode");
            a.uniform = op->has("uniform");
            a.dims = op->dims();
            for (size_t i = 0; i < a.dims.size(); ++i)
                if (a.dims[i].dist) a.distDim = static_cast<int>(i);
            a.offset = place(8);
            if (a.dims.size() > 1) a.strideOffset = place(8, static_cast<int>(a.dims.size()) - 1);
        } else {
            continue;
        }
        a.name = op->name();
        out.args.push_back(std::move(a));
    }
    out.bytes = (end + largest - 1) / largest * largest;
    return out;
}

} // namespace tdl
