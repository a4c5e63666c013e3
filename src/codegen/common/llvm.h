// LLVM's builder and types for the files that emit code, with the warnings of its headers kept out of ours,
// and the few helpers that every one of them wants. Only .cpp files of codegen/ and object/ include it.
#pragma once
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

namespace tdl::codegen {

/// `scalar`, or a vector of it as wide as `shape`.
inline llvm::Type *shapedLike(llvm::Type *scalar, llvm::Type *shape) {
    if (auto *v = llvm::dyn_cast<llvm::VectorType>(shape))
        return llvm::VectorType::get(scalar, v->getElementCount());
    return scalar;
}
inline llvm::Value *intLike(llvm::Value *shape, unsigned bits, uint64_t value) {
    auto *t = shapedLike(llvm::IntegerType::get(shape->getContext(), bits), shape->getType());
    return llvm::ConstantInt::get(t,
                                  llvm::APInt(bits, bits < 64 ? value & ((uint64_t{1} << bits) - 1) : value));
}
inline llvm::Type *intType(llvm::Value *shape, unsigned bits) {
    return shapedLike(llvm::IntegerType::get(shape->getContext(), bits), shape->getType());
}
inline llvm::Value *floatLike(llvm::Value *shape, double value) {
    return llvm::ConstantFP::get(shape->getType(), value);
}

} // namespace tdl::codegen
