// The inside of verify(): one KernVerifier per kern. verify.cpp has the walk with names and axes, verify_operand.cpp
// the operands of each operation, verify_sync.cpp tokens and signals.
#pragma once
#include "ir/verify.h"
#include "kernel/order.h"
#include <unordered_set>

namespace tdl::kernel {

class KernVerifier {
public:
    KernVerifier(const ir::Op &k, Diagnostics &d) : kern(k), diags(d) {}
    bool run();

private:
    struct Program {
        const ir::Op *op;
        std::vector<const ir::Op *> reads, writes; // the operations
        TaskSync sync;
    };

    const ir::Op &kern;
    Diagnostics &diags;
    bool ok = true;
    std::unordered_set<std::string> sizes, declared;
    std::vector<Program> programs;

    template <class... A> void fail(const ir::Op &op, Diag kind, A &&...args) {
        ok = false;
        diags.report(ir::placeOf(op), kind, std::forward<A>(args)...);
    }
    void wrong(const ir::Op &op, std::string why) {
        fail(op, Diag::KernelOperand, op.info().text, std::move(why));
    }

    // verify.cpp
    void declaration(const ir::Op &);
    void program(const ir::Op &);
    void block(const ir::Block &, std::unordered_set<std::string> &axes,
               const std::vector<std::string> &coords);
    void axesOf(const ir::Op &, const std::unordered_set<std::string> &inScope);
    /// Every symbol is a size, `ranks`, or one of `more`.
    void names(const ir::Op &, const ir::Expr &, const std::vector<std::string> &more);
    void exprNames(const ir::Op &, const std::vector<std::string> &coords);
    // verify_operand.cpp
    void operands(const ir::Op &);
    void access(const ir::Op &);
    void base(const ir::Op &);
    // verify_sync.cpp
    void collect(const ir::Block &, const ir::Value *behind, Program &, bool &signalled);
    void signal(const ir::Op &);
    void tokens();
};

/// What `base` an address goes back to; null if to none.
const ir::Op *baseOf(const ir::Value *ptr);
/// The address of a read or write.
inline const ir::Value *addressOf(const ir::Op &access) {
    return access.operands[access.kind == ir::OpKind::Write ? 1 : 0];
}
/// The base is of the executing rank's own memory.
bool isOwn(const ir::Op &base);

} // namespace tdl::kernel
