// What the parser does on a syntax error: words one message, then goes on at the next statement, stage or
// kernel.
//
//     x = (1 + 2            a.tdl:4:9: error: expected `)`, found `y` [TDL0100]
//     y = x ]               a.tdl:4:5: note: `(` opened here
//
// Two rules against cascades: nothing is reported until a token has matched again, and only the rules in
// `skip` resume; an error inside of a deeper rule ends all rules up to the statement, parameter list or loop
// header around it.
#pragma once
#include "TdlParser.h"
#include "syntax/tokens.h"

namespace tdl::syntax {

class Recovery : public antlr4::DefaultErrorStrategy {
public:
    Recovery(const TokenText &text, Diagnostics &diags) : text_(text), diags_(diags) {}

    void reportError(antlr4::Parser *, const antlr4::RecognitionException &) override;
    void recover(antlr4::Parser *, std::exception_ptr) override;
    antlr4::Token *recoverInline(antlr4::Parser *) override;
    void sync(antlr4::Parser *) override;

    /// Reports the current token as unexpected between two items and skips to the next item.
    void recoverBetweenItems(antlr4::Parser *);

private:
    void report(antlr4::Parser *, antlr4::Token *found, const antlr4::misc::IntervalSet &expected);
    antlr4::Token *openBracket(antlr4::TokenStream *, size_t before); // the innermost one, or nullptr

    const TokenText &text_;
    Diagnostics &diags_;
    std::vector<size_t> passed_; // ATN states left without a match at token number passedAt_
    size_t passedAt_ = 0;
    std::vector<antlr4::Token *> open_; // brackets open before token number counted_
    size_t counted_ = 0;
};

/// "an expression", "`,` or `)`": what a set of token types stands for at a place in rule `rule`.
std::string describeExpected(const antlr4::misc::IntervalSet &, size_t rule, const antlr4::dfa::Vocabulary &);

} // namespace tdl::syntax
