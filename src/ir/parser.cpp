// Reads IR text. Recursive descent, one token ahead; the types of attributes come from ops.def. After an error
// the rest of the enclosing top-level operation is skipped, so that a file with several errors shows several.
#include "ir/lexer.h"
#include "ir/text.h"
#include <charconv>
#include <limits>

namespace tdl::ir {
namespace {

constexpr int kMaxDepth = 256;

struct Failed {}; // unwinds to the next top-level operation; never leaves parse()

class Parser {
public:
    // The lexer keeps views into the text, and adding sources may move it: hence the copy.
    Parser(Sources &s, int f, Diagnostics &d) : sources(s), diags(d), input(s[f].text), lexer(input, f) { advance(); }

    std::unique_ptr<Module> run() {
        auto module = std::make_unique<Module>();
        try {
            header(*module);
        } catch (Failed) {
            return nullptr;
        }
        bool ok = true;
        while (tok.kind != Tok::End) {
            Loc start = tok.loc;
            try {
                names.clear();
                module->top.append(operation(0));
            } catch (Failed) {
                ok = false;
                if (tok.loc == start) advance(); // this token cannot begin an operation
                recover();
            }
        }
        return ok ? std::move(module) : nullptr;
    }

private:
    Sources &sources;
    Diagnostics &diags;
    std::string input;
    Lexer lexer;
    Token tok;
    std::vector<int> files; // of locations: #n -> index in sources
    std::unordered_map<std::string, Value *> names;
    int depth = 0; // of nesting while parsing, for the cap

    void advance() { tok = lexer.next(); }

    [[noreturn]] void fail(std::string_view wanted) {
        std::string found = tok.kind == Tok::End ? "the end of the file" : "`" + std::string(tok.text) + "`";
        diags.report(tok.loc, Diag::IrExpected, wanted, found);
        throw Failed{};
    }
    bool accept(std::string_view punct) {
        if (!tok.is(punct)) return false;
        advance();
        return true;
    }
    void expect(std::string_view punct) {
        if (!accept(punct)) fail(fmt::format("`{}`", punct));
    }
    bool acceptWord(std::string_view w) {
        if (!tok.word(w)) return false;
        advance();
        return true;
    }
    std::string ident(std::string_view what) {
        if (tok.kind != Tok::Ident) fail(what);
        std::string s(tok.text);
        advance();
        return s;
    }
    // Skips to a token at the start of a line that can begin a top-level operation.
    void recover() {
        while (tok.kind != Tok::End && !(tok.loc.col == 1 && tok.kind == Tok::Ident)) advance();
    }

    struct Nest {
        Parser &p;
        explicit Nest(Parser &q) : p(q) {
            if (++p.depth > kMaxDepth) p.fail(fmt::format("at most {} nested levels", kMaxDepth));
        }
        ~Nest() { --p.depth; }
    };

    void header(Module &m) {
        if (!acceptWord("tdl")) fail("`tdl.tile 1`, `tdl.plan 1` or `tdl.kern 1`");
        expect(".");
        bool known = false;
        for (Stage s : {Stage::Tile, Stage::Plan, Stage::Kernel})
            if (!known && acceptWord(stageName(s))) {
                m.stage = s;
                known = true;
            }
        if (!known) fail("`tile`, `plan` or `kern`");
        if (tok.kind != Tok::Int || tok.text != "1") fail("version 1");
        advance();
        while (tok.word("source")) {
            advance();
            std::string name = string();
            int file = sources.find(name);
            if (file < 0) file = sources.add(name, "");
            files.push_back(file);
            m.sources.push_back({name, file});
        }
    }

    // [%a, %b =] text [@symbol] [%c, %d[%e]] [(attributes)] [: types] [@location] {block}*
    std::unique_ptr<Op> operation(int level) {
        Nest nest(*this);
        std::vector<std::string> resultNames;
        while (tok.kind == Tok::Value) {
            resultNames.emplace_back(tok.text);
            advance();
            if (!accept(",")) {
                expect("=");
                break;
            }
        }
        Loc text = tok.loc;
        if (tok.kind != Tok::Ident) fail("an operation");
        auto kind = findOp(tok.text);
        if (!kind) {
            diags.report(tok.loc, Diag::IrUnknownOp, tok.text);
            throw Failed{};
        }
        advance();
        auto op = std::make_unique<Op>(*kind);
        op->text = text;
        if (tok.is("@")) {
            advance();
            if (tok.kind == Tok::Ident)
                op->symbol = ident("a name");
            else
                op->loc = location();
        }
        while (tok.kind == Tok::Value) {
            op->operands.push_back(use());
            if (!accept(",") && !accept("[")) break; // the next line may begin with a value
        }
        accept("]");
        if (accept("(")) attributes(*op);
        if (accept(":"))
            for (size_t i = 0;; ++i) {
                op->addResult(type());
                if (!accept(",")) break;
            }
        if (resultNames.size() != op->results.size()) {
            diags.report(text, Diag::IrResultCount, op->info().text, resultNames.size(), op->results.size());
            throw Failed{};
        }
        if (accept("@")) op->loc = location();
        while (tok.is("{")) block(op->addBlock(), level);
        for (size_t i = 0; i < resultNames.size(); ++i) define(resultNames[i], op->results[i].get());
        return op;
    }

    void block(Block &b, int level) {
        expect("{");
        if (accept("^")) {
            expect("(");
            do {
                if (tok.kind != Tok::Value) fail("a value");
                std::string name(tok.text);
                advance();
                expect(":");
                define(name, b.addArg(type()));
            } while (accept(","));
            expect(")");
        }
        while (!accept("}")) {
            if (tok.kind == Tok::End) fail("`}`");
            b.append(operation(level + 1));
        }
    }

    void define(const std::string &name, Value *v) {
        bool digits = name.find_first_not_of("0123456789") == std::string::npos;
        if (!digits) v->hint = name;
        if (!names.emplace(name, v).second) {
            diags.report(tok.loc, Diag::IrRedefined, name);
            throw Failed{};
        }
    }
    Value *use() {
        auto it = names.find(std::string(tok.text));
        if (it == names.end()) {
            diags.report(tok.loc, Diag::IrUndefined, tok.text);
            throw Failed{};
        }
        advance();
        return it->second;
    }

    Loc location() { // after @: [n#]line:col[+len]
        size_t file = 0;
        int64_t line = integer();
        if (accept("#")) {
            file = static_cast<size_t>(line);
            line = integer();
        }
        expect(":");
        Loc loc{-1, static_cast<int32_t>(line), static_cast<int32_t>(integer()), 1};
        if (accept("+")) loc.len = static_cast<int32_t>(integer());
        if (file < files.size()) loc.file = files[file];
        return loc;
    }

    Type type() {
        std::string name = ident("a type");
        if (auto e = parseElem(name)) {
            Type t = Type::scalar(*e);
            if (accept("[")) {
                do t.axes.push_back(ident("an axis")); while (accept(","));
                expect("]");
            }
            return t;
        }
        if (name == "flag") return Type::of(TypeKind::Flag);
        if (name == "join") return Type::of(TypeKind::Join);
        if (name == "token") return Type::of(TypeKind::Token);
        if (name != "range" && name != "tensor" && name != "buffer" && name != "ptr") fail("a type");
        expect("<");
        std::string arg = ident("an element type or axis");
        expect(">");
        if (name == "range") return Type::range(arg);
        auto e = parseElem(arg);
        if (!e) fail("an element type");
        return Type::of(name == "tensor" ? TypeKind::Tensor : name == "buffer" ? TypeKind::Buffer : TypeKind::Ptr, *e);
    }

    // ---- Attributes ----------------------------------------------------------------------------------------------
    void attributes(Op &op) {
        if (accept(")")) return;
        do {
            Loc loc = tok.loc;
            std::string name = ident("an attribute");
            const AttrSpec *spec = op.info().attr(name);
            if (!spec || op.has(name)) {
                diags.report(loc, Diag::IrUnknownAttr, op.info().text, name, spec ? "has it twice" : "has no such attribute");
                throw Failed{};
            }
            if (spec->type != AttrType::Flag) expect("=");
            op.set(name, attribute(spec->type));
        } while (accept(","));
        expect(")");
    }

    template <class F> auto list(F &&item) {
        std::vector<decltype(item())> out;
        expect("[");
        if (accept("]")) return out;
        do out.push_back(item()); while (accept(","));
        expect("]");
        return out;
    }

    Attr attribute(AttrType t) {
        switch (t) {
        case AttrType::Flag: return Flag{};
        case AttrType::Int: return integer();
        case AttrType::Num: return number();
        case AttrType::Name: return Name{ident("a name")};
        case AttrType::Str: return string();
        case AttrType::Names: return list([&] { return ident("a name"); });
        case AttrType::Expr: return expression();
        case AttrType::Exprs: return list([&] { return expression(); });
        case AttrType::Dims:
            return list([&] {
                Dim d{expression(), false};
                d.dist = atRanks();
                return d;
            });
        case AttrType::Binds:
            return list([&] {
                Bind b{ident("a name"), 0};
                expect("=");
                b.value = integer();
                return b;
            });
        case AttrType::Loop: return loop();
        case AttrType::Loops: return list([&] { return loop(); });
        }
        fail("an attribute");
    }

    bool atRanks() {
        if (!accept("@")) return false;
        if (!acceptWord("ranks")) fail("`ranks`");
        return true;
    }

    LoopSpec loop() {
        LoopSpec l;
        l.name = ident("a loop name");
        if (!acceptWord("in")) fail("`in`");
        l.extent = expression();
        l.dist = atRanks();
        if (accept("[")) {
            l.sliced = true;
            l.lo = expression();
            expect(":");
            l.hi = expression();
            expect("]");
        }
        if (acceptWord("by")) {
            l.isRange = true;
            l.by = expression();
        }
        return l;
    }

    std::string string() {
        if (tok.kind != Tok::Str) fail("a quoted text");
        std::string out;
        for (size_t i = 0; i < tok.text.size(); ++i) {
            char c = tok.text[i];
            if (c == '\\' && i + 1 < tok.text.size()) {
                c = tok.text[++i];
                if (c == 'n') c = '\n';
            }
            out += c;
        }
        advance();
        return out;
    }

    int64_t integer() {
        bool negative = accept("-");
        if (tok.kind != Tok::Int) fail("an integer");
        uint64_t v = 0;
        auto [p, e] = std::from_chars(tok.text.begin(), tok.text.end(), v);
        uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
        if (e != std::errc() || v > limit) fail("a 64-bit integer");
        advance();
        return static_cast<int64_t>(negative ? 0 - v : v);
    }

    Attr number() {
        bool negative = tok.is("-");
        if (negative) advance();
        double v = 0;
        if (acceptWord("inf")) {
            v = std::numeric_limits<double>::infinity();
        } else if (acceptWord("nan")) {
            v = std::numeric_limits<double>::quiet_NaN();
        } else if (tok.kind == Tok::Float) {
            std::from_chars(tok.text.begin(), tok.text.end(), v);
            advance();
        } else {
            if (negative && tok.kind == Tok::Int && tok.text == "9223372036854775808") {
                advance();
                return std::numeric_limits<int64_t>::min();
            }
            int64_t i = integer();
            return negative ? -i : i;
        }
        return negative ? -v : v;
    }

    // ---- Integer expressions: the strengths are those of the printer in expr.cpp ----------------------------------
    Expr expression(int strength = 1) {
        Nest nest(*this);
        Expr left = primary();
        for (;;) {
            auto [kind, s] = binary();
            if (s < strength) return left;
            advance();
            left = Expr::make(kind, left, expression(s + 1));
        }
    }
    std::pair<ExprKind, int> binary() const {
        if (tok.kind != Tok::Punct) return {ExprKind::Const, 0};
        constexpr std::pair<ExprKind, int> table[] = {
            {ExprKind::Or, 1},  {ExprKind::And, 2}, {ExprKind::Eq, 3},  {ExprKind::Ne, 3},  {ExprKind::Lt, 3},
            {ExprKind::Le, 3},  {ExprKind::Gt, 3},  {ExprKind::Ge, 3},  {ExprKind::Add, 4}, {ExprKind::Sub, 4},
            {ExprKind::Mul, 5}, {ExprKind::Div, 5}, {ExprKind::Mod, 5}};
        for (auto &[k, s] : table)
            if (tok.text == spelling(k)) return {k, s};
        return {ExprKind::Const, 0};
    }
    Expr primary() {
        if (accept("(")) {
            Expr e = expression();
            expect(")");
            return e;
        }
        if (accept("!")) return Expr::make(ExprKind::Not, primary(), 0);
        if (tok.kind == Tok::Int || tok.is("-")) return integer();
        std::string name = ident("an expression");
        if (!tok.is("(")) return Expr::sym(name);
        for (ExprKind k : {ExprKind::Ceil, ExprKind::Min, ExprKind::Max})
            if (name == spelling(k)) {
                advance();
                Expr a = expression();
                expect(",");
                Expr b = expression();
                expect(")");
                return Expr::make(k, a, b);
            }
        fail("`ceil`, `min` or `max`");
    }
};

} // namespace

std::unique_ptr<Module> parse(Sources &sources, int file, Diagnostics &diags) {
    return Parser(sources, file, diags).run();
}

} // namespace tdl::ir
