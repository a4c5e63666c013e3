#include "diagnostics/diagnostics.h"
#include <array>

namespace tdl {
namespace {
constexpr std::array kKinds{
#define DIAG(number, severity, name, text, explanation) DiagInfo{number, Severity::severity, #name, text, explanation},
#include "diagnostics/kinds.def"
#undef DIAG
};
} // namespace

const DiagInfo &diagInfo(Diag d) { return kKinds[static_cast<size_t>(d)]; }

const DiagInfo *findDiag(int number) {
    for (const DiagInfo &k : kKinds)
        if (k.number == number) return &k;
    return nullptr;
}

int Sources::add(std::string name, std::string text, bool fromDisk) {
    files.push_back({std::move(name), std::move(text), fromDisk});
    return size() - 1;
}

int Sources::find(std::string_view name) const {
    for (int i = 0; i < size(); ++i)
        if (files[static_cast<size_t>(i)].name == name) return i;
    return -1;
}

std::string_view Sources::line(int i, int line) const {
    if (i < 0 || i >= size() || line < 1) return {};
    std::string_view text = files[static_cast<size_t>(i)].text;
    for (; line > 1; --line) {
        size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    return text;
}

Diagnostics::Builder Diagnostics::add(Loc loc, Diag kind, std::string text) {
    for (const Diagnostic &d : list_)
        if (d.kind == kind && d.loc == loc && d.text == text) return {nullptr, 0};
    Severity severity = diagInfo(kind).severity;
    if (severity == Severity::Warning && werror_) severity = Severity::Error;
    if (severity == Severity::Error && ++errors_ > limit_ && limit_ > 0) return {nullptr, 0};
    list_.push_back({kind, severity, loc, std::move(text), {}});
    return {this, list_.size() - 1};
}
} // namespace tdl
