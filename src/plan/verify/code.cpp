#include "plan/verify/code.h"
#include <algorithm>
#include <iterator>

namespace tdl::plan {

using namespace ir;

Code::Code(const Expr &e, Symbols &s) {
    depth = add(e, s);
}

size_t Code::add(const Expr &e, Symbols &s) {
    size_t needs = 1;
    switch (e.kind()) {
    case ExprKind::Const:
        if (e.value() >= Symbols::large)
            items.push_back({ExprKind::Sym, s.number(e.value())});
        else
            items.push_back({ExprKind::Const, e.value()});
        return 1;
    case ExprKind::Sym: items.push_back({ExprKind::Sym, s.number(e.name())}); return 1;
    case ExprKind::Not: needs = add(e.lhs(), s); break;
    default:
        needs = add(e.lhs(), s);
        needs = std::max(needs, 1 + add(e.rhs(), s));
        break;
    }
    items.push_back({e.kind(), 0});
    return needs;
}

int64_t Code::run(const int64_t *symbols) const {
    if (items.empty()) return 0;
    int64_t few[32];
    std::vector<int64_t> many(depth > std::size(few) ? depth : 0);
    int64_t *stack = many.empty() ? few : many.data();
    size_t n = 0;
    for (const Item &i : items) switch (i.kind) {
        case ExprKind::Const: stack[n++] = i.value; break;
        case ExprKind::Sym: stack[n++] = symbols[i.value]; break;
        case ExprKind::Not: stack[n - 1] = !stack[n - 1]; break;
        default:
            --n;
            stack[n - 1] = apply(i.kind, stack[n - 1], stack[n]);
            break;
        }
    return stack[0];
}

PlanCode::PlanCode(const Op &p) : plan(p), rank(symbols.number("rank")), ranks(symbols.number("ranks")) {
    auto codes = [&](const std::vector<Expr> &es) {
        std::vector<Code> out;
        for (const Expr &e : es) out.emplace_back(e, symbols);
        return out;
    };
    for (auto &op : plan.body().ops) switch (op->kind) {
        case OpKind::Tensor:
        case OpKind::Buffer: {
            Memory m;
            m.op = op.get();
            m.tensor = op->kind == OpKind::Tensor;
            m.extents = codes(extentsOf(*op));
            if (m.tensor) {
                m.dist = distDim(*op);
                m.startsDefined = op->name("mode") == "in" || op->name("mode") == "inout";
            } else {
                m.protocol = op->name("scope") == "protocol";
                m.origin = codes(op->exprs("origin"));
                if (op->has("bounds")) m.bounds = codes(op->exprs("bounds"));
            }
            numbers[op->result()] = static_cast<int>(memories.size());
            memories.push_back(std::move(m));
            break;
        }
        case OpKind::Flag:
            numbers[op->result()] = static_cast<int>(flags.size());
            flags.push_back(op.get());
            flagWords.emplace_back(op->expr("words"), symbols);
            break;
        case OpKind::Join:
            numbers[op->result()] = static_cast<int>(joins.size());
            joins.push_back(op.get());
            joinWords.emplace_back(op->expr("words"), symbols);
            break;
        case OpKind::Require: conditions.emplace_back(op->expr("cond"), symbols); break;
        case OpKind::Task: {
            TaskCode t;
            t.op = op.get();
            for (const std::string &c : op->names("coords")) t.coords.push_back(symbols.number(c));
            t.counts = codes(op->exprs("counts"));
            for (auto &inner : op->body().ops) {
                bool wait = inner->kind == OpKind::Wait || inner->kind == OpKind::WaitJoin;
                (wait                            ? t.waits
                 : inner->kind == OpKind::Arrive ? t.arrivals
                                                 : t.work)
                    .push_back(compile(*inner));
            }
            tasks.push_back(std::move(t));
            break;
        }
        default: break;
        }
}

int PlanCode::value(const Value *v) {
    auto [it, isNew] = numbers.try_emplace(v, static_cast<int>(values));
    values += isNew;
    return it->second;
}

Instruction PlanCode::compile(const Op &op) {
    Instruction i;
    i.op = &op;
    auto code = [&](std::string_view attr) { return Code(op.expr(attr), symbols); };
    switch (op.kind) {
    case OpKind::Wait: i.a = code("from"), i.b = code("count"); break;
    case OpKind::WaitJoin:
    case OpKind::Arrive: i.a = code("index"), i.b = code("total"); break;
    case OpKind::Notify: i.a = code("to"), i.b = code("count"), i.c = code("index"); break;
    case OpKind::RangeOp: i.a = code("lo"), i.b = code("hi"); break;
    case OpKind::ExprOp: i.a = code("value"); break;
    case OpKind::Whole: i.a = code("extent"); break;
    case OpKind::Store:
        if (op.has("at")) i.a = code("at");
        break;
    case OpKind::For: {
        const LoopSpec &l = op.loop();
        i.a = Code(l.extent, symbols);
        if (l.sliced) i.b = Code(l.lo, symbols), i.c = Code(l.hi, symbols);
        if (l.isRange) i.by = Code(l.by, symbols);
        break;
    }
    default: break;
    }
    bool synchronises = op.kind == OpKind::Wait || op.kind == OpKind::WaitJoin || op.kind == OpKind::Arrive ||
                        op.kind == OpKind::Notify;
    for (const Value *v : op.operands) {
        if (v->type.isMemory() || synchronises) {
            if (auto it = numbers.find(v); it != numbers.end()) i.memory = it->second;
        } else {
            i.in.push_back(value(v));
        }
    }
    for (auto &b : op.blocks) {
        if (!b->args.empty()) i.arg = value(b->args[0].get());
        for (size_t k = 1; k < b->args.size(); ++k) value(b->args[k].get());
        for (auto &inner : b->ops) i.body.push_back(compile(*inner));
    }
    for (auto &r : op.results) {
        int n = value(r.get());
        if (i.out < 0) i.out = n;
    }
    return i;
}

} // namespace tdl::plan
