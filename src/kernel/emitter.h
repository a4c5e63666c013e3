// Emits i64 arithmetic of a program. A number is an expression as long as it can be (then nothing is emitted before it
// is used, and constants fold) and a value from where data or a loop index enters:
//
//     (ti * 128) + 0  -->  expr(value = ti * 128), emitted once per block      (ti * 128) + %k  -->  add %0, %k
#pragma once
#include "ir/op.h"

namespace tdl::kernel {

struct Num {
    Num(ir::Expr e) : expr(std::move(e)) {}
    Num(int64_t n) : expr(n) {}
    Num(int n) : expr(n) {}
    Num(ir::Value *v) : value(v) {}
    ir::Expr expr;
    ir::Value *value = nullptr; // if set, expr means nothing
    bool isExpr() const { return !value; }
    bool isConst(int64_t n) const { return isExpr() && expr.isConst(n); }
};

class Emitter {
public:
    explicit Emitter(ir::Block &b) : build(b) {}
    ir::Builder build;

    /// The number as a value that is visible here.
    ir::Value *value(const Num &);
    Num add(const Num &, const Num &);
    Num sub(const Num &, const Num &);
    Num mul(const Num &, const Num &);
    Num min(const Num &, const Num &);
    Num max(const Num &, const Num &);
    /// lo <= x && x < hi as a bool.
    ir::Value *within(const Num &x, const Num &lo, const Num &hi);
    ir::Value *both(ir::Value *a, ir::Value *b); // a && b; a may be null

    /// Emits into `b` until the guard ends; what was made there is not used behind it.
    class Nested {
    public:
        Nested(Emitter &e, ir::Block &b) : emitter(e), outer(e.build.block()), mark(e.made.size()) {
            e.build.setBlock(b);
        }
        ~Nested() {
            emitter.build.setBlock(outer);
            emitter.made.resize(mark);
        }
        Nested(const Nested &) = delete;
        Nested &operator=(const Nested &) = delete;

    private:
        Emitter &emitter;
        ir::Block &outer;
        size_t mark;
    };

private:
    std::vector<std::pair<ir::Expr, ir::Value *>> made; // expressions that have a value here
    Num binary(ir::ExprKind, ir::OpKind, const Num &, const Num &);
};

} // namespace tdl::kernel
