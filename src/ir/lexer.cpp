#include "ir/lexer.h"
#include <cctype>

namespace tdl::ir {
namespace {
bool isWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
} // namespace

Token Lexer::token(Tok kind, size_t begin, size_t end) {
    Loc loc{file_, line_, static_cast<int32_t>(begin - lineStart_ + 1), static_cast<int32_t>(end - begin)};
    return {kind, text_.substr(begin, end - begin), loc};
}

Token Lexer::next() {
    for (;; ++pos_) { // white space and comments
        if (pos_ >= text_.size()) return token(Tok::End, text_.size(), text_.size());
        char c = text_[pos_];
        if (c == '\n') {
            ++line_;
            lineStart_ = pos_ + 1;
        } else if (text_.substr(pos_, 2) == "//") {
            while (pos_ + 1 < text_.size() && text_[pos_ + 1] != '\n') ++pos_;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            break;
        }
    }
    size_t begin = pos_;
    char c = text_[pos_];
    if (isWordStart(c)) {
        while (pos_ < text_.size() && isWord(text_[pos_])) ++pos_;
        return token(Tok::Ident, begin, pos_);
    }
    if (c == '%' && pos_ + 1 < text_.size() && isWord(text_[pos_ + 1])) {
        ++pos_;
        while (pos_ < text_.size() && isWord(text_[pos_])) ++pos_;
        Token t = token(Tok::Value, begin, pos_);
        t.text.remove_prefix(1);
        return t;
    }
    if (isDigit(c)) {
        while (pos_ < text_.size() && isDigit(text_[pos_])) ++pos_;
        bool real = false;
        if (pos_ + 1 < text_.size() && text_[pos_] == '.' && isDigit(text_[pos_ + 1])) {
            real = true;
            for (++pos_; pos_ < text_.size() && isDigit(text_[pos_]);) ++pos_;
        }
        if (pos_ + 1 < text_.size() && text_[pos_] == 'e') {
            size_t p = pos_ + 1;
            if (text_[p] == '-' || text_[p] == '+') ++p;
            if (p < text_.size() && isDigit(text_[p])) {
                real = true;
                for (pos_ = p; pos_ < text_.size() && isDigit(text_[pos_]);) ++pos_;
            }
        }
        return token(real ? Tok::Float : Tok::Int, begin, pos_);
    }
    if (c == '"') {
        for (++pos_; pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n'; ++pos_)
            if (text_[pos_] == '\\' && pos_ + 1 < text_.size()) ++pos_;
        bool closed = pos_ < text_.size() && text_[pos_] == '"';
        if (closed) ++pos_;
        Token t = token(closed ? Tok::Str : Tok::Bad, begin, pos_);
        if (closed) t.text = t.text.substr(1, t.text.size() - 2);
        return t;
    }
    std::string_view two = text_.substr(pos_, 2);
    for (std::string_view p : {"==", "!=", "<=", ">=", "&&", "||"})
        if (two == p) {
            pos_ += 2;
            return token(Tok::Punct, begin, pos_);
        }
    bool known = std::string_view("@()[]{}<>,:=+-*/%!^#.").find(c) != std::string_view::npos;
    ++pos_;
    return token(known ? Tok::Punct : Tok::Bad, begin, pos_);
}

} // namespace tdl::ir
