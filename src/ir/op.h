// The common body of the three IRs: operations with operands, results, attributes and nested blocks, in SSA form.
//
//     %acc = for %0(loop = k in K by TK, order = accumulate) : f32[i, j] @6:9 {
//       ^(%k: range<k>, %acc_1: f32[i, j])
//       ...
//       yield %7
//     }
//
// Control is structured: an operation owns its blocks, a block its operations; a value may be used by the operations
// that follow its definition in the same block, and in blocks nested there. README.md in this folder has the syntax.
#pragma once
#include "diagnostics/loc.h"
#include "ir/attr.h"
#include "ir/type.h"
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tdl::ir {

enum class OpKind : uint16_t {
#define OP(name, text, stages, operands, results, blocks, attrs, doc) name,
#include "ir/ops.def"
#undef OP
    Count
};

/// The IR a module is in, and as a bit set where an operation may stand.
enum class Stage : uint8_t { Tile = 1, Plan = 2, Kernel = 4 };
std::string_view stageName(Stage); // tile, plan, kern

struct Count {
    int lo, hi; // hi < 0: no limit
    bool holds(size_t n) const { return static_cast<int>(n) >= lo && (hi < 0 || static_cast<int>(n) <= hi); }
};
struct OpInfo {
    std::string_view text;
    uint8_t stages;
    Count operands, results, blocks;
    std::vector<AttrSpec> attrs;
    std::string_view doc;
    const AttrSpec *attr(std::string_view name) const;
};
const OpInfo &opInfo(OpKind);
std::optional<OpKind> findOp(std::string_view text);
/// Add .. Cast: operands of one element type, axes united.
bool isElementwise(OpKind);
bool isComparison(OpKind);

class Op;
struct Block;

struct Value {
    Type type;
    std::string hint;       // preferred name; the printer makes it unique
    Op *def = nullptr;      // who computes it; null for block arguments
    Block *block = nullptr; // whose argument it is; null for results
};

struct Block {
    std::vector<std::unique_ptr<Value>> args;
    std::vector<std::unique_ptr<Op>> ops;
    Op *parent = nullptr;

    Value *addArg(Type, std::string hint = {});
    Op *append(std::unique_ptr<Op>);
};

class Op {
public:
    explicit Op(OpKind k, Loc l = {}) : kind(k), loc(l) {}

    OpKind kind;
    Loc loc;                       // in the .tdl source
    Loc text;                      // in the IR text it was parsed from, if it was
    std::string symbol;            // @name of kernels, plans, stages, tasks, programs
    std::vector<Value *> operands;
    std::vector<std::unique_ptr<Value>> results;
    std::vector<std::unique_ptr<Block>> blocks;
    Block *parent = nullptr;

    const OpInfo &info() const { return opInfo(kind); }
    Value *result(size_t i = 0) const { return results[i].get(); }
    Value *addResult(Type, std::string hint = {});
    Block &addBlock();
    Block &body() const { return *blocks.front(); }

    // Attributes. The typed getters require presence (the verifier checked it); find() does not.
    void set(std::string_view name, Attr value);
    void erase(std::string_view name);
    const Attr *find(std::string_view name) const;
    bool has(std::string_view name) const { return find(name) != nullptr; }
    template <class T> const T &get(std::string_view name) const { return std::get<T>(*find(name)); }
    int64_t integer(std::string_view n) const { return get<int64_t>(n); }
    const std::string &name(std::string_view n = "name") const { return get<Name>(n).text; }
    const std::string &str(std::string_view n) const { return get<std::string>(n); }
    const std::vector<std::string> &names(std::string_view n) const { return get<std::vector<std::string>>(n); }
    const Expr &expr(std::string_view n) const { return get<Expr>(n); }
    const std::vector<Expr> &exprs(std::string_view n) const { return get<std::vector<Expr>>(n); }
    const std::vector<Dim> &dims() const { return get<std::vector<Dim>>("dims"); }
    const std::vector<Bind> &binds(std::string_view n) const { return get<std::vector<Bind>>(n); }
    const LoopSpec &loop() const { return get<LoopSpec>("loop"); }
    const std::vector<LoopSpec> &loops() const { return get<std::vector<LoopSpec>>("loops"); }
    const std::vector<std::pair<std::string, Attr>> &attrs() const { return attrs_; } // in the order of ops.def

private:
    std::vector<std::pair<std::string, Attr>> attrs_;
};

/// A .tdl file that locations point into: its name as printed, and its index in Sources.
struct SourceRef {
    std::string name;
    int file = -1;
};

struct Module {
    Stage stage = Stage::Tile;
    std::vector<SourceRef> sources;
    Block top;                              // kernels, plans or kerns
};

/// A copy of `op` with its blocks; operands are looked up in `map` (else kept), results and arguments added to it.
using ValueMap = std::unordered_map<const Value *, Value *>;
std::unique_ptr<Op> clone(const Op &op, ValueMap &map);

/// Appends operations to a block: b.make(OpKind::Add, loc, {x, y}, Type::scalar(Elem::F32)).
class Builder {
public:
    explicit Builder(Block &b) : block_(&b) {}
    Block &block() const { return *block_; }
    void setBlock(Block &b) { block_ = &b; }
    Op *op(OpKind, Loc, std::vector<Value *> operands = {}, std::vector<std::pair<std::string_view, Attr>> attrs = {});
    /// An operation with one result.
    Value *make(OpKind, Loc, std::vector<Value *> operands, Type result,
                std::vector<std::pair<std::string_view, Attr>> attrs = {}, std::string hint = {});
    Value *integer(Loc, int64_t);            // const : i64
    Value *expr(Loc, Expr);                  // expr : i64
private:
    Block *block_;
};

} // namespace tdl::ir
