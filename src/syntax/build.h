// Parse tree to syntax tree. Only sees trees without syntax errors; reports what the grammar cannot say (a
// comparison of a comparison, a number out of range). Nothing is resolved or checked beyond that.
#pragma once
#include "TdlParser.h"
#include "syntax/ast.h"
#include "syntax/tokens.h"

namespace tdl::syntax {

class Builder {
public:
    Builder(const TokenText &text, antlr4::BufferedTokenStream &tokens, Diagnostics &diags)
        : text_(text), tokens_(tokens), diags_(diags) {}

    ast::Item item(TdlParser::ItemContext *); // build_item.cpp

private:
    using P = TdlParser;

    // build_item.cpp
    ast::Fn fn(P::FnContext *);
    ast::Kernel kernel(P::KernelContext *);
    ast::Schedule schedule(P::ScheduleContext *);
    ast::Directive directive(P::DirectiveContext *);
    std::vector<ast::KernelItem> kernelBody(P::KernelBodyContext *);
    ast::KernelItem kernelItem(P::KernelItemContext *);
    std::vector<ast::Definition> definitions(const std::vector<P::DefinitionContext *> &);
    std::vector<ast::Param> params(P::ParamsContext *);
    ast::Type type(P::TypeContext *);
    std::string docBefore(const antlr4::Token *); // the `///` lines directly above

    // build_stmt.cpp
    std::vector<ast::Stmt> block(P::BlockContext *);
    ast::Stmt stmt(P::StmtContext *);
    ast::Stmt assignment(P::AssignmentContext *);
    ast::Target target(P::TargetContext *);
    std::vector<ast::Binding> bindings(P::BindingsContext *);

    // build_expr.cpp
    ast::ExprPtr expr(P::ExprContext *);
    ast::ExprPtr operation(P::OperationContext *);
    ast::ExprPtr chain(P::InfixContext *);
    ast::ExprPtr operand(P::OperandContext *);
    ast::ExprPtr accesses(P::PrimaryContext *, const std::vector<P::AccessContext *> &);
    ast::ExprPtr primary(P::PrimaryContext *);
    ast::ExprPtr call(P::CallContext *);
    ast::ExprPtr literal(const antlr4::Token *);
    bool tooDeep(const antlr4::ParserRuleContext *);
    std::vector<ast::ExprPtr> exprs(const std::vector<P::ExprContext *> &);

    // build.cpp
    ast::Name name(antlr4::ParserRuleContext *) const; // of one token
    ast::Name word(const antlr4::Token *) const;
    std::vector<ast::Name> names(P::NamesContext *) const;       // nullptr: none
    std::vector<ast::Name> nameArgs(P::NameArgsContext *) const; // nullptr: none
    std::string unquoted(const antlr4::Token *) const;
    Loc span(const antlr4::ParserRuleContext *) const;

    const TokenText &text_;
    antlr4::BufferedTokenStream &tokens_;
    Diagnostics &diags_;
    int depth_ = 0; // of expressions, from the statement down
    bool reportedDepth_ = false;
};

} // namespace tdl::syntax
