// The syntax tree: what was written, and nothing about what it means. Names are not resolved, types not
// checked, words such as `ranks` are ordinary names; parentheses and comments are gone, doc comments (`///`)
// are kept.
//
//     stage s for i in N by 64 { Y[i] = sum(X[i] over ranks) }
//
//     Stage{name s, bindings {i in NameRef N by IntLit 64}, body {
//         Assign{targets {Y[i]}, Set, Call{sum, args {Index{NameRef X, {NameRef i}}}, over {ranks}}}}}
//
// Every node covers its text by a Loc (a node over several lines: its part of the first line). Nodes are
// plain structs in a std::variant `node`; look at them with `get<Call>(e)` or std::visit. Trees are at most
// kMaxDepth deep (parse.h), so recursion over them is safe: long sums are one wide Chain, not a deep tree.
#pragma once
#include "diagnostics/loc.h"
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tdl::ast {

struct Name {
    std::string text;
    Loc loc;
};

// ---- Expressions -------------------------------------------------------------------------------------

struct Expr;
using ExprPtr = std::unique_ptr<Expr>; // never null unless a comment says so

enum class BinaryOp : uint8_t {
#define BINARY(name, text, level) name,
#include "syntax/operators.def"
#undef BINARY
};
enum class UnaryOp : uint8_t {
#define UNARY(name, text) name,
#include "syntax/operators.def"
#undef UNARY
};

struct IntLit {
    int64_t value = 0;
};
struct FloatLit { // also `inf` and `nan`
    double value = 0;
    std::string text; // as written
};
struct BoolLit {
    bool value = false;
};
struct NameRef { // a variable, size, tensor, axis, `rank`, `ranks`
    std::string name;
};
/// operands[0] ops[0] operands[1] ops[1] ...: n + 1 operands, n >= 1 operators of one level, applied from the
/// left: `a - b + c` is (a - b) + c. A comparison has exactly one operator.
struct Chain {
    std::vector<ExprPtr> operands;
    std::vector<BinaryOp> ops;
};
struct Unary {
    UnaryOp op = UnaryOp::Neg;
    ExprPtr arg;
};
struct Cast { // arg as type
    ExprPtr arg;
    Name type;
};
struct OrElse { // X[...] or fallback
    ExprPtr arg, fallback;
};
struct Index { // base[indices]
    ExprPtr base;
    std::vector<ExprPtr> indices;
};
struct Slice { // base[begin : end]
    ExprPtr base, begin, end;
};
struct Member { // base.member: i.begin, i.end
    ExprPtr base;
    Name member;
};
struct Shard { // extent @ axis: the block of an extent that lies on this rank
    ExprPtr extent;
    Name axis;
};
/// callee<axes>(args over over): built-in functions, reductions and `fn`s alike.
struct Call {
    Name callee;
    std::vector<Name> axes; // of `online<G, j, D>(...)`; mostly empty
    std::vector<ExprPtr> args;
    std::vector<Name> over; // axes, `ranks` or a mesh axis; empty without `over`
};

struct Expr {
    Loc loc;
    std::variant<IntLit, FloatLit, BoolLit, NameRef, Chain, Unary, Cast, OrElse, Index, Slice, Member, Shard,
                 Call>
        node;
};

// ---- Types -------------------------------------------------------------------------------------------

/// One dimension of a tensor type: `M @ ranks`, `ceil(K, 128)`, ragged `e in E @ ranks`; of a tile type: an
/// axis name.
struct Dim {
    Loc loc;
    std::optional<Name> binder; // the `e` of `e in E`
    ExprPtr extent;             // without its `@`
    std::optional<Name> axis;   // the `ranks` (or mesh axis) of `@ ranks`
};
struct Type {
    Loc loc;
    std::optional<Loc> uniform; // where `uniform` stands
    Name elem;                  // an element type or an alias of one
    std::vector<Dim> dims;      // empty: a scalar
};
enum class Mode : uint8_t { None, In, Out, InOut }; // None: a scalar of a kernel, any parameter of a fn

// ---- Statements --------------------------------------------------------------------------------------

/// One loop of a header: `i in M @ ranks by TM in any order`.
struct Binding {
    Loc loc;
    Name name;
    ExprPtr domain; // an extent, Shard, Slice or range
    ExprPtr by;     // null: the loop binds a scalar
    bool anyOrder = false;
};
struct Target { // `acc` or `C[i, j]`
    Loc loc;
    Name name;
    std::vector<ExprPtr> indices; // empty: a plain name
};
enum class AssignOp : uint8_t { Set, Add, Max, Min }; // = += max= min=

struct Stmt;
struct Decl { // acc: f32[i, j] = 0
    std::vector<Name> names;
    Type type;
    ExprPtr init;
};
struct Assign { // C[i, j] = e, acc += e, m, l, o = f(...)
    std::vector<Target> targets;
    AssignOp op = AssignOp::Set;
    ExprPtr value;
};
struct For {
    std::vector<Binding> bindings;
    std::vector<Stmt> body;
};
struct Return { // of a fn
    std::vector<ExprPtr> values;
};
struct Scatter { // scatter target = value unique
    Target target;
    ExprPtr value;
    Name mode;
};
struct Stmt {
    Loc loc;
    std::variant<Decl, Assign, For, Return, Scatter> node;
};

// ---- Kernels -----------------------------------------------------------------------------------------

enum class DefineKind : uint8_t { Tile, Const, Let };
struct Definition { // TM = 128
    Name name;
    ExprPtr value;
};
struct Define { // tile TM = 128, TN = 256
    DefineKind kind = DefineKind::Const;
    std::vector<Definition> list;
};
struct Require {
    ExprPtr condition;
};
struct Local { // local M, L: uniform f32[N]
    std::vector<Name> names;
    Type type;
};
struct Stage {
    Name name;
    std::vector<Binding> bindings; // empty: one instance
    std::vector<Stmt> body;
};
struct StageCall { // stage down: gemm_rs<M, N, K>(A, B, T)
    Name name, kernel;
    std::vector<Name> sizes; // mostly empty: solved from the arguments
    std::vector<ExprPtr> args;
};
struct KernelItem;
struct Repeat { // repeat n { stages }
    ExprPtr count;
    std::vector<KernelItem> items;
};
struct KernelItem {
    Loc loc;
    std::variant<Define, Require, Local, Stage, StageCall, Repeat> node;
};

struct Param { // Q, K, V: in bf16[H, S @ ranks, D]
    Loc loc;
    std::vector<Name> names;
    Mode mode = Mode::None;
    Loc modeLoc; // of `in`, `out`, `inout`; invalid for Mode::None
    Type type;
};
struct Kernel {
    std::string doc; // the `///` lines before it without their marks, joined by \n
    Name name;
    std::vector<Name> sizes;
    std::vector<Name> mesh; // the axes of `on mesh(x, y)`; empty: the ranks stand in a line
    std::vector<Param> params;
    std::vector<KernelItem> items;
};
struct Fn {
    std::string doc;
    Name name;
    std::vector<Name> axes;
    std::vector<Param> params;
    std::vector<Stmt> body;
};

// ---- Schedules and modules ---------------------------------------------------------------------------

struct Word { // a word, number or sign of a clause, as written
    std::string text;
    Loc loc;
};
struct Clause { // chunk 64 rows
    Loc loc;
    std::vector<Word> words; // at least one
};
struct Directive { // fetch A: bulk, comm_sms 8, chunk 64 rows
    Loc loc;
    Name what; // `fetch`, `stage`, `sum`, ...; `kernel` for the kernel as a whole, `tile` for tile constants
    Name subject; // what it is about; empty for `kernel` and `tile`
    std::vector<Clause> clauses;
    std::vector<Definition> tiles; // of `tile TM = 128, ...`, which has no clauses
};
struct Schedule {
    std::string doc;
    Name kernel;
    std::vector<Name> targets; // of `for sm_90a, ...`; empty: all
    std::vector<Directive> directives;
};
struct Import {
    std::string path;
    Loc pathLoc;
};
struct TypeAlias { // type T = bf16
    Name name, type;
};
struct Item {
    Loc loc;                                                            // of its first line
    std::variant<Import, TypeAlias, Define, Fn, Kernel, Schedule> node; // Define: `const` only
};
struct Module {
    int file = -1; // index into Sources
    std::vector<Item> items;
};

// ---- Access ------------------------------------------------------------------------------------------

/// The node as a T, or nullptr: `if (const auto *call = ast::get<ast::Call>(e)) ...`.
template <class T, class Node> const T *get(const Node &n) {
    return std::get_if<T>(&n.node);
}

std::string_view spelling(BinaryOp);
std::string_view spelling(UnaryOp);
std::string_view spelling(AssignOp);
std::string_view spelling(Mode); // empty for None
int level(BinaryOp);             // higher binds tighter

} // namespace tdl::ast
