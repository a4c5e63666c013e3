#include "codegen/common/storage.h"
#include "codegen/common/inner.h"
#include <algorithm>

namespace tdl::codegen {
using ir::Op;
using ir::OpKind;
using ir::Value;

namespace {

// Costs in simple operations per element, to weigh recomputing against storing.
constexpr int kRecomputeTwice = 8;  // more is stored if several loop nests want it
constexpr int kRecomputeInLoop = 4; // more is stored if a loop would compute it in every turn
constexpr int kExpensive = 8;       // more is stored if a wider tile would compute it again and again

int ownCost(const Op &op) {
    switch (op.kind) {
    case OpKind::Exp:
    case OpKind::Exp2:
    case OpKind::Log2:
    case OpKind::Tanh:
    case OpKind::Erf: return 20;
    case OpKind::Div:
    case OpKind::Rem:
    case OpKind::Sqrt:
    case OpKind::Rsqrt: return 8;
    case OpKind::Cast: return 2;
    case OpKind::Broadcast: return 0;
    default: return 1;
    }
}

bool computesElements(const Op &op) {
    return ir::isElementwise(op.kind) || op.kind == OpKind::Broadcast;
}
bool isTileWithAxes(const Value *v) {
    return v->type.isTile() && !v->type.axes.empty();
}

class Assigner {
public:
    Assigner(const Op &p, const MoreStorage &m, Diagnostics &d) : program(p), more(m), diags(d) {}

    std::optional<Storage> run() {
        number(program.body());
        chooseInnerAxes(program, out.inner);
        for (size_t i = order.size(); i-- > 0;) decide(*order[i]);
        slots(program.body());
        if (!failed && more)
            more(program, out, [&](const Op &at, const std::string &axis) { return lengthOf(axis, at); });
        if (failed) return std::nullopt;
        return std::move(out);
    }

private:
    const Op &program;
    const MoreStorage &more;
    Diagnostics &diags;
    Storage out;
    bool failed = false;
    std::vector<const Op *> order; // all operations, outer before inner
    std::unordered_map<const Op *, size_t> position;
    std::unordered_map<const Value *, std::vector<const Op *>> users; // one entry per operand
    std::unordered_map<const Value *, int> cost;
    std::unordered_set<const Value *> stored;
    std::unordered_map<const Value *, std::vector<const Op *>>
        sinks; // where a virtual value is evaluated in the end

    void number(const ir::Block &b) {
        for (auto &op : b.ops) {
            position[op.get()] = order.size();
            order.push_back(op.get());
            int c = ownCost(*op);
            for (const Value *v : op->operands) {
                users[v].push_back(op.get());
                if (computesElements(*op)) c += cost[v];
            }
            for (auto &r : op->results)
                cost[r.get()] = computesElements(*op) ? c : isTileWithAxes(r.get()) ? 1 : 0;
            for (auto &inside : op->blocks) {
                for (auto &a : inside->args) cost[a.get()] = isTileWithAxes(a.get()) ? 1 : 0;
                number(*inside);
            }
        }
    }

    static bool inside(const Op *op, const Op *loop) {
        for (; op; op = op->parent ? op->parent->parent : nullptr)
            if (op == loop) return true;
        return false;
    }
    /// Is there a loop around `later` that is not around `op`?
    static bool loopBetween(const Op *op, const Op *later) {
        for (const Op *p = later; p; p = p->parent ? p->parent->parent : nullptr)
            if (p != later && p->kind == OpKind::Loop && !inside(op, p)) return true;
        return false;
    }

    // ---- Virtual or stored: users before what they use ----
    void decide(const Op &op) {
        for (auto &b : op.blocks)
            for (auto &a : b->args)
                if (isTileWithAxes(a.get())) stored.insert(a.get());
        for (auto &r : op.results)
            if (isTileWithAxes(r.get())) {
                sinks[r.get()] = findSinks(r.get());
                if (mustStore(op, r.get())) stored.insert(r.get());
            }
    }

    std::vector<const Op *> findSinks(const Value *v) {
        std::vector<const Op *> found;
        auto add = [&](const Op *s) {
            if (std::find(found.begin(), found.end(), s) == found.end()) found.push_back(s);
        };
        for (const Op *u : users[v]) {
            const Value *r = u->results.empty() ? nullptr : u->result();
            bool through =
                (computesElements(*u) || u->kind == OpKind::Read) && isTileWithAxes(r) && !stored.contains(r);
            if (through || (r && out.fused.contains(r)))
                for (const Op *s : sinks[r]) add(s);
            else
                add(u);
        }
        return found;
    }

    bool mustStore(const Op &op, const Value *v) {
        switch (op.kind) {
        case OpKind::Loop:
        case OpKind::Reduce: return true;
        case OpKind::Dot:
            if (canFuse(op, v)) {
                out.fused.insert(v);
                return false;
            }
            return true;
        case OpKind::Read: return mayChange(op, v);
        default: break;
        }
        return worthStoring(op, v);
    }

    // A matter of speed only, so not for a tile whose size cannot be known.
    bool worthStoring(const Op &op, const Value *v) {
        for (const std::string &a : v->type.axes)
            if (!boundOf(a, op)) return false;
        int c = cost[v];
        const auto &at = sinks[v];
        if (at.size() > 1 && c > kRecomputeTwice) return true;
        for (const Op *s : at)
            if (loopBetween(&op, s) && c > kRecomputeInLoop) return true;
        if (c <= kExpensive) return false;
        for (const Op *u :
             users[v]) { // a wider tile whose fastest axis is one of ours computes us for each other index
            const Value *wide = computesElements(*u) ? u->result() : nullptr;
            if (wide && wide->type.axes.size() > v->type.axes.size() && v->type.hasAxis(out.inner[wide]))
                return true;
        }
        return false;
    }

    // `sum = add x, dot` that goes into a slot: the product is added to the slot that holds x.
    bool canFuse(const Op &dot, const Value *v) {
        const auto &by = users[v];
        DotAxes axes = dotAxes(dot);
        if (by.size() != 1 || by[0]->kind != OpKind::Add || by[0]->operands[0] == by[0]->operands[1])
            return false;
        if (axes.rows.empty() || axes.columns.empty()) return false;
        const Value *sum = by[0]->result();
        if (sum->type.axes.size() != v->type.axes.size()) return false;
        if (!stored.contains(sum)) {
            const auto &then = users[sum];
            if (then.size() != 1 || (then[0]->kind != OpKind::Yield && then[0]->kind != OpKind::Loop))
                return false;
            if (then[0]->kind ==
                OpKind::Yield) { // the operands must not read the slot that x has been put into
                auto &values = then[0]->operands;
                size_t i = static_cast<size_t>(std::find(values.begin(), values.end(), sum) - values.begin());
                const Value *carried = then[0]->parent->args[i + 1].get();
                if (reaches(dot.operands[0], carried) || reaches(dot.operands[1], carried)) return false;
            }
        }
        return true;
    }
    bool reaches(const Value *v, const Value *carried) {
        if (v == carried) return true;
        if (!v->def || v->def->kind == OpKind::Loop) return false;
        return std::any_of(v->def->operands.begin(), v->def->operands.end(),
                           [&](const Value *x) { return reaches(x, carried); });
    }

    // Could a write change what `read` reads before its last evaluation?
    bool mayChange(const Op &read, const Value *v) {
        const Value *memory = memoryOf(read.operands[0]);
        for (const Op *w : order) {
            if (w->kind != OpKind::Write) continue;
            const Value *written = memoryOf(w->operands[1]);
            if (memory && written && memory != written)
                continue; // different arguments and buffers do not overlap
            for (const Op *s : sinks[v]) {
                if (w == s && sameElements(read, *w)) continue;
                if (position[&read] < position[w] && position[w] <= position[s]) return true;
                for (const Op *p = s; p; p = p->parent ? p->parent->parent : nullptr)
                    if (p->kind == OpKind::Loop && !inside(&read, p) && inside(w, p)) return true;
            }
        }
        return false;
    }
    // In place: every element is read and written at one address.
    static bool sameElements(const Op &read, const Op &write) {
        Access r = accessOf(read), w = accessOf(write);
        const ir::Type &from = read.results[0]->type, &to = write.operands[0]->type;
        if (!sameValue(r.address, w.address) || from.axes.size() != to.axes.size()) return false;
        for (size_t i = 0; i < from.axes.size(); ++i) {
            auto at = std::find(to.axes.begin(), to.axes.end(), from.axes[i]);
            if (at == to.axes.end() ||
                !sameValue(r.strides[i], w.strides[static_cast<size_t>(at - to.axes.begin())]))
                return false;
        }
        return true;
    }
    static bool sameValue(const Value *a, const Value *b) {
        if (a == b) return true;
        if (!a->def || !b->def || a->def->kind != b->def->kind || !a->def->blocks.empty()) return false;
        if (a->def->kind == OpKind::Read || a->def->attrs() != b->def->attrs()) return false;
        if (a->def->operands.size() != b->def->operands.size() || a->type != b->type) return false;
        for (size_t i = 0; i < a->def->operands.size(); ++i)
            if (!sameValue(a->def->operands[i], b->def->operands[i])) return false;
        return true;
    }

    // ---- Slots: in order of definition ----
    void slots(const ir::Block &b) {
        for (auto &p : b.ops) {
            const Op &op = *p;
            if (op.kind == OpKind::Loop)
                for (size_t i = 0; i < op.results.size(); ++i) {
                    const Value *init = op.operands[i + 3];
                    if (!isTileWithAxes(init)) continue;
                    // a value that nothing else uses, and that is computed anew for every run of the loop,
                    // lends its slot
                    auto own = out.slotOf.find(init);
                    bool here = (init->def ? init->def->parent : init->block) == op.parent;
                    bool lent = own != out.slotOf.end() && here && users[init].size() == 1;
                    int s = lent ? own->second : newSlot(op.body().args[i + 1].get());
                    out.slotOf[op.body().args[i + 1].get()] = out.slotOf[op.result(i)] = s;
                }
            for (auto &inside : op.blocks) slots(*inside);
            if (op.kind == OpKind::Loop) orderYields(op);
            if (op.kind != OpKind::Loop)
                for (auto &r : op.results)
                    if (stored.contains(r.get())) out.slotOf[r.get()] = newSlot(r.get());
        }
    }

    /// The bound of an axis in scope at `at`, if something known at launch bounds it.
    const ir::Expr *boundOf(const std::string &axis, const Op &at) const {
        for (const Op *here = &at; here && here->parent; here = here->parent->parent) {
            auto &ops = here->parent->ops;
            for (auto it = ops.rbegin(); it != ops.rend(); ++it)
                if ((*it)->kind == OpKind::Span && (*it)->name("axis") == axis &&
                    position.at(it->get()) < position.at(here))
                    return (*it)->has("cap") ? &(*it)->expr("cap") : nullptr;
            if (here->parent->parent == &program) break;
        }
        return nullptr;
    }
    ir::Expr lengthOf(const std::string &axis, const Op &at) {
        if (const ir::Expr *bound = boundOf(axis, at)) return *bound;
        failed = true;
        diags.report(at.loc, Diag::UnboundedTile, axis);
        return 0;
    }
    int newSlot(const Value *v) {
        const Op *at = v->def ? v->def : v->block->parent;
        std::vector<std::string> axes = v->type.axes;
        std::string last = out.inner[v];
        std::stable_partition(axes.begin(), axes.end(), [&](const std::string &a) { return a != last; });
        std::vector<ir::Expr> lengths;
        for (const std::string &a : axes) lengths.push_back(lengthOf(a, *at));
        std::vector<int64_t> multiples(axes.size(), 1);
        multiples.back() = lineElements(v->type.elem); // rows begin on cache lines
        out.slots.push_back({v->type.elem, std::move(axes), std::move(lengths), std::move(multiples)});
        return static_cast<int>(out.slots.size()) - 1;
    }
    // ---- Carried values at the end of a turn ----
    void reads(const Value *v, const ir::Block &body, std::vector<const Value *> &args) {
        if (v->block == &body) args.push_back(v);
        if (out.has(v) || !v->def) return;
        bool virtualOp = computesElements(*v->def) || v->def->kind == OpKind::Read || out.fused.contains(v);
        if (virtualOp && isTileWithAxes(v))
            for (const Value *x : v->def->operands) reads(x, body, args);
    }
    void orderYields(const Op &loop) {
        const ir::Block &body = loop.body();
        const Op &yield = *body.ops.back();
        std::vector<size_t> left;
        std::vector<std::vector<const Value *>> needs(loop.results.size());
        for (size_t i = 0; i < loop.results.size(); ++i) {
            if (!isTileWithAxes(loop.result(i))) continue;
            left.push_back(i);
            reads(yield.operands[i], body, needs[i]);
        }
        auto &steps = out.yields[&loop];
        while (!left.empty()) {
            auto unneeded = [&](size_t i) {
                return std::none_of(left.begin(), left.end(), [&](size_t j) {
                    return j != i && std::find(needs[j].begin(), needs[j].end(), body.args[i + 1].get()) !=
                                         needs[j].end();
                });
            };
            auto next = std::find_if(left.begin(), left.end(), unneeded);
            int temp = -1;
            if (next == left.end()) { // a cycle, as in a, b = b, a
                next = left.begin();
                out.slots.push_back(out.slots[static_cast<size_t>(out.slotOf[body.args[*next + 1].get()])]);
                temp = static_cast<int>(out.slots.size()) - 1;
            }
            steps.push_back({*next, temp});
            left.erase(next);
        }
    }
};

} // namespace

std::optional<Storage> assignStorage(const Op &program, const MoreStorage &more, Diagnostics &d) {
    return Assigner(program, more, d).run();
}

static ir::Expr paddedLength(const Slot &s, size_t i) {
    return ir::ceilDiv(s.lengths[i], s.multiples[i]) * s.multiples[i];
}

std::vector<ir::Expr> slotStrides(const Slot &s) {
    std::vector<ir::Expr> strides(s.lengths.size(), ir::Expr(1));
    for (size_t i = s.lengths.size(); i-- > 1;) {
        ir::Expr length = paddedLength(s, i);
        if (s.spread && i + 1 == s.lengths.size()) {
            int64_t line = lineElements(s.elem);
            length = (ir::ceilDiv(length, line) / 2 * 2 + 1) * line;
        }
        strides[i - 1] = strides[i] * length;
    }
    return strides;
}
ir::Expr slotBytes(const Slot &s) {
    ir::Expr n = slotStrides(s).front() * paddedLength(s, 0);
    return ir::ceilDiv(n * elemBytes(s.elem), 64) * 64;
}

} // namespace tdl::codegen
