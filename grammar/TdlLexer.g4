// The words of TDL. Text is UTF-8; beyond ASCII only in comments and strings. Newlines mean nothing.
lexer grammar TdlLexer;

// `<` and `>` of `f<a, b>(`: where a name, `<`, names with commas between them, `>` and `(` follow one another, the two
// signs get these types before the parser sees them (src/syntax/tokens.cpp); text alone cannot tell them apart.
tokens { LANGLE, RANGLE }

// Reserved words.
IMPORT: 'import';
CONST: 'const';
FN: 'fn';
KERNEL: 'kernel';
SCHEDULE: 'schedule';
STAGE: 'stage';
TILE: 'tile';
LET: 'let';
REQUIRE: 'require';
LOCAL: 'local';
REPEAT: 'repeat';
UNIFORM: 'uniform';
IN: 'in';
OUT: 'out';
INOUT: 'inout';
FOR: 'for';
BY: 'by';
OVER: 'over';
AS: 'as';
OR: 'or';
RETURN: 'return';
SCATTER: 'scatter';
TRUE: 'true';
FALSE: 'false';
INFINITE: 'inf';
NOT_A_NUMBER: 'nan';

// Words with a meaning in one place only, names everywhere else (rule `name`).
TYPE: 'type';
ON: 'on';
MESH: 'mesh';
ANY: 'any';
ORDER: 'order';
UNIQUE: 'unique';

LPAREN: '(';
RPAREN: ')';
LBRACKET: '[';
RBRACKET: ']';
LBRACE: '{';
RBRACE: '}';
COMMA: ',';
SEMICOLON: ';';
COLON: ':';
DOT: '.';
AT: '@';
ASSIGN: '=';
ADD_ASSIGN: '+=';
MAX_ASSIGN: 'max=';
MIN_ASSIGN: 'min=';
PLUS: '+';
MINUS: '-';
STAR: '*';
SLASH: '/';
PERCENT: '%';
EQ: '==';
NE: '!=';
LT: '<';
LE: '<=';
GT: '>';
GE: '>=';
AND: '&&';
OROR: '||';
NOT: '!';

NAME: [A-Za-z_] [A-Za-z_0-9]*;
INT: DIGITS;
FLOAT: DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT;
STRING: '"' ~["\r\n]* '"';

DOC_COMMENT: '///' (~[/\r\n] ~[\r\n]*)? -> channel(HIDDEN);
COMMENT: '//' ~[\r\n]* -> skip;
SPACE: [ \t\r\n\f]+ -> skip;

// Text that is none of the above still makes tokens, so that the front end words the error.
BAD_NUMBER: DIGITS ('.' DIGITS)? [A-Za-z_] [A-Za-z_0-9]* | DIGITS '.' DIGITS ('.' [0-9]+)+ | DIGITS '.';
BAD_STRING: '"' ~["\r\n]*;
BAD_CHARACTER: .;

fragment DIGITS: [0-9] [0-9_]*;
fragment EXPONENT: [eE] [+-]? DIGITS;
