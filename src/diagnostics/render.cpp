// Text form of diagnostics: one line, the source line with carets, then the notes in the same form.
#include "diagnostics/diagnostics.h"
#include <algorithm>

namespace tdl {
namespace {

constexpr size_t kWidest = 160; // a longer source line is shown around the place

void showLine(std::string &out, const Sources &sources, Loc loc) {
    std::string_view line = sources.line(loc.file, loc.line);
    if (line.empty()) return;
    size_t col = std::min(static_cast<size_t>(std::max(loc.col, 1) - 1), line.size());
    size_t first = line.size() > kWidest && col > kWidest / 2 ? col - kWidest / 2 : 0;
    std::string shown, marks;
    for (size_t i = first; i < line.size() && i < first + kWidest; ++i) {
        char c = line[i];
        shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c; // tabs count one column here
        bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80; // inside a UTF-8 sequence
        if (i < col && !continues) marks += ' ';
    }
    size_t len = std::clamp<size_t>(static_cast<size_t>(std::max(loc.len, 1)), 1, std::max<size_t>(1, line.size() - col));
    marks += '^';
    for (size_t i = col + 1; i < col + len && i < first + kWidest; ++i)
        if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80) marks += '~';
    out += fmt::format("{:5} | {}\n      | {}\n", loc.line, shown, marks);
}

std::string place(const Sources &sources, Loc loc) {
    if (loc.file < 0 || loc.file >= sources.size()) return "tdlc: ";
    if (loc.line < 1) return fmt::format("{}: ", sources[loc.file].name);
    return fmt::format("{}:{}:{}: ", sources[loc.file].name, loc.line, loc.col);
}

} // namespace

std::string renderText(const Diagnostics &diags, bool color) {
    auto paint = [&](const char *code, std::string_view s) {
        return color ? fmt::format("\x1b[{}m{}\x1b[0m", code, s) : std::string(s);
    };
    std::string out;
    for (const Diagnostic &d : diags.list()) {
        bool error = d.severity == Severity::Error;
        std::string_view word = error ? "error" : d.severity == Severity::Warning ? "warning" : "performance";
        out += fmt::format("{}{} {} [TDL{:04}]\n", place(diags.sources(), d.loc),
                           paint(error ? "1;31" : "1;35", fmt::format("{}:", word)), d.text, diagInfo(d.kind).number);
        showLine(out, diags.sources(), d.loc);
        for (const Note &n : d.notes) {
            out += fmt::format("{}{} {}\n", place(diags.sources(), n.loc), paint("1;36", "note:"), n.text);
            showLine(out, diags.sources(), n.loc);
        }
    }
    return out;
}
} // namespace tdl
