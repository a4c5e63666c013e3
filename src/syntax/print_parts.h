// The parts of the printer that its two files share; each appends to `out`.
#pragma once
#include "syntax/ast.h"

namespace tdl::syntax {

void printExpr(std::string &out, const ast::Expr &);
void printExprs(std::string &out, const std::vector<ast::ExprPtr> &); // a, b
void printNames(std::string &out, const std::vector<ast::Name> &);    // a, b
void printNameArgs(std::string &out, const std::vector<ast::Name> &); // <a, b>, or nothing
void printType(std::string &out, const ast::Type &);

} // namespace tdl::syntax
