// The functions that lower syntax to tile IR, by the file that holds them. A failed one has reported why and
// returns an Error term, null or false; callers go on and stay silent about it.
#pragma once
#include "sema/context.h"

namespace tdl::sema {

// ---- declare.cpp, constants.cpp: what stands in modules and kernels before the stages
/// A new operation before the stages of the kernel, also if it was written behind one.
ir::Op *declaration(Context &, ir::OpKind, Loc);
void declareAlias(Context &, const ast::TypeAlias &);
void declareSizes(Context &, const ast::Kernel &);
void declareParam(Context &, const ast::Param &);
void declareLocal(Context &, const ast::Local &);
void define(Context &, const ast::Define &);
void require(Context &, const ast::Require &);
/// The element type that a name stands for.
std::optional<Elem> elemType(Context &, const ast::Name &);

// ---- stage.cpp, loop.cpp, domain.cpp, statement.cpp, carried.cpp
void stage(Context &, const ast::Stage &);
void statements(Context &, const std::vector<ast::Stmt> &);
/// The loops of a `for`, one in the other.
void loop(Context &, const ast::For &, Loc);
/// What a binding runs over, in the current mode. Nothing if that was an error.
std::optional<Domain> domain(Context &, const ast::Expr &);
/// The loop of a binding; a slice whose bounds data decides is left to the caller.
std::optional<ir::LoopSpec> loopSpec(Context &, const ast::Binding &, const Domain &);
/// Makes `value`, the argument of a block, the name that the binding binds.
void bindLoop(Context &, const ast::Binding &, const Domain &, const ir::LoopSpec &, ir::Value *value);

/// An outer variable that a loop assigns.
struct Carried {
    Symbol *symbol;
    bool accumulates; // only by one of += max= min=, and it is not read otherwise
};
std::vector<Carried> carriedBy(Context &, const ast::For &);

// ---- expr.cpp
Term expression(Context &, const ast::Expr &);            // of any kind
Term value(Context &, const ast::Expr &);                 // Literal, Size, Value or Error
Term asValue(Context &, const ast::Expr &, const Term &); // the same for its term
Term indices(Context &, const Term &range);               // of a range, as a tile
/// An integer scalar: literal, Size or Value. `what` is for the message: "a slice bound".
Term integer(Context &, const ast::Expr &, std::string_view what);
/// An integer made of sizes and constants, for `mode`.
std::optional<Term> symbol(Context &, const ast::Expr &, Mode mode, std::string_view what);
/// Reports that something other than sizes and constants stands where `ctx.mode` wants these. `what`: "`x`, a
/// variable".
Term notKnown(Context &, Loc, const std::string &what);

// ---- arithmetic.cpp, convert.cpp
Term binary(Context &, Loc, ast::BinaryOp, Term, Term);
Term least(Context &, Loc, Term, Term, bool greatest); // min, max
Term unary(Context &, Loc, ast::UnaryOp, Term);
enum class Meet : uint8_t { Arithmetic, Compare, Choose }; // Choose: min, max, where
/// The type in which two operands meet; nothing (and a message) if there is none.
std::optional<Elem> meet(Context &, Loc, std::string_view op, const Term &, const Term &, Meet);
/// The type of a term by itself: i64 or f32 for literals.
Elem elemOf(const Term &);
std::vector<std::string> axesOf(const Term &);
/// As an SSA value of the type, converted if need be: the caller has checked that it may be.
ir::Value *toElem(Context &, const Term &, Elem);
ir::Value *toValue(Context &, const Term &); // of its own type
/// Does a value of the term become `to` without `as`, by widening or as a literal that fits?
bool widens(const Term &, Elem to);
/// Checks and converts an initial or new value of a tile: type widened, axes added.
ir::Value *fitTile(Context &, const Term &, const ast::Name &name, const ir::Type &);
bool literalFits(Context &, const Term &, Elem);

// ---- call.cpp, reduce.cpp, access.cpp
Term call(Context &, const ast::Call &, Loc);
Term reduction(Context &, const ast::Call &, Loc);
Term dot(Context &, const ast::Call &, Loc);
/// Axes by their names in the source, for `over` and declared tiles. Null: reported.
const Term *axis(Context &, const ast::Name &);
Term wholeAxis(Context &, Symbol &, Loc);
Term load(Context &, const ast::Index &, Loc, const ast::Expr *otherwise);
void store(Context &, const ast::Target &, ast::AssignOp, const ast::Expr &value);

} // namespace tdl::sema
