#include "sema/scope.h"
#include <algorithm>

namespace tdl::sema {

bool Tensor::isPrivate() const {
    return !uniform && std::none_of(dims.begin(), dims.end(), [](const ir::Dim &d) { return d.dist; });
}

std::string_view describe(SymbolKind k) {
    switch (k) {
    case SymbolKind::Alias: return "a type";
    case SymbolKind::Const: return "a constant";
    case SymbolKind::Size: return "a size";
    case SymbolKind::Param: return "a scalar parameter";
    case SymbolKind::Tensor: return "a tensor";
    case SymbolKind::Tile: return "a tile constant";
    case SymbolKind::Let: return "a `let` name";
    case SymbolKind::Loop: return "a loop name";
    case SymbolKind::Variable: return "a variable";
    }
    return "";
}

void Scopes::pop() {
    for (const std::string &name : scopes.back()) {
        const Symbol &s = *table.at(name);
        if (!s.used && s.kind != SymbolKind::Loop && !s.broken) unused.push_back({name, s.loc});
    }
    for (const std::string &name : scopes.back()) table.erase(name);
    scopes.pop_back();
}

Symbol *Scopes::peek(const std::string &name) {
    auto it = table.find(name);
    return it == table.end() ? nullptr : it->second.get();
}

Symbol *Scopes::find(const std::string &name) {
    Symbol *s = peek(name);
    if (s) s->used = true;
    return s;
}

Symbol *Scopes::declare(const ast::Name &name, SymbolKind kind, Term term) {
    if (name.text == "ranks" || name.text == "rank" || parseElem(name.text)) {
        diags.report(name.loc, Diag::BuiltInName, name.text);
        return nullptr;
    }
    size_t depth = scopes.size();
    if (auto it = table.find(name.text); it != table.end()) {
        diags.report(name.loc, it->second->depth == depth ? Diag::DeclaredTwice : Diag::Shadows, name.text)
            .note(it->second->loc, "first declared here");
        return nullptr;
    }
    auto symbol = std::make_unique<Symbol>();
    symbol->name = name.text;
    symbol->loc = name.loc;
    symbol->kind = kind;
    symbol->broken = term.isError() && kind != SymbolKind::Alias;
    symbol->term = std::move(term);
    symbol->depth = depth;
    scopes.back().push_back(name.text);
    return (table[name.text] = std::move(symbol)).get();
}

} // namespace tdl::sema
