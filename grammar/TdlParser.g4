// The sentences of TDL; what they mean is in tdl(5). No actions, no predicates.
//
// Newlines mean nothing and `;` is optional, yet every text has one reading: no statement begins with an operator, `(`
// or `[`, so text that goes on with one of these goes on with the expression before it, on whatever line it stands.
//
// `f<a, b>(x)` is a call of f with axes a and b, also where two comparisons could be meant (`g(f < a, b > (x))`);
// parentheses around a comparison make it one. LANGLE and RANGLE are explained in TdlLexer.g4.
parser grammar TdlParser;

options { tokenVocab = TdlLexer; }

module: (item | ';')* EOF;

item: importItem | typeAlias | constant | fn | kernel | schedule;

importItem: 'import' STRING;
typeAlias: 'type' name '=' name;
constant: 'const' definition (',' definition)*;
fn: 'fn' name nameArgs? '(' params? ')' block;
kernel: 'kernel' name nameArgs? mesh? '(' params? ')' kernelBody;

mesh: 'on' 'mesh' '(' names ')';
nameArgs: ('<' | LANGLE) names ('>' | RANGLE);
names: name (',' name)*;
name: NAME | 'type' | 'on' | 'mesh' | 'any' | 'order' | 'unique';

// ---- Parameters and types

params: param (',' param)*;
param: names ':' direction=('in' | 'out' | 'inout')? type;
type: 'uniform'? name ('[' dim (',' dim)* ']')?;
dim: (name 'in')? operation ('@' name)?; // `e in E @ ranks` binds e for the dimensions after it

// ---- Kernels

kernelBody: '{' (kernelItem | ';')* '}';
kernelItem: define | require | local | stage | repeat;

define: kind=('tile' | 'const' | 'let') definition (',' definition)*;
definition: name '=' expr;
require: 'require' expr;
local: 'local' names ':' type;
stage: 'stage' name (':' name nameArgs? '(' (expr (',' expr)*)? ')' | ('for' bindings)? block);
repeat: 'repeat' expr kernelBody;

bindings: binding (',' binding)*;
binding: name 'in' expr ('by' expr)? ('in' 'any' 'order')?;

// ---- Statements

block: '{' (stmt | ';')* '}';
stmt: loop | returnStmt | scatter | assignment;

loop: 'for' bindings block;
returnStmt: 'return' expr (',' expr)*;
scatter: 'scatter' target '=' expr 'unique';
assignment: target (',' target)* (':' type '=' expr | op=('=' | '+=' | 'max=' | 'min=') expr);
target: name ('[' expr (',' expr)* ']')?;

// ---- Expressions

expr: operation ('@' name)?;

// From the tightest to the loosest. Comparisons do not chain.
operation
    : operand                                                        # single
    | op=('-' | '!') operation                                       # prefix
    | operation op=('*' | '/' | '%') operation                       # infix
    | operation op=('+' | '-') operation                             # infix
    | operation op=('<' | '<=' | '>' | '>=' | '==' | '!=') operation # infix
    | operation op='&&' operation                                    # infix
    | operation op='||' operation                                    # infix
    ;

operand: primary access* conversion*;
conversion: 'as' name | 'or' '-'* primary access*;
access: '[' expr (':' expr | (',' expr)*) ']' | '.' name;

primary: literal | call | name | '(' expr ')';
literal: INT | FLOAT | 'inf' | 'nan' | 'true' | 'false';
call: name (LANGLE axes=names RANGLE)? '(' (expr (',' expr)* ('over' over=names)?)? ')';

// ---- Schedules

schedule: 'schedule' name ('for' names)? scheduleBody;
scheduleBody: '{' (directive | ';')* '}';
directive: 'tile' definition (',' definition)* | subject ':' clause ((',' | ';') clause)*;
subject: 'kernel' | (name | 'stage' | 'local') name;
clause: word+;
word: name | INT | FLOAT | STRING | '+';
