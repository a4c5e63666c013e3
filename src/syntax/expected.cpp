// The words after "expected": a set of token types folded into what a person would say.
//
//     {NAME, INT, FLOAT, inf, ..., -, !, (}  --> an expression
//     {+, -, *, ..., as, or, `,`, `)`}       --> `,` or `)`
#include "syntax/recover.h"
#include <algorithm>

namespace tdl::syntax {
namespace {

using P = TdlParser;
using Types = std::vector<size_t>;

const Types kSoftWords{P::TYPE, P::ON, P::MESH, P::ANY, P::ORDER, P::UNIQUE};
const Types kExpression{P::NAME, P::INT,   P::FLOAT,  P::INFINITE, P::NOT_A_NUMBER,
                        P::TRUE, P::FALSE, P::LPAREN, P::MINUS,    P::NOT};
const Types kContinuation{P::PLUS, P::MINUS, P::STAR, P::SLASH,    P::PERCENT, P::EQ,    P::NE,
                          P::LT,   P::LE,    P::GT,   P::GE,       P::AND,     P::OROR,  P::AS,
                          P::OR,   P::AT,    P::DOT,  P::LBRACKET, P::LPAREN,  P::LANGLE};
const Types kStatement{P::NAME, P::FOR, P::RETURN, P::SCATTER, P::SEMICOLON};
const Types kKernelItem{P::STAGE, P::LOCAL, P::REQUIRE, P::TILE, P::CONST, P::LET, P::REPEAT, P::SEMICOLON};
const Types kItem{P::IMPORT, P::CONST, P::FN, P::KERNEL, P::SCHEDULE, P::SEMICOLON, antlr4::Token::EOF};
const Types kAssignment{P::ASSIGN, P::ADD_ASSIGN, P::MAX_ASSIGN, P::MIN_ASSIGN,
                        P::COLON,  P::COMMA,      P::LBRACKET};

class Set {
public:
    explicit Set(const antlr4::misc::IntervalSet &set) {
        for (ssize_t t : set.toList()) types_.push_back(static_cast<size_t>(t));
    }
    bool has(size_t t) const { return std::find(types_.begin(), types_.end(), t) != types_.end(); }
    void remove(const Types &out) {
        std::erase_if(types_, [&](size_t t) { return std::find(out.begin(), out.end(), t) != out.end(); });
    }
    /// Replaces the types in `group` by words.
    void fold(const Types &group, std::string words) {
        remove(group);
        phrases_.push_back(std::move(words));
    }
    std::string
    text(const antlr4::dfa::Vocabulary &vocabulary) { // words, keywords and signs, `,`, closing brackets
        std::stable_sort(types_.begin(), types_.end(), [](size_t a, size_t b) { return rank(a) < rank(b); });
        for (size_t t : types_) {
            std::string literal = vocabulary.getLiteralName(t);
            phrases_.push_back(literal.empty() ? "the end of the file"
                                               : fmt::format("`{}`", literal.substr(1, literal.size() - 2)));
        }
        std::string out;
        for (size_t i = 0; i < phrases_.size(); ++i)
            out += (i == 0 ? "" : i + 1 == phrases_.size() ? " or " : ", ") + phrases_[i];
        return out.empty() ? "something else" : out;
    }

private:
    static int rank(size_t t) {
        return t == P::RPAREN || t == P::RBRACKET || t == P::RBRACE || t == antlr4::Token::EOF ? 2
               : t == P::COMMA                                                                 ? 1
                                                                                               : 0;
    }

    Types types_;
    std::vector<std::string> phrases_;
};

} // namespace

std::string describeExpected(const antlr4::misc::IntervalSet &expected, size_t rule,
                             const antlr4::dfa::Vocabulary &vocabulary) {
    Set set(expected);
    if (set.has(P::LT)) set.remove({P::LANGLE}); // both are `<` to a person
    if (set.has(P::GT)) set.remove({P::RANGLE});
    bool directive = rule == P::RuleDirective || rule == P::RuleScheduleBody || rule == P::RuleSubject ||
                     rule == P::RuleClause || rule == P::RuleWord;
    if (set.has(P::NAME)) set.remove(kSoftWords);
    if (set.has(P::INT) && set.has(P::LPAREN) && set.has(P::NAME)) set.fold(kExpression, "an expression");
    if (set.has(P::STAR) && set.has(P::SLASH)) set.remove(kContinuation);
    if (set.has(P::FOR) && set.has(P::RETURN)) set.fold(kStatement, "a statement");
    if (set.has(P::STAGE) && set.has(P::REQUIRE)) {
        set.fold(kKernelItem, "a stage");
        set.fold({}, "a declaration");
    }
    if (set.has(P::KERNEL) && set.has(P::FN)) {
        set.remove(kSoftWords);
        set.fold(kItem, "`kernel`, `fn` or another declaration");
    }
    if (directive && set.has(P::TILE))
        set.fold({P::TILE, P::KERNEL, P::STAGE, P::LOCAL, P::NAME, P::SEMICOLON}, "a directive");
    if (directive && set.has(P::INT) && set.has(P::NAME))
        set.fold({P::NAME, P::INT, P::FLOAT, P::STRING, P::PLUS}, "a word or number");
    if (set.has(P::ADD_ASSIGN)) set.fold(kAssignment, "an assignment");
    if (set.has(P::UNIFORM) && set.has(P::NAME)) set.fold({P::UNIFORM, P::NAME}, "a type");
    if (set.has(P::NAME)) set.fold({P::NAME}, rule == P::RuleType ? "a type" : "a name");
    if (set.has(P::INT)) set.fold({P::INT}, "a number");
    if (set.has(P::STRING)) set.fold({P::STRING}, "a string");
    return set.text(vocabulary);
}

} // namespace tdl::syntax
