#include "ir/type.h"
#include <algorithm>
#include <fmt/format.h>

namespace tdl::ir {

bool Type::hasAxis(const std::string &a) const { return std::find(axes.begin(), axes.end(), a) != axes.end(); }

std::string Type::str() const {
    switch (kind) {
    case TypeKind::Tile:
        return axes.empty() ? std::string(elemName(elem)) : fmt::format("{}[{}]", elemName(elem), fmt::join(axes, ", "));
    case TypeKind::Range: return fmt::format("range<{}>", axes.at(0));
    case TypeKind::Tensor: return fmt::format("tensor<{}>", elemName(elem));
    case TypeKind::Buffer: return fmt::format("buffer<{}>", elemName(elem));
    case TypeKind::Ptr: return fmt::format("ptr<{}>", elemName(elem));
    case TypeKind::Flag: return "flag";
    case TypeKind::Join: return "join";
    case TypeKind::Token: return "token";
    }
    return "";
}

std::vector<std::string> unionAxes(const std::vector<std::string> &a, const std::vector<std::string> &b) {
    std::vector<std::string> out = a;
    for (const std::string &x : b)
        if (std::find(out.begin(), out.end(), x) == out.end()) out.push_back(x);
    return out;
}

} // namespace tdl::ir
