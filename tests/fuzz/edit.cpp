#include "edit.h"
#include "syntax/parse.h"
#include "syntax/print.h"
#include <algorithm>
#include <functional>

namespace tdl::fuzz {
namespace {

using namespace ast;

ExprPtr number(int64_t v) {
    auto e = std::make_unique<Expr>();
    e->node = IntLit{v};
    return e;
}

class Editor {
public:
    Editor(Module &m, int n) : module(m), left(n) {}
    /// Was there an edit of that number?
    bool run() {
        for (Item &i : module.items)
            if (auto *k = std::get_if<Kernel>(&i.node)) {
                kernel = k;
                editKernel();
            }
        return done;
    }

private:
    Module &module;
    Kernel *kernel = nullptr;
    int left;
    bool done = false;

    bool now() {
        if (done || left-- != 0) return false;
        return done = true;
    }

    template <class T> void each(std::vector<T> &list, const std::function<void(T &)> &f) {
        for (size_t n = 0; n < list.size() && !done; ++n) {
            if (now()) return void(list.erase(list.begin() + static_cast<std::ptrdiff_t>(n)));
            f(list[n]);
        }
    }

    // From the coarse to the fine.
    void editKernel() {
        for (size_t n = kernel->items.size(); n-- > 0 && !done;)
            if (now()) return void(kernel->items.erase(kernel->items.begin() + static_cast<std::ptrdiff_t>(n)));
        for (const std::string &t : tensorNames())
            if (now()) return removeTensor(t);
        for (KernelItem &item : kernel->items)
            if (auto *s = std::get_if<Stage>(&item.node)) statements(s->body);
        for (KernelItem &item : kernel->items) {
            auto *s = std::get_if<Stage>(&item.node);
            if (!s) continue;
            for (size_t n = 0; n < s->bindings.size(); ++n)
                if (now()) return removeAxis(*s, s->bindings[n].name.text);
            for (size_t e = 0; e < kernel->sizes.size(); ++e)
                if (now()) return removeAxis(*s, kernel->sizes[e].text);
        }
        eachType([&](Type &type) {
            for (size_t n = 0; n < type.dims.size() && !done; ++n)
                if (type.dims[n].axis && now()) type.dims[n].axis.reset();
            if (type.uniform && now()) type.uniform.reset();
            if (type.elem.text != "f32" && now()) type.elem.text = "f32";
        });
        for (KernelItem &item : kernel->items)
            if (auto *s = std::get_if<Stage>(&item.node)) {
                for (Binding &b : s->bindings) binding(b);
                inner(s->body);
            }
        each<Param>(kernel->params, [](Param &) {});
        each<Name>(kernel->sizes, [](Name &) {});
    }

    void eachType(const std::function<void(Type &)> &f) {
        for (Param &p : kernel->params) f(p.type);
        for (KernelItem &i : kernel->items)
            if (auto *l = std::get_if<Local>(&i.node)) f(l->type);
    }

    std::vector<std::string> tensorNames() {
        std::vector<std::string> names;
        for (Param &p : kernel->params)
            if (!p.type.dims.empty()) names.push_back(p.names[0].text);
        for (KernelItem &i : kernel->items)
            if (auto *l = std::get_if<Local>(&i.node)) names.push_back(l->names[0].text);
        return names;
    }

    // ---- Statements
    void statements(std::vector<Stmt> &list) {
        for (size_t n = list.size(); n-- > 0 && !done;)
            if (now()) return void(list.erase(list.begin() + static_cast<std::ptrdiff_t>(n)));
        for (size_t n = 0; n < list.size() && !done; ++n)
            if (auto *loop = std::get_if<For>(&list[n].node)) {
                if (now()) { // the loop's body instead of it
                    std::vector<Stmt> body = std::move(loop->body);
                    list.erase(list.begin() + static_cast<std::ptrdiff_t>(n));
                    for (size_t k = 0; k < body.size(); ++k) list.insert(list.begin() + static_cast<std::ptrdiff_t>(n + k), std::move(body[k]));
                    return;
                }
                statements(loop->body);
            }
    }

    void inner(std::vector<Stmt> &list) {
        for (Stmt &s : list) {
            if (done) return;
            if (auto *a = std::get_if<Assign>(&s.node)) {
                if (a->op != AssignOp::Set && now()) a->op = AssignOp::Set;
                expr(a->value);
            } else if (auto *d = std::get_if<Decl>(&s.node)) {
                if (d->type.elem.text != "f32" && now()) d->type.elem.text = "f32";
                expr(d->init);
            } else if (auto *f = std::get_if<For>(&s.node)) {
                for (Binding &b : f->bindings) binding(b);
                inner(f->body);
            }
        }
    }

    void binding(Binding &b) {
        if (done) return;
        if (auto *s = std::get_if<Slice>(&b.domain->node)) {
            if (now()) {
                ExprPtr base = std::move(s->base);
                b.domain = std::move(base);
                return;
            }
            expr(s->begin);
            expr(s->end);
        } else if (auto *shard = std::get_if<Shard>(&b.domain->node); shard && now()) {
            ExprPtr extent = std::move(shard->extent);
            b.domain = std::move(extent);
        }
    }

    // ---- Expressions: an operand instead of the whole, or a number
    void instead(ExprPtr &e, ExprPtr &part) {
        ExprPtr keep = std::move(part);
        e = std::move(keep);
    }
    static bool isSimple(const Expr &e) { return get<IntLit>(e) || get<NameRef>(e) || get<FloatLit>(e) || get<BoolLit>(e); }

    void expr(ExprPtr &e) {
        if (done || get<IntLit>(*e)) return;
        for (int64_t v : {0, 1})
            if (now()) return void(e = number(v));
        eachPart(*e, [&](ExprPtr &part) {
            if (!done && now()) instead(e, part);
        });
        if (done) return;
        if (auto *c = std::get_if<Chain>(&e->node); c && c->operands.size() > 2)
            for (size_t n = 1; n < c->operands.size(); ++n)
                if (now()) {
                    c->operands.erase(c->operands.begin() + static_cast<std::ptrdiff_t>(n));
                    c->ops.erase(c->ops.begin() + static_cast<std::ptrdiff_t>(n - 1));
                    return;
                }
        eachPart(*e, [&](ExprPtr &part) { expr(part); });
    }

    static void eachPart(Expr &e, const std::function<void(ExprPtr &)> &f) {
        struct Visitor {
            const std::function<void(ExprPtr &)> &f;
            void operator()(IntLit &) {}
            void operator()(FloatLit &) {}
            void operator()(BoolLit &) {}
            void operator()(NameRef &) {}
            void operator()(Chain &c) { all(c.operands); }
            void operator()(Unary &u) { f(u.arg); }
            void operator()(Cast &c) { f(c.arg); }
            void operator()(OrElse &o) { f(o.arg); }
            void operator()(Index &i) { all(i.indices); }
            void operator()(Slice &) {}
            void operator()(Member &) {}
            void operator()(Shard &) {}
            void operator()(Call &c) { all(c.args); }
            void all(std::vector<ExprPtr> &list) {
                for (size_t n = 0; n < list.size() && list[n]; ++n) f(list[n]);
            }
        };
        std::visit(Visitor{f}, e.node);
    }

    // ---- Tensors and axes everywhere
    static bool mentions(Expr &e, const std::string &name) {
        if (const auto *n = get<NameRef>(e)) return n->name == name;
        bool found = false;
        eachPart(e, [&](ExprPtr &part) { found |= mentions(*part, name); });
        return found;
    }

    void eachStmt(std::vector<Stmt> &list, const std::function<void(Stmt &)> &f) {
        for (Stmt &s : list) {
            f(s);
            if (auto *loop = std::get_if<For>(&s.node)) eachStmt(loop->body, f);
        }
    }
    static void eachExpr(ExprPtr &e, const std::function<void(ExprPtr &)> &f) {
        eachPart(*e, [&](ExprPtr &part) { eachExpr(part, f); });
        f(e);
    }
    void eachExpr(Stmt &s, const std::function<void(ExprPtr &)> &f) {
        if (auto *a = std::get_if<Assign>(&s.node)) eachExpr(a->value, f);
        if (auto *d = std::get_if<Decl>(&s.node)) eachExpr(d->init, f);
    }
    void eachStage(const std::function<void(Stage &)> &f) {
        for (KernelItem &i : kernel->items)
            if (auto *s = std::get_if<Stage>(&i.node)) f(*s);
    }

    static void dropStores(std::vector<Stmt> &list, const std::string &tensor) {
        std::erase_if(list, [&](Stmt &s) {
            auto *a = std::get_if<Assign>(&s.node);
            return a && a->targets[0].name.text == tensor && !a->targets[0].indices.empty();
        });
        for (Stmt &s : list)
            if (auto *f = std::get_if<For>(&s.node)) dropStores(f->body, tensor);
    }

    // Loads of it become 1.
    void removeTensor(const std::string &tensor) {
        std::erase_if(kernel->params, [&](Param &p) { return p.names[0].text == tensor; });
        std::erase_if(kernel->items, [&](KernelItem &i) {
            auto *l = std::get_if<Local>(&i.node);
            return l && l->names[0].text == tensor;
        });
        eachStage([&](Stage &s) {
            dropStores(s.body, tensor);
            eachStmt(s.body, [&](Stmt &stmt) {
                eachExpr(stmt, [&](ExprPtr &e) {
                    auto *o = std::get_if<OrElse>(&e->node);
                    auto *i = std::get_if<Index>(o ? &o->arg->node : &e->node);
                    const auto *n = i ? get<NameRef>(*i->base) : nullptr;
                    if (n && n->name == tensor) e = number(1);
                });
            });
        });
    }

    void removeDimension(const std::string &tensor, size_t d) {
        auto fromType = [&](std::vector<Name> &names, Type &t) {
            if (names[0].text == tensor && d < t.dims.size()) t.dims.erase(t.dims.begin() + static_cast<std::ptrdiff_t>(d));
        };
        for (Param &p : kernel->params) fromType(p.names, p.type);
        for (KernelItem &i : kernel->items)
            if (auto *l = std::get_if<Local>(&i.node)) fromType(l->names, l->type);
        auto from = [&](std::vector<ExprPtr> &indices) {
            if (d < indices.size()) indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(d));
        };
        eachStage([&](Stage &s) {
            eachStmt(s.body, [&](Stmt &stmt) {
                if (auto *a = std::get_if<Assign>(&stmt.node); a && a->targets[0].name.text == tensor) from(a->targets[0].indices);
                eachExpr(stmt, [&](ExprPtr &e) {
                    auto *i = std::get_if<Index>(&e->node);
                    const auto *n = i ? get<NameRef>(*i->base) : nullptr;
                    if (n && n->name == tensor) from(i->indices);
                });
            });
        });
    }

    // A loop of the header, or an extent that is taken whole, with all dimensions that it indexes.
    void removeAxis(Stage &stage, const std::string &axis) {
        std::vector<std::pair<std::string, size_t>> dimensions;
        auto find = [&](const std::string &tensor, std::vector<ExprPtr> &indices) {
            for (size_t d = 0; d < indices.size(); ++d)
                if (mentions(*indices[d], axis)) dimensions.emplace_back(tensor, d);
        };
        eachStmt(stage.body, [&](Stmt &s) {
            if (auto *a = std::get_if<Assign>(&s.node)) find(a->targets[0].name.text, a->targets[0].indices);
            if (auto *d = std::get_if<Decl>(&s.node))
                std::erase_if(d->type.dims, [&](Dim &dim) { return mentions(*dim.extent, axis); });
            eachExpr(s, [&](ExprPtr &e) {
                if (auto *i = std::get_if<Index>(&e->node))
                    if (const auto *n = get<NameRef>(*i->base)) find(n->name, i->indices);
                if (auto *c = std::get_if<Call>(&e->node); c && !c->over.empty()) {
                    std::erase_if(c->over, [&](Name &n) { return n.text == axis; });
                    if (c->over.empty()) instead(e, c->args[0]);
                }
            });
        });
        std::sort(dimensions.begin(), dimensions.end());
        dimensions.erase(std::unique(dimensions.begin(), dimensions.end()), dimensions.end());
        for (size_t n = dimensions.size(); n-- > 0;) removeDimension(dimensions[n].first, dimensions[n].second);
        std::erase_if(stage.bindings, [&](Binding &b) { return b.name.text == axis; });
    }
};

} // namespace

std::optional<std::string> edit(const std::string &text, int n) {
    Sources sources;
    Diagnostics diags(sources);
    auto module = parse(sources, sources.add("reduced.tdl", text), diags);
    if (!module || !Editor(*module, n).run()) return std::nullopt;
    // An edit may leave what has no spelling, such as a sum of nothing.
    std::string out = print(*module);
    return out.size() < text.size() ? out : std::string();
}

} // namespace tdl::fuzz
