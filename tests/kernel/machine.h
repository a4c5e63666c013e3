// A small machine for kernel IR: runs a kern on all ranks, program by program in ticket order, with every access checked
// against the storage and every wait against what has been signalled. Numbers are doubles; memory starts as NaN.
#pragma once
#include "ir/op.h"
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

namespace tdl::test {

class Machine {
public:
    using Indices = std::vector<int64_t>;

    Machine(const ir::Op &k, int64_t n, std::map<std::string, int64_t> s)
        : kern(k), ranks(n), sizes(std::move(s)) {
        for (auto &op : kern.body().ops) {
            if (op->kind == ir::OpKind::Tensor || op->kind == ir::OpKind::Buffer)
                for (int64_t r = 0; r < ranks; ++r)
                    memory.emplace(std::pair(op->name(), r), Memory(*this, *op, r));
            if (op->kind == ir::OpKind::Program) programs.push_back(op.get());
        }
    }

    /// The element at a global index in the storage of a rank.
    double &at(const std::string &name, int64_t rank, const Indices &index) {
        Memory &m = memory.at({name, rank});
        int64_t offset = 0;
        for (size_t d = 0; d < index.size(); ++d) offset += (index[d] - m.origin[d]) * m.strides[d];
        return m.data.at(static_cast<size_t>(offset));
    }
    /// Whether a rank holds a global index of a tensor.
    bool holds(const std::string &name, int64_t rank, const Indices &index) {
        const Memory &m = memory.at({name, rank});
        for (size_t d = 0; d < index.size(); ++d)
            if (m.dist[d] && (index[d] < m.origin[d] || index[d] >= m.origin[d] + m.dims[d])) return false;
        return true;
    }

    void run() {
        for (const ir::Op *p : programs)
            for (rank = 0; rank < ranks; ++rank) {
                Indices counts;
                int64_t tickets = 1;
                for (const ir::Expr &e : p->exprs("counts")) {
                    counts.push_back(eval(e));
                    tickets *= counts.back();
                }
                require(tickets >= 1, "a program without tickets");
                for (int64_t t = 0; t < tickets; ++t) {
                    coords.clear();
                    int64_t rest = t;
                    for (size_t i = counts.size(); i-- > 0; rest /= counts[i])
                        coords[p->names("coords")[i]] = rest % counts[i];
                    values.clear();
                    spans.clear();
                    block(p->body());
                }
            }
    }
    std::map<std::string, int> executed; // operations by text

private:
    struct Memory {
        Indices dims, origin, strides;
        std::vector<bool> dist;
        std::vector<double> data;
        Memory(Machine &m, const ir::Op &op, int64_t r) {
            m.rank = r;
            if (op.kind == ir::OpKind::Buffer) {
                for (const ir::Expr &e : op.exprs("dims")) dims.push_back(m.eval(e));
                for (const ir::Expr &e : op.exprs("origin")) origin.push_back(m.eval(e));
                dist.assign(dims.size(), false);
            } else {
                for (const ir::Dim &d : op.dims()) {
                    dims.push_back(m.eval(d.dist ? ir::blockOf(d.extent) : d.extent));
                    origin.push_back(d.dist ? r * dims.back() : 0);
                    dist.push_back(d.dist);
                }
            }
            int64_t n = 1,
                    pad = op.kind == ir::OpKind::Tensor ? 3 : 0; // rows of arguments are not dense here
            strides.resize(dims.size());
            for (size_t d = dims.size(); d-- > 0;) {
                strides[d] = n;
                n = n * dims[d] + (d > 0 ? pad : 0);
            }
            data.assign(static_cast<size_t>(n), NAN);
        }
    };
    struct Val { // a tile (scalars: no axes), a range, or an address
        std::vector<std::string> axes;
        std::vector<double> data;
        int64_t lo = 0, hi = 0;
        Memory *memory = nullptr;
    };
    struct Range {
        int64_t lo, hi;
    };

    const ir::Op &kern;
    int64_t ranks, rank = 0;
    std::map<std::string, int64_t> sizes, coords;
    std::map<std::pair<std::string, int64_t>, Memory> memory;
    std::vector<const ir::Op *> programs;
    std::map<const ir::Value *, Val> values;
    std::map<std::string, Range> spans;
    std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> words; // flags and joins: name, rank, word

    static void require(bool good, const std::string &what) {
        if (!good) throw std::runtime_error(what);
    }
    int64_t eval(const ir::Expr &e) {
        auto v = e.evaluate([&](std::string_view s) -> std::optional<int64_t> {
            if (s == "ranks") return ranks;
            if (s == "rank") return rank;
            if (auto it = sizes.find(std::string(s)); it != sizes.end()) return it->second;
            if (auto it = coords.find(std::string(s)); it != coords.end()) return it->second;
            return std::nullopt;
        });
        require(v.has_value(), "unknown name in " + e.str());
        return *v;
    }
    int64_t integer(const ir::Value *v) { return static_cast<int64_t>(values.at(v).data.at(0)); }

    // Calls f with an index per axis, for all points of the spans of `axes`.
    template <class F> void points(const std::vector<std::string> &axes, F &&f) {
        Indices at(axes.size());
        auto go = [&](auto &&self, size_t i) -> void {
            if (i == axes.size()) {
                f(at);
                return;
            }
            Range r = spans.at(axes[i]);
            for (at[i] = r.lo; at[i] < r.hi; ++at[i]) self(self, i + 1);
        };
        go(go, 0);
    }
    double element(const Val &v, const std::vector<std::string> &axes, const Indices &at) {
        size_t offset = 0;
        for (const std::string &a : v.axes) {
            Range r = spans.at(a);
            size_t i = 0;
            while (axes.at(i) != a) ++i;
            offset = offset * static_cast<size_t>(r.hi - r.lo) + static_cast<size_t>(at[i] - r.lo);
        }
        return v.data.at(offset);
    }
    void define(const ir::Op &op, const std::function<double(const Indices &)> &f) {
        Val v{op.result()->type.axes, {}, 0, 0, nullptr};
        points(v.axes, [&](const Indices &at) { v.data.push_back(f(at)); });
        values[op.result()] = v;
    }

    void block(const ir::Block &b) {
        for (auto &op : b.ops) operation(*op);
    }

    static double arithmetic(ir::OpKind k, double a, double b) {
        switch (k) {
        case ir::OpKind::Add: return a + b;
        case ir::OpKind::Sub: return a - b;
        case ir::OpKind::Mul: return a * b;
        case ir::OpKind::Min: return std::min(a, b);
        case ir::OpKind::Max: return std::max(a, b);
        case ir::OpKind::And: return a != 0 && b != 0;
        case ir::OpKind::Ge: return a >= b;
        case ir::OpKind::Lt: return a < b;
        default: throw std::runtime_error("an operation that the machine does not know");
        }
    }

    void access(const ir::Op &op) {
        bool write = op.kind == ir::OpKind::Write;
        const std::vector<std::string> &axes = write ? op.operands[0]->type.axes : op.result()->type.axes;
        size_t next = write ? 1 : 0;
        const Val address = values.at(op.operands[next++]);
        Indices strides;
        for (size_t i = 0; i < axes.size(); ++i) strides.push_back(integer(op.operands[next++]));
        std::map<std::string, Range> clip;
        if (op.has("clip"))
            for (const std::string &a : op.names("clip")) {
                int64_t lo = integer(op.operands[next++]), hi = integer(op.operands[next++]);
                clip[a] = {lo, hi};
            }
        bool guard = !op.has("guard") || integer(op.operands[next++]) != 0;
        const Val *outside = op.has("or") ? &values.at(op.operands[next++]) : nullptr;
        auto touch = [&](const Indices &at) -> double {
            int64_t offset = address.lo;
            bool within = guard;
            for (size_t i = 0; i < axes.size(); ++i) {
                offset += (at[i] - spans.at(axes[i]).lo) * strides[i];
                auto c = clip.find(axes[i]);
                if (c != clip.end()) within &= at[i] >= c->second.lo && at[i] < c->second.hi;
            }
            if (!within) return outside ? element(*outside, axes, at) : 0;
            require(offset >= 0 && offset < static_cast<int64_t>(address.memory->data.size()),
                    "an access outside of the storage");
            double &cell = address.memory->data[static_cast<size_t>(offset)];
            if (write) cell = element(values.at(op.operands[0]), axes, at);
            return cell;
        };
        if (write)
            points(axes, touch);
        else
            define(op, touch);
    }

    void loop(const ir::Op &op) {
        std::vector<Val> carried;
        for (size_t i = 3; i < op.operands.size(); ++i) carried.push_back(values.at(op.operands[i]));
        int64_t hi = integer(op.operands[1]), step = integer(op.operands[2]);
        require(step >= 1, "a loop that does not advance");
        auto outer = spans;
        for (int64_t i = integer(op.operands[0]); i < hi; i += step) {
            values[op.body().args[0].get()] = {{}, {static_cast<double>(i)}, 0, 0, nullptr};
            for (size_t c = 0; c < carried.size(); ++c) values[op.body().args[c + 1].get()] = carried[c];
            block(op.body());
            const ir::Op &yield = *op.body().ops.back();
            for (size_t c = 0; c < carried.size(); ++c) carried[c] = values.at(yield.operands[c]);
            spans = outer;
        }
        for (size_t c = 0; c < carried.size(); ++c) values[op.results[c].get()] = carried[c];
    }

    void operation(const ir::Op &op) {
        ++executed[std::string(op.info().text)];
        auto name = [&](size_t i) { return op.operands[i]->def->name(); };
        switch (op.kind) {
        case ir::OpKind::Const: {
            const ir::Attr &a = *op.find("value");
            double d = std::holds_alternative<double>(a) ? std::get<double>(a)
                                                         : static_cast<double>(std::get<int64_t>(a));
            return define(op, [&](const Indices &) { return d; });
        }
        case ir::OpKind::ExprOp:
            return define(op, [&](const Indices &) { return static_cast<double>(eval(op.expr("value"))); });
        case ir::OpKind::Span: {
            Range r{integer(op.operands[0]), integer(op.operands[1])};
            if (op.has("cap")) require(r.hi - r.lo <= eval(op.expr("cap")), "a span longer than its cap");
            spans[op.name("axis")] = r;
            return;
        }
        case ir::OpKind::Base: {
            Memory &m = memory.at({name(0), integer(op.operands[1])});
            values[op.result()] = {{}, {}, 0, 0, &m};
            return;
        }
        case ir::OpKind::Stride: {
            int64_t s = memory.at({name(0), rank}).strides.at(static_cast<size_t>(op.integer("dim")));
            return define(op, [&](const Indices &) { return static_cast<double>(s); });
        }
        case ir::OpKind::At: {
            Val v = values.at(op.operands[0]);
            v.lo += integer(op.operands[1]);
            values[op.result()] = v;
            return;
        }
        case ir::OpKind::Read:
        case ir::OpKind::Write: return access(op);
        case ir::OpKind::Loop: return loop(op);
        case ir::OpKind::If:
            if (integer(op.operands[0])) block(op.body());
            return;
        case ir::OpKind::Yield: return;
        case ir::OpKind::Broadcast:
        case ir::OpKind::Cast:
            return define(op, [&](const Indices &at) {
                return element(values.at(op.operands[0]), op.result()->type.axes, at);
            });
        case ir::OpKind::Index:
            return define(op, [&](const Indices &at) { return static_cast<double>(at[0]); });
        case ir::OpKind::Dot:
        case ir::OpKind::Reduce: {
            std::vector<std::string> all = op.result()->type.axes;
            all.insert(all.end(), op.names("over").begin(), op.names("over").end());
            return define(op, [&](const Indices &at) {
                double sum = 0;
                points(op.names("over"), [&](const Indices &over) {
                    Indices both = at;
                    both.insert(both.end(), over.begin(), over.end());
                    double term = element(values.at(op.operands[0]), all, both);
                    if (op.kind == ir::OpKind::Dot) term *= element(values.at(op.operands[1]), all, both);
                    sum += term;
                });
                return sum;
            });
        }
        case ir::OpKind::Acquire:
            if (op.operands[0]->def->name("kind") == "data")
                for (int64_t w = 0; w < integer(op.operands[2]); ++w)
                    require(words[{name(0), rank, integer(op.operands[1]) + w}] == 1,
                            "a wait for " + name(0) + " would not end");
            return;
        case ir::OpKind::AcquireJoin:
            return require(words[{name(0), rank, integer(op.operands[1])}] == integer(op.operands[2]),
                           "a wait for " + name(0) + " would not end");
        case ir::OpKind::ArriveJoin: {
            int64_t n = ++words[{name(0), rank, integer(op.operands[1])}];
            require(n <= integer(op.operands[2]), "too many arrivals at " + name(0));
            return define(op, [&](const Indices &) { return n == integer(op.operands[2]); });
        }
        case ir::OpKind::Release:
            return require(++words[{name(0), integer(op.operands[1]), integer(op.operands[2])}] == 1,
                           "a word of " + name(0) + " has two writers");
        default: {
            const auto &axes = op.result()->type.axes;
            return define(op, [&](const Indices &at) {
                return arithmetic(op.kind, element(values.at(op.operands[0]), axes, at),
                                  element(values.at(op.operands[1]), axes, at));
            });
        }
        }
    }
};

} // namespace tdl::test
