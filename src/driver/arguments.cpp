// Words are separated by white space. Single or double quotes keep white space together, and a backslash takes any
// character as it is, inside of quotes and outside:
//
//     -D T=f16  "my kernels/a.tdl"  b\ c.tdl        --> [-D] [T=f16] [my kernels/a.tdl] [b c.tdl]
#include "driver/arguments.h"
#include <cctype>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace tdl {
namespace {

constexpr int kMaxNesting = 16;        // a file that names itself ends here
constexpr size_t kMaxArguments = 100'000;

// The text of a plain file; false for anything else, as for a name with @ that is an input.
bool read(const std::string &path, std::string &text) {
    struct stat st;
    if (::stat(path.c_str(), &st) != 0 || S_ISDIR(st.st_mode)) return false;
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    if (!in || (st.st_size > 0 && !(out << in.rdbuf()))) return false;
    text = out.str();
    return true;
}

std::string expand(const std::vector<std::string> &args, int depth, std::vector<std::string> &expanded) {
    for (const std::string &a : args) {
        std::string text;
        if (a.size() < 2 || a[0] != '@' || !read(a.substr(1), text)) {
            if (expanded.size() >= kMaxArguments) return fmt::format("more than {} arguments", kMaxArguments);
            expanded.push_back(a);
            continue;
        }
        if (depth == kMaxNesting) return fmt::format("argument files are nested more than {} deep at `{}`", kMaxNesting, a);
        if (std::string wrong = expand(splitWords(text), depth + 1, expanded); !wrong.empty()) return wrong;
    }
    return {};
}

} // namespace

std::vector<std::string> splitWords(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool inside = false; // of a word, perhaps an empty one: ""
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '\\' && i + 1 < text.size()) {
            word += text[++i];
            inside = true;
        } else if (quote) {
            if (c == quote) quote = 0;
            else word += c;
        } else if (c == '"' || c == '\'') {
            quote = c;
            inside = true;
        } else if (!std::isspace(static_cast<unsigned char>(c))) {
            word += c;
            inside = true;
        } else if (inside) {
            words.push_back(std::move(word));
            word.clear();
            inside = false;
        }
    }
    if (inside) words.push_back(std::move(word));
    return words;
}

std::string expandArgumentFiles(const std::vector<std::string> &args, std::vector<std::string> &expanded) {
    return expand(args, 0, expanded);
}

} // namespace tdl
