// Statements, kernels and modules as text.
#include "syntax/print.h"
#include "syntax/print_parts.h"

namespace tdl {
namespace {

using namespace ast;
using namespace syntax;

constexpr size_t kWidth = 110; // parameters that do not fit go one a line

class Printer {
public:
    std::string out;

    void module(const Module &m) {
        for (size_t i = 0; i < m.items.size(); ++i) {
            bool small =
                i > 0 && m.items[i].node.index() == m.items[i - 1].node.index() && oneLine(m.items[i]);
            if (i > 0 && !small) out += '\n';
            std::visit(*this, m.items[i].node);
        }
    }

    // What stands at the top.
    void operator()(const Import &n) { line("import \"" + n.path + "\""); }
    void operator()(const TypeAlias &n) { line("type " + n.name.text + " = " + n.type.text); }
    void operator()(const Fn &n) {
        doc(n.doc);
        std::string head = "fn " + n.name.text;
        printNameArgs(head, n.axes);
        open(head + params(n.params, head.size()));
        block(n.body);
        close();
    }
    void operator()(const Kernel &n) {
        doc(n.doc);
        std::string head = "kernel " + n.name.text;
        printNameArgs(head, n.sizes);
        if (!n.mesh.empty()) {
            printNames(head += " on mesh(", n.mesh);
            head += ')';
        }
        open(head + params(n.params, head.size()));
        for (const KernelItem &i : n.items) std::visit(*this, i.node);
        close();
    }
    void operator()(const Schedule &n) {
        doc(n.doc);
        std::string head = "schedule " + n.kernel.text;
        if (!n.targets.empty()) printNames(head += " for ", n.targets);
        open(head);
        for (const Directive &d : n.directives) directive(d);
        close();
    }

    // What stands in kernels.
    void operator()(const Define &n) {
        std::string_view word = n.kind == DefineKind::Tile  ? "tile "
                                : n.kind == DefineKind::Let ? "let "
                                                            : "const ";
        line(std::string(word) + definitions(n.list));
    }
    void operator()(const Require &n) { line("require " + print(*n.condition)); }
    void operator()(const Local &n) {
        std::string text = "local ";
        printNames(text, n.names);
        line(text + ": " + print(n.type));
    }
    void operator()(const Stage &n) {
        std::string head = "stage " + n.name.text;
        if (!n.bindings.empty()) (head += ' ') += header(n.bindings);
        open(std::move(head));
        block(n.body);
        close();
    }
    void operator()(const StageCall &n) {
        std::string text = "stage " + n.name.text + ": " + n.kernel.text;
        printNameArgs(text, n.sizes);
        printExprs(text += '(', n.args);
        line(text + ')');
    }
    void operator()(const Repeat &n) {
        open("repeat " + print(*n.count));
        for (const KernelItem &i : n.items) std::visit(*this, i.node);
        close();
    }

    // Statements.
    void operator()(const Decl &n) {
        std::string text;
        printNames(text, n.names);
        line(text + ": " + print(n.type) + " = " + print(*n.init));
    }
    void operator()(const Assign &n) {
        std::string text;
        for (size_t i = 0; i < n.targets.size(); ++i) text += (i > 0 ? ", " : "") + target(n.targets[i]);
        ((text += ' ') += spelling(n.op)) += ' ';
        line(text + print(*n.value));
    }
    void operator()(const For &n) {
        open(header(n.bindings));
        block(n.body);
        close();
    }
    void operator()(const Return &n) {
        std::string text = "return ";
        printExprs(text, n.values);
        line(text);
    }
    void operator()(const Scatter &n) {
        line("scatter " + target(n.target) + " = " + print(*n.value) + ' ' + n.mode.text);
    }

private:
    int depth_ = 0;

    void line(std::string_view text) { ((out.append(static_cast<size_t>(depth_) * 4, ' ')) += text) += '\n'; }
    void open(std::string text) {
        line(text + " {");
        ++depth_;
    }
    void close() {
        --depth_;
        line("}");
    }
    void block(const std::vector<Stmt> &stmts) {
        for (const Stmt &s : stmts) std::visit(*this, s.node);
    }
    static bool oneLine(const Item &i) { return get<Import>(i) || get<TypeAlias>(i) || get<Define>(i); }

    void doc(const std::string &text) {
        if (text.empty()) return;
        for (size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
            end = text.find('\n', at);
            std::string part = text.substr(at, end == std::string::npos ? end : end - at);
            line(part.empty() ? "///" : "/// " + part);
        }
    }
    static std::string target(const Target &t) {
        std::string text = t.name.text;
        if (t.indices.empty()) return text;
        printExprs(text += '[', t.indices);
        return text += ']';
    }
    static std::string header(const std::vector<Binding> &bindings) {
        std::string text = "for ";
        for (size_t i = 0; i < bindings.size(); ++i) {
            const Binding &b = bindings[i];
            text += (i > 0 ? ", " : "") + b.name.text + " in " + print(*b.domain);
            if (b.by) text += " by " + print(*b.by);
            if (b.anyOrder) text += " in any order";
        }
        return text;
    }
    static std::string definitions(const std::vector<Definition> &list) {
        std::string text;
        for (size_t i = 0; i < list.size(); ++i)
            text += (i > 0 ? ", " : "") + list[i].name.text + " = " + print(*list[i].value);
        return text;
    }
    /// `(A: in f32[N], ...)` behind a head of `column` bytes, on one line or aligned one a line.
    static std::string params(const std::vector<Param> &params, size_t column) {
        std::string flat = "(", tall = "(";
        for (size_t i = 0; i < params.size(); ++i) {
            std::string text;
            printNames(text, params[i].names);
            text += ": ";
            if (params[i].mode != Mode::None) (text += spelling(params[i].mode)) += ' ';
            printType(text, params[i].type);
            (flat += i > 0 ? ", " : "") += text;
            (tall += i > 0 ? ",\n" + std::string(column + 1, ' ') : "") += text;
        }
        return (column + flat.size() + 3 <= kWidth ? flat : tall) + ')';
    }
    void directive(const Directive &d) {
        if (!d.tiles.empty()) return line("tile " + definitions(d.tiles));
        std::string text = d.what.text;
        if (!d.subject.text.empty()) text += ' ' + d.subject.text;
        for (size_t i = 0; i < d.clauses.size(); ++i) {
            text += i == 0 ? ":" : ",";
            for (const Word &w : d.clauses[i].words) text += ' ' + w.text;
        }
        line(text);
    }
};

} // namespace

std::string print(const ast::Module &m) {
    Printer printer;
    printer.module(m);
    return std::move(printer.out);
}

} // namespace tdl
