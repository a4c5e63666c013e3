// Which outer variables a loop assigns, and how: an accumulation may be cut and reordered, a recurrence may
// not.
//
//     for k in K by 64 { acc += dot(..) }               acc accumulates
//     for k in K by 64 { acc += x; m max= acc }         acc is read: a recurrence; m accumulates
//     for k in K { for t in T { n += 1 } }              n accumulates in both loops
#include "sema/lower.h"
#include <map>

namespace tdl::sema {

namespace {

struct Use {
    std::optional<ast::AssignOp> op; // by which it is assigned
    bool mixed = false;              // by another one, too, or it is read
};

class Scan {
public:
    std::map<std::string, Use> uses;
    std::vector<std::string> assigned; // in order of the first assignment

    void bindings(const ast::For &f, size_t first) {
        for (size_t i = first; i < f.bindings.size(); ++i) {
            read(*f.bindings[i].domain);
            if (f.bindings[i].by) read(*f.bindings[i].by);
        }
    }
    void body(const std::vector<ast::Stmt> &list) {
        for (const ast::Stmt &s : list) std::visit([&](auto &n) { statement(n); }, s.node);
    }

private:
    void statement(const ast::Decl &d) { read(*d.init); }
    void statement(const ast::Return &r) {
        for (auto &e : r.values) read(*e);
    }
    void statement(const ast::Scatter &s) {
        for (auto &e : s.target.indices) read(*e);
        read(*s.value);
    }
    void statement(const ast::For &f) {
        bindings(f, 0);
        body(f.body);
    }
    void statement(const ast::Assign &a) {
        for (const ast::Target &t : a.targets) {
            for (auto &e : t.indices) read(*e);
            if (!t.indices.empty()) continue;
            Use &u = uses[t.name.text];
            if (!u.op) assigned.push_back(t.name.text);
            u.mixed |= a.op == ast::AssignOp::Set || (u.op && *u.op != a.op);
            u.op = a.op;
        }
        read(*a.value);
    }

    void read(const ast::Expr &e) {
        std::visit([&](auto &n) { node(n); }, e.node);
    }
    void node(const ast::IntLit &) {}
    void node(const ast::FloatLit &) {}
    void node(const ast::BoolLit &) {}
    void node(const ast::NameRef &n) { uses[n.name].mixed = true; }
    void node(const ast::Chain &c) {
        for (auto &o : c.operands) read(*o);
    }
    void node(const ast::Unary &u) { read(*u.arg); }
    void node(const ast::Cast &c) { read(*c.arg); }
    void node(const ast::OrElse &o) {
        read(*o.arg);
        read(*o.fallback);
    }
    void node(const ast::Index &i) {
        read(*i.base);
        for (auto &e : i.indices) read(*e);
    }
    void node(const ast::Slice &s) {
        read(*s.base);
        read(*s.begin);
        read(*s.end);
    }
    void node(const ast::Member &m) { read(*m.base); }
    void node(const ast::Shard &s) { read(*s.extent); }
    void node(const ast::Call &c) {
        for (auto &a : c.args) read(*a);
    }
};

} // namespace

std::vector<Carried> carriedBy(Context &ctx, const ast::For &f) {
    Scan scan;
    scan.bindings(f, 1); // what the first one runs over is read before the loop
    scan.body(f.body);
    std::vector<Carried> out;
    for (const std::string &name : scan.assigned) {
        Symbol *s = ctx.scopes.peek(name);
        bool value = s && s->kind == SymbolKind::Variable && !s->broken && !s->term.is(TermKind::Domain);
        if (value) out.push_back({s, !scan.uses.at(name).mixed});
    }
    return out;
}

} // namespace tdl::sema
