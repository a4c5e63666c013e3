// Launch-time expressions as LLVM IR: 64-bit, `/` truncates, anything by zero is 0 (ir/expr.h).
#pragma once
#include "ir/expr.h"
#include <functional>
#include <string>
#include <string_view>

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace tdl::codegen {

class ExprBuilder {
public:
    using Lookup = std::function<llvm::Value *(std::string_view symbol)>; // null: no such symbol
    ExprBuilder(llvm::IRBuilderBase &builder, Lookup symbols) : b(builder), lookup(std::move(symbols)) {}

    /// The value as an i64; null if a symbol is unknown, which `unknown()` then names.
    llvm::Value *emit(const ir::Expr &);
    llvm::Value *emitCondition(const ir::Expr &); // as an i1: not 0
    const std::string &unknown() const { return missing; }

    /// From now on, additions, subtractions and multiplications that overflow make `overflowed()` true at run
    /// time.
    void watchOverflow();
    llvm::Value *overflowed() const { return overflow; }
    llvm::Value *multiply(llvm::Value *, llvm::Value *); // with the same watch
    llvm::Value *add(llvm::Value *, llvm::Value *);

private:
    llvm::IRBuilderBase &b;
    Lookup lookup;
    std::string missing;
    llvm::Value *overflow = nullptr;
    llvm::Value *divide(ir::ExprKind, llvm::Value *, llvm::Value *);
};

} // namespace tdl::codegen
