// The inside of lower(): one KernelLowering per plan, one TaskLowering per task; its methods are split by construct over
// program.cpp (waits, signals, all other operations), loops.cpp (ranges, `for`) and access.cpp (loads, stores).
#pragma once
#include "diagnostics/diagnostics.h"
#include "kernel/emitter.h"
#include "kernel/order.h"

namespace tdl::kernel {

/// How the elements of a tensor or buffer lie.
struct Memory {
    ir::Value *decl = nullptr;    // in the kernel IR
    bool tensor = false;          // an argument: strides are known at launch. Otherwise dense
    std::vector<ir::Expr> dims;   // dense: its dimensions
    std::vector<ir::Expr> origin; // global index of the first element here; `rank` is the rank whose it is
    std::vector<ir::Expr> lo, hi; // global indices that exist here
    std::vector<bool> dist;       // dimensions of which this rank has a block
};

/// A range of the plan: the indices of a span, moved by `shift`.
struct RangeOf {
    ir::Value *span;
    Num lo, hi, shift;
    Num begin(Emitter &e) const { return e.add(lo, shift); }
    Num end(Emitter &e) const { return e.add(hi, shift); }
};

class KernelLowering {
public:
    KernelLowering(const ir::Op &p, ir::Module &m, Diagnostics &d) : plan(p), module(m), diags(d) {}
    void run();

    const ir::Op &plan;
    ir::Module &module;
    Diagnostics &diags;
    std::unordered_map<const ir::Value *, ir::Value *> values; // params, flags, joins
    std::unordered_map<const ir::Value *, Memory> memories;
    std::vector<const ir::Op *> tasks;
    std::unordered_map<const ir::Value *, std::set<size_t>> completed; // before a wait for a flag or join
    std::vector<std::set<const ir::Value *>> reads, writes;            // of each task

    /// Tile constants replaced by their values.
    ir::Expr fold(const ir::Expr &) const;

private:
    void declaration(const ir::Op &, ir::Builder &);
    void tensor(const ir::Op &, ir::Builder &);
    void buffer(const ir::Op &, ir::Builder &);
    void collectOrder();
};

class TaskLowering {
public:
    TaskLowering(KernelLowering &k, size_t i, ir::Block &b)
        : kernel(k), index(i), task(*k.tasks[i]), emit(b) {}
    void run();

private:
    struct Token {
        const ir::Op *wait;
        ir::Value *value;
    };
    struct Storage { // base and strides of a memory on one rank, at the top of the program
        const ir::Value *memory;
        ir::Expr rank;
        ir::Value *base;
        std::vector<Num> strides;
    };
    struct Place { // where and when an access touches memory
        ir::Value *ptr = nullptr;
        std::vector<std::pair<std::string, Num>> strides; // by axis
        std::vector<std::pair<std::string, std::pair<Num, Num>>> clip;
        ir::Value *guard = nullptr;
    };

    KernelLowering &kernel;
    size_t index;
    const ir::Op &task;
    Emitter emit;
    std::vector<Token> tokens;
    std::vector<Storage> storages;
    std::unordered_map<const ir::Value *, Num> values; // tiles and scalars
    std::unordered_map<const ir::Value *, RangeOf> ranges;

    Loc locOf(const ir::Op &op) const { return op.loc.valid() ? op.loc : task.loc; }
    Num number(const ir::Value *) const;
    ir::Value *use(const ir::Value *v) { return emit.value(number(v)); }

    // program.cpp
    void block(const ir::Block &);
    void operation(const ir::Op &);
    void copy(const ir::Op &);
    void wait(const ir::Op &);
    void arrive(const ir::Op &);
    void notify(const ir::Op &);
    // loops.cpp
    std::optional<ir::Expr> capOf(const Num &lo, const Num &hi) const;
    void define(const ir::Value *range, Num lo, Num hi, std::optional<ir::Expr> cap, Loc);
    void range(const ir::Op &);
    void loop(const ir::Op &);
    std::pair<Num, Num> loopBounds(const ir::Op &);
    // access.cpp
    void collectStorage(const ir::Block &);
    const Storage &storageOf(const ir::Op &, size_t memory) const;
    std::optional<Place> place(const ir::Op &, size_t memory);
    void load(const ir::Op &);
    void store(const ir::Op &);
    void finish(ir::Op &, const Place &, const std::vector<std::string> &axes);
    void addTokens(ir::Op &, const ir::Op &access, const ir::Value *memory, bool writes);
};

} // namespace tdl::kernel
