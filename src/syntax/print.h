// Syntax tree to text: one fixed style (4 spaces, one statement a line, no parentheses that are not needed).
//
//     stage s for i in N by 64{y=(X[i]+1) ; Y[i]=y}
//     -->
//     stage s for i in N by 64 {
//         y = X[i] + 1
//         Y[i] = y
//     }
//
// parse(print(m)) is m again, apart from places; comments other than `///` are gone.
#pragma once
#include "syntax/ast.h"

namespace tdl {

std::string print(const ast::Module &);
std::string print(const ast::Expr &);
std::string print(const ast::Type &);

} // namespace tdl
