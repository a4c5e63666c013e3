#!/usr/bin/env bash
# Bad usage says what was wrong in one line, ends with status 2 and writes nothing.
. "$(dirname "$0")/common.sh"
bad() { local text=$1; shift; run 2 tdlc "$@"; usage "$text"; out ""; }

bad 'no input file'
bad 'unknown option `--nope`' --nope a.tdl
bad 'unknown option `-q`' -q a.tdl
bad 'unknown option `-cx`' -cx a.tdl
bad 'unknown option `-MX`' -MX a.tdl
bad 'unknown option `--emitx=tile`' --emitx=tile a.tdl
bad '`-o` needs a value: FILE' a.tdl -o
bad '`-o` needs a value: FILE' a.tdl -o ''
bad '`--emit` needs a value: KIND' a.tdl --emit
bad '`--emit` needs a value: KIND' a.tdl --emit=
bad '`-O` needs a value: 0..3' a.tdl -O
bad '`-D` needs a value: NAME=VALUE' a.tdl -D
bad '`--help` takes no value' --help=x
bad 'there is no `--emit=x`; the kinds are ast, tile, plan, kernel, llvm, asm, ptx, cubin, obj, header' --emit=x a.tdl
bad '`--color=x` should be auto, always or never' --color=x a.tdl
bad '`--error-limit=x` should be a number' --error-limit=x a.tdl
bad '`--error-limit=9x` should be a number' --error-limit 9x a.tdl
bad '`--error-limit=-1` should not be negative' --error-limit=-1 a.tdl
bad '`-O4` should be -O0 to -O3' -O4 a.tdl
bad '`-Ofast` should be a number' -Ofast a.tdl
bad 'there is no `-Wall`' -Wall a.tdl
bad '`-D TM` should be NAME=VALUE' -DTM a.tdl
bad '`-D =1` should be NAME=VALUE' -D =1 a.tdl
bad 'there is no diagnostic `TDL9999`' --explain-code=TDL9999
bad 'there is no diagnostic `TDL0001x`' --explain-code=TDL0001x
bad '-H names the header beside an object, but `--emit=tile` writes one thing' --emit=tile -H a.h a.tdl
bad '-MF, -MT and -MP need -MD or -MMD' -MF a.d a.tdl
bad '-MF, -MT and -MP need -MD or -MMD' -MP a.tdl
for option in -o -H "-MD -MF"; do
    bad '-o, -H and -MF name one file, but there are 2 inputs' $option x a.tdl a.tdl
done
bad 'the output `a.tdl` is an input' -o a.tdl a.tdl
bad 'the output `./a.tdl` is an input' -H ./a.tdl a.tdl
bad 'two outputs would be called `a.h`' -o a.h a.tdl
bad 'two outputs would be called `a.o`' -c a.tdl ../here/a.tdl
files a.tdl

# The last of several values counts, as elsewhere; behind -- everything is an input.
run 0 tdlc --emit=plan --emit tile a.tdl
out_has 'tdl.tile 1'
cp a.tdl ./-a.tdl
run 0 tdlc --emit=tile -- -a.tdl
out_has 'source "-a.tdl"'
finish
