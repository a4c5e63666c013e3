// Checks one text: `// -D NAME=VALUE ...` in its first line gives the options.
#pragma once
#include "../syntax/files.h"
#include "ir/text.h"
#include "sema/check.h"
#include "syntax/parse.h"

namespace tdl::test {

struct Checked {
    Sources sources;
    Diagnostics diags{sources};
    std::unique_ptr<ir::Module> module;

    Checked(const std::string &name, const std::string &text) {
        diags.setErrorLimit(0);
        CheckOptions options;
        std::istringstream first(text.substr(0, text.find('\n')));
        for (std::string word; first >> word;)
            if (word == "-D" && first >> word)
                options.defines.push_back({word.substr(0, word.find('=')), word.substr(word.find('=') + 1)});
        auto tree = parse(sources, sources.add(name, text), diags);
        if (tree) module = check(*tree, options, diags);
    }
    Checked(const Checked &) = delete;
};

} // namespace tdl::test
