// Only the object is a target: a header keeps its time stamp while its text is the same, so a rule that promised to renew it
// would run for ever.
#include "driver/dependencies.h"

namespace tdl {

std::string quoteForMake(std::string_view name) {
    std::string out;
    for (size_t i = 0; i < name.size(); ++i) {
        char c = name[i];
        if (c == ' ' || c == '\t') {
            // Make halves the backslashes before an escaped blank, and only those.
            for (size_t b = i; b > 0 && name[b - 1] == '\\'; --b) out += '\\';
            out += '\\';
        } else if (c == '$') {
            out += '$';
        } else if (c == '#' || c == ':') {
            out += '\\';
        }
        out += c;
    }
    return out;
}

std::string makeRule(const std::vector<std::string> &targets, const std::vector<std::string> &files, bool phony) {
    std::string out;
    for (const std::string &t : targets) out += (out.empty() ? "" : " ") + t;
    out += ":";
    for (size_t i = 0; i < files.size(); ++i) out += (i == 0 ? " " : " \\\n ") + quoteForMake(files[i]);
    out += "\n";
    for (size_t i = 1; phony && i < files.size(); ++i) out += "\n" + quoteForMake(files[i]) + ":\n";
    return out;
}

} // namespace tdl
