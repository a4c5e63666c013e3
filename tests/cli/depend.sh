#!/usr/bin/env bash
# Make dependencies: the same rules as gcc writes, in a form that Make and Ninja read.
. "$(dirname "$0")/common.sh"
rule() { same "$(cat "$1")" "$(lines "${@:2}")"; }
run 0 tdlc -MD a.tdl; files a.tdl a.o a.h a.d; rule a.d 'a.o: a.tdl'
run 0 tdlc -c -MMD -MP -MF x.d -o y.o -H y.h a.tdl; rule x.d 'y.o: a.tdl'
rm a.[ohd] x.d y.*
mkdir out
run 0 tdlc -MD a.tdl -o out/b.o; files a.tdl out out/b.o out/b.h out/b.d; rule out/b.d 'out/b.o: a.tdl'
rm -r out
run 0 tdlc -MD -MF x.d -MT '$(OBJ)/a.o' -MT b a.tdl; rule x.d '$(OBJ)/a.o b: a.tdl'
rm a.[oh] x.d
run 0 tdlc -MD -MFx.d -MTq a.tdl; rule x.d 'q: a.tdl'
rm a.[oh] x.d
run 0 tdlc --emit=tile -MD -MF - a.tdl -o a.tile; out 'a.tile: a.tdl'
run 0 tdlc -MD -MF b.d a.tile -o b.o; rule b.d 'b.o: a.tile' # not the a.tdl that it names
rm a.tile b.*
run 0 tdlc --emit=tile -MD a.tdl; rule a.d 'a.o: a.tdl'
rm a.d
run 0 tdlc -MD -MF x.d - <a.tdl; rule x.d 'a.o:'
rm a.[oh] x.d
# An intermediate text of --via-text is no file.
run 0 tdlc --via-text -MD -MF x.d a.tdl; rule x.d 'a.o: a.tdl'
rm a.[oh] x.d
# With errors, or when nothing is written, there is no rule either.
echo kernel >bad.tdl
run 1 tdlc -MD bad.tdl
run 0 tdlc -MD --stop-after=obj a.tdl
files a.tdl bad.tdl
rm bad.tdl
run 3 tdlc -MD -MF /dev/full a.tdl
err 'tdlc: error: cannot write `/dev/full`: No space left on device [TDL0004]'
files a.tdl

# Names that Make would take apart: gcc's form, and both tools find the file again.
name='a b$c#d:e.tdl'
mv a.tdl "$name"
run 0 tdlc -MD -MF x.d -o x.o "$name"; rule x.d 'x.o: a\ b$$c\#d\:e.tdl'
if command -v gcc >/dev/null; then
    : >"a b\$c#d.c"
    gcc -ffreestanding -c -MD -MF gcc.d -o x2.o "a b\$c#d.c"
    cp "$name" "a b\$c#d.tdl"
    tdlc -MD -MF tdlc.d -o x2.o "a b\$c#d.tdl"
    check test "$(sed 's/\.c$//' gcc.d)" = "$(sed 's/\.tdl$//' tdlc.d)"
fi
if command -v make >/dev/null; then
    printf 'x.o:\n\t@echo again\ninclude x.d\n' >Makefile
    touch -d 2001-01-01 "$name"
    run 0 make x.o; out "make: 'x.o' is up to date."
    touch -d 2101-01-01 "$name"
    run 0 make x.o; out again
fi
if command -v ninja >/dev/null; then
    cat >build.ninja <<'NINJA'
rule tdl
  command = tdlc -c -MD -MF x.d -o x.o 'a b$$c#d:e.tdl'
  depfile = x.d
  deps = gcc
build x.o: tdl
NINJA
    touch -d 2001-01-01 "$name"
    run 0 ninja
    run 0 ninja; out_has 'no work to do'
    sleep 0.01; touch "$name"
    run 0 ninja; out_has '[1/1]'
fi
finish
