#include "ir/op.h"
#include <algorithm>
#include <unordered_map>

namespace tdl::ir {
namespace {

AttrType attrType(std::string_view s) {
    constexpr std::pair<std::string_view, AttrType> table[] = {
        {"flag", AttrType::Flag},   {"int", AttrType::Int},     {"num", AttrType::Num},     {"name", AttrType::Name},
        {"str", AttrType::Str},     {"names", AttrType::Names}, {"expr", AttrType::Expr},   {"exprs", AttrType::Exprs},
        {"dims", AttrType::Dims},   {"binds", AttrType::Binds}, {"loop", AttrType::Loop},   {"loops", AttrType::Loops}};
    for (auto &[name, type] : table)
        if (name == s) return type;
    return AttrType::Str;
}

std::vector<AttrSpec> parseSpecs(std::string_view s) {
    std::vector<AttrSpec> out;
    while (!s.empty()) {
        std::string_view item = s.substr(0, s.find(' '));
        s.remove_prefix(std::min(s.size(), item.size() + 1));
        bool optional = item.front() == '?';
        if (optional) item.remove_prefix(1);
        size_t colon = item.find(':');
        out.push_back({item.substr(0, colon), attrType(item.substr(colon + 1)), optional});
    }
    return out;
}

const std::vector<OpInfo> &table() {
    constexpr uint8_t T = 1, P = 2, K = 4;
#define AT(n) Count{n, n}
#define FROM(n) Count{n, -1}
#define UPTO(n) Count{0, n}
    static const std::vector<OpInfo> ops{
#define OP(name, text, stages, operands, results, blocks, attrs, doc)                                                  \
    OpInfo{text, stages, operands, results, blocks, parseSpecs(attrs), doc},
#include "ir/ops.def"
#undef OP
    };
#undef AT
#undef FROM
#undef UPTO
    return ops;
}

} // namespace

std::string_view stageName(Stage s) {
    switch (s) {
    case Stage::Tile: return "tile";
    case Stage::Plan: return "plan";
    case Stage::Kernel: return "kern";
    }
    return "";
}

const OpInfo &opInfo(OpKind k) { return table()[static_cast<size_t>(k)]; }

const AttrSpec *OpInfo::attr(std::string_view name) const {
    for (const AttrSpec &a : attrs)
        if (a.name == name) return &a;
    return nullptr;
}

std::optional<OpKind> findOp(std::string_view text) {
    static const auto index = [] {
        std::unordered_map<std::string_view, OpKind> m;
        for (size_t i = 0; i < table().size(); ++i) m.emplace(table()[i].text, static_cast<OpKind>(i));
        return m;
    }();
    auto it = index.find(text);
    if (it == index.end()) return std::nullopt;
    return it->second;
}

bool isElementwise(OpKind k) { return k >= OpKind::Add && k <= OpKind::Cast; }
bool isComparison(OpKind k) { return k >= OpKind::Eq && k <= OpKind::Ge; }

Value *Block::addArg(Type t, std::string hint) {
    args.push_back(std::make_unique<Value>(Value{std::move(t), std::move(hint), nullptr, this}));
    return args.back().get();
}

Op *Block::append(std::unique_ptr<Op> op) {
    op->parent = this;
    ops.push_back(std::move(op));
    return ops.back().get();
}

Value *Op::addResult(Type t, std::string hint) {
    results.push_back(std::make_unique<Value>(Value{std::move(t), std::move(hint), this, nullptr}));
    return results.back().get();
}

Block &Op::addBlock() {
    blocks.push_back(std::make_unique<Block>());
    blocks.back()->parent = this;
    return *blocks.back();
}

void Op::set(std::string_view name, Attr value) {
    auto rank = [&](std::string_view n) {
        const auto &specs = info().attrs;
        return std::find_if(specs.begin(), specs.end(), [&](const AttrSpec &s) { return s.name == n; }) - specs.begin();
    };
    auto it = std::find_if(attrs_.begin(), attrs_.end(), [&](auto &a) { return rank(a.first) >= rank(name); });
    if (it != attrs_.end() && it->first == name)
        it->second = std::move(value);
    else
        attrs_.insert(it, {std::string(name), std::move(value)});
}

void Op::erase(std::string_view name) {
    std::erase_if(attrs_, [&](auto &a) { return a.first == name; });
}

const Attr *Op::find(std::string_view name) const {
    for (auto &[n, v] : attrs_)
        if (n == name) return &v;
    return nullptr;
}

std::unique_ptr<Op> clone(const Op &op, ValueMap &map) {
    auto copy = std::make_unique<Op>(op.kind, op.loc);
    copy->text = op.text;
    copy->symbol = op.symbol;
    for (auto &[n, v] : op.attrs()) copy->set(n, v);
    for (Value *v : op.operands) {
        auto it = map.find(v);
        copy->operands.push_back(it == map.end() ? v : it->second);
    }
    for (auto &b : op.blocks) {
        Block &to = copy->addBlock();
        for (auto &a : b->args) map[a.get()] = to.addArg(a->type, a->hint);
        for (auto &inner : b->ops) to.append(clone(*inner, map));
    }
    for (auto &r : op.results) map[r.get()] = copy->addResult(r->type, r->hint);
    return copy;
}

Op *Builder::op(OpKind k, Loc loc, std::vector<Value *> operands, std::vector<std::pair<std::string_view, Attr>> attrs) {
    auto op = std::make_unique<Op>(k, loc);
    op->operands = std::move(operands);
    for (auto &[n, v] : attrs) op->set(n, std::move(v));
    return block_->append(std::move(op));
}

Value *Builder::make(OpKind k, Loc loc, std::vector<Value *> operands, Type result,
                     std::vector<std::pair<std::string_view, Attr>> attrs, std::string hint) {
    return op(k, loc, std::move(operands), std::move(attrs))->addResult(std::move(result), std::move(hint));
}

Value *Builder::integer(Loc loc, int64_t v) { return make(OpKind::Const, loc, {}, Type::scalar(Elem::I64), {{"value", v}}); }
Value *Builder::expr(Loc loc, Expr e) {
    if (e.isConst()) return integer(loc, e.value());
    return make(OpKind::ExprOp, loc, {}, Type::scalar(Elem::I64), {{"value", std::move(e)}});
}

} // namespace tdl::ir
