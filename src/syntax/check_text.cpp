// Guards for the lexer: a broken text is refused with the place of its first fault.
//
//     "kernel \xff" --> a.tdl:1:8: error: invalid UTF-8 at byte 7 [TDL0003]
#include "syntax/check_text.h"
#include "syntax/parse.h"
#include <algorithm>

namespace tdl {
namespace {

Loc placeOf(std::string_view text, int file, size_t at) {
    std::string_view before = text.substr(0, at);
    auto line = std::count(before.begin(), before.end(), '\n');
    size_t start = before.rfind('\n') + 1; // npos + 1 is 0
    return {file, static_cast<int32_t>(line + 1), static_cast<int32_t>(at - start + 1), 1};
}

} // namespace

size_t utf8Length(std::string_view text, size_t i) {
    auto byte = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    auto continues = [&](size_t k, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(k) >= low && byte(k) <= high;
    };
    unsigned c = byte(i);
    if (i >= text.size()) return 0;
    if (c < 0x80) return 1;
    if (c >= 0xC2 && c <= 0xDF) return continues(i + 1) ? 2 : 0;
    if (c >= 0xE0 && c <= 0xEF) { // no overlong forms, no surrogates
        unsigned low = c == 0xE0 ? 0xA0 : 0x80, high = c == 0xED ? 0x9F : 0xBF;
        return continues(i + 1, low, high) && continues(i + 2) ? 3 : 0;
    }
    if (c >= 0xF0 && c <= 0xF4) { // up to U+10FFFF
        unsigned low = c == 0xF0 ? 0x90 : 0x80, high = c == 0xF4 ? 0x8F : 0xBF;
        return continues(i + 1, low, high) && continues(i + 2) && continues(i + 3) ? 4 : 0;
    }
    return 0;
}

bool checkText(const Sources &sources, int file, Diagnostics &diags) {
    std::string_view text = sources[file].text;
    if (text.size() > kMaxSourceBytes) {
        diags.report({file, 0, 0, 0}, Diag::TooLarge, sources[file].name, text.size(), kMaxSourceBytes);
        return false;
    }
    for (size_t i = 0; i < text.size();) {
        size_t length = utf8Length(text, i);
        if (length == 0) {
            diags.report(placeOf(text, file, i), Diag::InvalidUtf8, i);
            return false;
        }
        if (text[i] == '\0') {
            diags.report(placeOf(text, file, i), Diag::NulByte, i);
            return false;
        }
        i += length;
    }
    return true;
}

} // namespace tdl
