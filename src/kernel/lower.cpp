// Modules and declarations, and which task touches what behind which wait.
#include "kernel/lower.h"
#include "kernel/lowering.h"

namespace tdl::kernel {
using namespace ir;

std::unique_ptr<Module> lower(const Module &plans, const Options &, Diagnostics &diags) {
    auto out = std::make_unique<Module>();
    out->stage = Stage::Kernel;
    out->sources = plans.sources;
    int before = diags.errorCount();
    for (auto &plan : plans.top.ops) KernelLowering(*plan, *out, diags).run();
    return diags.errorCount() == before ? std::move(out) : nullptr;
}

Expr KernelLowering::fold(const Expr &e) const {
    return e.substitute([&](std::string_view s) -> std::optional<Expr> {
        for (const Bind &b : plan.binds("tiles"))
            if (b.name == s) return Expr(b.value);
        return std::nullopt;
    });
}

void KernelLowering::run() {
    auto op = std::make_unique<Op>(OpKind::Kern, plan.loc);
    op->symbol = plan.symbol;
    op->set("plan", Name{plan.name()});
    for (const char *a : {"sizes", "tiles", "doc"})
        if (auto *v = plan.find(a)) op->set(a, *v);
    Op *kern = module.top.append(std::move(op));
    Builder build(kern->addBlock());
    for (auto &o : plan.body().ops)
        if (o->kind == OpKind::Task)
            tasks.push_back(o.get());
        else
            declaration(*o, build);
    collectOrder();
    for (size_t i = 0; i < tasks.size(); ++i) {
        const Op &task = *tasks[i];
        Op *program = build.op(OpKind::Program, task.loc);
        program->symbol = task.symbol;
        for (const char *a : {"kind", "level", "coords"}) program->set(a, *task.find(a));
        std::vector<Expr> counts;
        for (const Expr &e : task.exprs("counts")) counts.push_back(fold(e));
        program->set("counts", std::move(counts));
        TaskLowering(*this, i, program->addBlock()).run();
    }
}

void KernelLowering::declaration(const Op &op, Builder &build) {
    if (op.kind == OpKind::Tensor) return tensor(op, build);
    if (op.kind == OpKind::Buffer) return buffer(op, build);
    ValueMap map;
    auto copy = clone(op, map);
    copy->text = {};
    for (const char *a : {"cond", "words"})
        if (op.has(a)) copy->set(a, fold(op.expr(a)));
    Op *made = build.block().append(std::move(copy));
    if (!op.results.empty()) values[op.result()] = made->result();
}

// Arguments keep their strides. A local tensor is storage of the launch: a buffer of the dimensions that a rank holds.
void KernelLowering::tensor(const Op &op, Builder &build) {
    Memory m;
    Expr rank = Expr::sym("rank");
    for (const Dim &d : op.dims()) {
        Expr e = fold(d.extent);
        m.dist.push_back(d.dist);
        m.dims.push_back(d.dist ? blockOf(e) : e);
        m.origin.push_back(d.dist ? rank * blockOf(e) : Expr(0));
        m.lo.push_back(d.dist ? blockBegin(e, rank) : Expr(0));
        m.hi.push_back(d.dist ? blockEnd(e, rank) : e);
    }
    if (op.name("mode") == "local") {
        m.decl = build.make(
            OpKind::Buffer, op.loc, {}, Type::of(TypeKind::Buffer, op.result()->type.elem),
            {{"name", Name{op.name()}}, {"scope", Name{"rank"}}, {"dims", m.dims}, {"origin", m.origin}},
            op.result()->hint);
    } else {
        m.tensor = true;
        std::vector<Dim> dims;
        for (const Dim &d : op.dims()) dims.push_back({fold(d.extent), d.dist});
        Op *copy = build.op(OpKind::Tensor, op.loc, {},
                            {{"name", Name{op.name()}}, {"mode", Name{op.name("mode")}}, {"dims", dims}});
        if (op.has("uniform")) copy->set("uniform", Flag{});
        m.decl = copy->addResult(op.result()->type, op.result()->hint);
    }
    memories.emplace(op.result(), std::move(m));
}

void KernelLowering::buffer(const Op &op, Builder &build) {
    Memory m;
    for (const Expr &e : op.exprs("dims")) m.dims.push_back(fold(e));
    for (const Expr &e : op.exprs("origin")) m.origin.push_back(fold(e));
    for (size_t i = 0; i < m.dims.size(); ++i) { // what exists is said by the tensor that it holds a part of
        bool part = op.has("bounds");
        m.lo.push_back(part ? Expr(0) : m.origin[i]);
        m.hi.push_back(part ? fold(op.exprs("bounds")[i]) : m.origin[i] + m.dims[i]);
    }
    m.dist.assign(m.dims.size(), false);
    m.decl = build.make(OpKind::Buffer, op.loc, {}, op.result()->type,
                        {{"name", Name{op.name()}},
                         {"scope", Name{op.name("scope")}},
                         {"dims", m.dims},
                         {"origin", m.origin}},
                        op.result()->hint);
    memories.emplace(op.result(), std::move(m));
}

namespace {
struct Collector {
    TaskSync sync;
    std::set<const Value *> reads, writes;

    void block(const Block &b, const Value *behind) {
        for (auto &op : b.ops) {
            const Value *first = op->operands.empty() ? nullptr : op->operands[0];
            switch (op->kind) {
            case OpKind::Wait:
                if (first->def->name("kind") != "done") sync.waits.push_back(first);
                break;
            case OpKind::WaitJoin: sync.waits.push_back(first); break;
            case OpKind::Notify: sync.signals.push_back({first, behind}); break;
            case OpKind::Arrive: sync.signals.push_back({first, behind}); break;
            case OpKind::Load: reads.insert(first); break;
            case OpKind::Store: writes.insert(op->operands[1]); break;
            default: break;
            }
            for (auto &inner : op->blocks) block(*inner, op->kind == OpKind::Arrive ? first : behind);
        }
    }
};
} // namespace

void KernelLowering::collectOrder() {
    std::vector<TaskSync> all;
    for (const Op *task : tasks) {
        Collector c;
        c.block(task->body(), nullptr);
        all.push_back(std::move(c.sync));
        reads.push_back(std::move(c.reads));
        writes.push_back(std::move(c.writes));
    }
    completed = completedBefore(all);
}

} // namespace tdl::kernel
