// Reporting and resynchronisation (recover.h has the idea); the words for "expected ..." are in expected.cpp.
#include "syntax/recover.h"
#include <algorithm>

namespace tdl::syntax {
namespace {

using antlr4::Parser;
using antlr4::Token;
using antlr4::misc::IntervalSet;
using P = TdlParser;

/// The token starts a line.
bool startsLine(antlr4::TokenStream *in, ssize_t k = 1) {
    Token *before = in->LT(k - 1 == 0 ? -1 : k - 1);
    return !before || before->getLine() < in->LT(k)->getLine();
}

bool startsItem(size_t t) {
    return t == P::KERNEL || t == P::FN || t == P::SCHEDULE || t == P::IMPORT;
}

bool startsKernelItem(size_t t) {
    return t == P::STAGE || t == P::LOCAL || t == P::REQUIRE || t == P::TILE || t == P::CONST ||
           t == P::LET || t == P::REPEAT;
}

bool startsStatementWord(size_t t) {
    return t == P::FOR || t == P::RETURN || t == P::SCATTER;
}

bool isName(size_t t) {
    return t == P::NAME || (t >= P::TYPE && t <= P::UNIQUE);
}

/// Whether skipping in `rule` ends before token t, given the brackets opened and not closed since it began.
bool resumesAt(size_t rule, size_t t, bool atLineStart, int braces, int parens) {
    if (t == Token::EOF || startsItem(t)) return true;
    bool level = braces == 0, open = parens > 0;
    switch (rule) {
    case P::RuleItem: return level && atLineStart && (t == P::TYPE || t == P::CONST);
    case P::RuleKernelBody:
    case P::RuleKernelItem: return level && (t == P::RBRACE || startsKernelItem(t));
    case P::RuleScheduleBody:
    case P::RuleDirective:
        return level && (t == P::RBRACE || (!open && t == P::SEMICOLON) ||
                         (!open && atLineStart && (isName(t) || startsKernelItem(t))));
    case P::RuleBlock:
    case P::RuleStmt: // a stage inside of a block: the block was never closed
        return t == P::STAGE || t == P::LOCAL ||
               (level && (t == P::RBRACE || (!open && (t == P::SEMICOLON || startsStatementWord(t))) ||
                          (atLineStart && (startsStatementWord(t) || (!open && isName(t))))));
    case P::RuleParams:
        return level &&
               (t == P::LBRACE || t == P::RBRACE || (!open && t == P::RPAREN) || startsKernelItem(t));
    case P::RuleBindings:
        return level &&
               (t == P::RBRACE || t == P::SEMICOLON || startsKernelItem(t) || (!open && t == P::LBRACE) ||
                (!open && atLineStart && (isName(t) || startsStatementWord(t))));
    default: return false;
    }
}

bool resumes(size_t rule) {
    return rule == P::RuleItem || rule == P::RuleKernelItem || rule == P::RuleDirective ||
           rule == P::RuleStmt || rule == P::RuleParams || rule == P::RuleBindings;
}

/// Consumes up to a token at which `rule` can go on.
void skip(Parser *parser, size_t rule) {
    antlr4::TokenStream *in = parser->getTokenStream();
    int braces = 0, parens = 0;
    for (;; in->consume()) {
        size_t t = in->LA(1);
        if (resumesAt(rule, t, startsLine(in), braces, parens)) return;
        switch (t) {
        case P::LPAREN:
        case P::LBRACKET: ++parens; break;
        case P::RPAREN:
        case P::RBRACKET: parens = std::max(parens - 1, 0); break;
        case P::LBRACE:
            ++braces;
            parens = 0;
            break;
        case P::RBRACE:
            braces = std::max(braces - 1, 0);
            parens = 0;
            break;
        default: break;
        }
    }
}

size_t closerOf(size_t open) {
    return open == P::LPAREN ? P::RPAREN : open == P::LBRACKET ? P::RBRACKET : P::RBRACE;
}

/// What people coming from other languages write, and what it is here; empty if there is nothing to say.
std::string hint(std::string_view before, size_t found, size_t rule, const IntervalSet &expected) {
    if (rule == P::RuleBlock && (found == P::LET || found == P::CONST || found == P::TILE))
        return "in a stage, the first assignment declares a name: `x = e`";
    if (!expected.contains(size_t{P::ADD_ASSIGN})) return {};
    if (before == "if" || before == "else" || before == "while")
        return fmt::format("there is no `{}`; `where(c, a, b)` chooses between values", before);
    if (found == P::LPAREN) return "a call is no statement; assign its result";
    if (found == P::MINUS || found == P::STAR || found == P::SLASH)
        return "accumulations are `+=`, `max=` and `min=`";
    return {};
}

/// What could have stood at the offending token. Where the parser had to look ahead, the union over all it
/// had in mind.
IntervalSet expectedAt(Parser *parser, const antlr4::RecognitionException &e) {
    const auto *ambiguous = dynamic_cast<const antlr4::NoViableAltException *>(&e);
    if (!ambiguous || ambiguous->getStartToken() == e.getOffendingToken() || !ambiguous->getDeadEndConfigs())
        return e.getExpectedTokens();
    IntervalSet set;
    for (const auto &config : ambiguous->getDeadEndConfigs()->configs)
        set.addAll(parser->getATN().nextTokens(config->state));
    set.remove(Token::EPSILON);
    return set;
}

} // namespace

/// Errors come nearly in order, so the count goes on from the last one.
Token *Recovery::openBracket(antlr4::TokenStream *in, size_t before) {
    if (before < counted_) {
        counted_ = 0;
        open_.clear();
    }
    for (; counted_ < before; ++counted_) {
        Token *t = in->get(counted_);
        size_t type = t->getType();
        if (type == P::LPAREN || type == P::LBRACKET || type == P::LBRACE) open_.push_back(t);
        if ((type == P::RPAREN || type == P::RBRACKET || type == P::RBRACE) && !open_.empty())
            open_.pop_back();
    }
    return open_.empty() ? nullptr : open_.back();
}

void Recovery::report(Parser *parser, Token *found, const IntervalSet &expected) {
    if (inErrorRecoveryMode(parser)) return;
    beginErrorCondition(parser);
    size_t type = found->getType();
    if (type == P::BAD_CHARACTER || type == P::BAD_STRING) return; // has been reported
    antlr4::ParserRuleContext *ctx = parser->getContext();
    size_t rule = ctx ? ctx->getRuleIndex() : static_cast<size_t>(P::RuleModule);
    IntervalSet all(expected); // and the commas that could have gone on with a list that was just left
    if (passedAt_ == found->getTokenIndex())
        for (size_t state : passed_)
            for (size_t t : {P::COMMA, P::BY, P::OVER})
                if (parser->getATN().nextTokens(parser->getATN().states[state]).contains(t))
                    all.add(static_cast<ssize_t>(t));
    std::string what = describeExpected(all, rule, parser->getVocabulary());
    std::string shown = type == Token::EOF ? "the end of the file"
                        : type >= P::IMPORT && type <= P::NOT_A_NUMBER
                            ? fmt::format("the keyword `{}`", text_.of(found))
                            : fmt::format("`{}`", text_.of(found));
    antlr4::TokenStream *in = parser->getTokenStream();
    Token *before = in->LT(-1);
    auto builder = diags_.report(type == Token::EOF && before ? text_.behind(before) : text_.loc(found),
                                 Diag::ExpectedFound, what, shown);
    Token *open = openBracket(in, found->getTokenIndex());
    bool unclosed = type == Token::EOF || startsItem(type) || type == P::STAGE || type == P::LOCAL;
    if (open && expected.contains(closerOf(open->getType())) && open->getLine() != found->getLine() &&
        (unclosed || open->getType() != P::LBRACE))
        builder.note(text_.loc(open), fmt::format("`{}` opened here", text_.of(open)));
    if (std::string text = hint(before ? text_.of(before) : "", type, rule, expected); !text.empty())
        builder.note(text_.loc(found), std::move(text));
}

void Recovery::reportError(Parser *parser, const antlr4::RecognitionException &e) {
    report(parser, e.getOffendingToken(), expectedAt(parser, e));
}

void Recovery::recover(Parser *parser, std::exception_ptr e) {
    size_t rule = parser->getContext()->getRuleIndex();
    if (!resumes(rule)) std::rethrow_exception(e);
    skip(parser, rule);
}

Token *Recovery::recoverInline(Parser *parser) {
    throw antlr4::InputMismatchException(parser);
}

void Recovery::sync(Parser *parser) {
    if (inErrorRecoveryMode(parser)) return;
    size_t next = parser->getTokenStream()->LA(1);
    const antlr4::atn::ATNState *state = parser->getATN().states[parser->getState()];
    const IntervalSet &expected = parser->getATN().nextTokens(const_cast<antlr4::atn::ATNState *>(state));
    if (expected.contains(next)) return;
    if (expected.contains(Token::EPSILON)) {
        size_t at = parser->getTokenStream()->index();
        if (at != passedAt_) passed_.clear();
        passedAt_ = at;
        passed_.push_back(parser->getState());
        return;
    }
    size_t rule = parser->getContext()->getRuleIndex();
    if (rule == P::RuleBlock || rule == P::RuleKernelBody || rule == P::RuleScheduleBody) {
        report(parser, parser->getCurrentToken(), expected); // stay in the loop over what the braces hold
        skip(parser, rule);
        return;
    }
    throw antlr4::InputMismatchException(parser);
}

void Recovery::recoverBetweenItems(Parser *parser) {
    IntervalSet items;
    for (size_t t : {P::IMPORT, P::TYPE, P::CONST, P::FN, P::KERNEL, P::SCHEDULE})
        items.add(static_cast<ssize_t>(t));
    report(parser, parser->getCurrentToken(), items);
    parser->getTokenStream()->consume();
    skip(parser, P::RuleItem);
}

} // namespace tdl::syntax
