// Names: one table, since shadowing is an error; a scope remembers what it has to take out again. Kernels,
// functions and labels of stages are not in it: they stand where nothing else can, and may be called like
// anything else.
#pragma once
#include "diagnostics/diagnostics.h"
#include "sema/term.h"
#include "support/elem.h"
#include "syntax/ast.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tdl::sema {

/// A tensor argument or `local` tensor.
struct Tensor {
    std::string name;
    Loc loc;
    std::string_view mode; // in, out, inout, local
    Elem elem = Elem::F32;
    std::vector<ir::Dim> dims;
    bool uniform = false;
    ir::Value *value = nullptr;
    bool isPrivate() const;
};

enum class SymbolKind : uint8_t { Alias, Const, Size, Param, Tensor, Tile, Let, Loop, Variable };
std::string_view describe(SymbolKind); // "a size", "a tile constant", ...

struct Symbol {
    std::string name;
    Loc loc;
    SymbolKind kind = SymbolKind::Variable;
    Term term;             // what it stands for; of a Variable: now
    ir::Type type;         // of a Variable: fixed by its declaration; unset if that was an error
    Elem elem = Elem::F32; // of an Alias
    bool broken = false;   // its declaration was in error
    bool used = false;
    size_t depth = 0;
};

class Scopes {
public:
    explicit Scopes(Diagnostics &d) : diags(d) { push(); }
    void push() { scopes.emplace_back(); }
    /// Forgets the names of the innermost scope; those that nobody used go to `unused`.
    void pop();
    Symbol *find(const std::string &name); // counts as a use
    Symbol *peek(const std::string &name); // does not
    /// Reports a name that is taken and gives nullptr then: the older one stays.
    Symbol *declare(const ast::Name &, SymbolKind, Term);
    std::vector<ast::Name> unused;

private:
    Diagnostics &diags;
    std::map<std::string, std::unique_ptr<Symbol>> table;
    std::vector<std::vector<std::string>> scopes;
};

/// Opens a scope for as long as it lives.
class Scoped {
public:
    explicit Scoped(Scopes &s) : scopes(s) { scopes.push(); }
    ~Scoped() { scopes.pop(); }
    Scoped(const Scoped &) = delete;
    Scoped &operator=(const Scoped &) = delete;

private:
    Scopes &scopes;
};

} // namespace tdl::sema
