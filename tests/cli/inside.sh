#!/usr/bin/env bash
# Looking inside: stages by name, what is printed before and after them, times.
. "$(dirname "$0")/common.sh"
for stage in ast tile plan kernel obj; do
    run 0 tdlc --stop-after=$stage a.tdl; out ""; err ""
done
run 2 tdlc --stop-after=x a.tdl
usage '`--stop-after=x` should be ast, tile, plan, kernel or obj'
# It checks as far as it goes.
sed 's/X\[i\]/z/' a.tdl >bad.tdl
run 0 tdlc --stop-after=ast bad.tdl
run 1 tdlc --stop-after=tile bad.tdl
err_has 'there is no `z` here'
files a.tdl bad.tdl
rm bad.tdl

for stage in ast tile plan kernel; do
    run 0 tdlc --emit=$stage a.tdl
    cp "$out" "$work/emitted"
    run 0 tdlc --stop-after=obj --dump-after=$stage a.tdl
    check cmp "$work/emitted" <(tail -n +2 "$err")
    out ""
done
run 0 tdlc --stop-after=obj --dump-after=llvm a.tdl; err_has 'define '
run 0 tdlc --stop-after=obj --dump-before=tile a.tdl; err_has 'kernel scale<N>'
run 0 tdlc --stop-after=obj --dump-before=plan --dump-before=kernel a.tdl; err_has 'tdl.tile 1'; err_has 'tdl.plan 1'
run 0 tdlc --stop-after=obj --dump-before=llvm a.tdl; err_has 'tdl.kern'
run 0 tdlc --stop-after=obj --dump-before=obj a.tdl; err_has 'define '
run 2 tdlc --dump-after=x a.tdl; usage 'there is no stage `x` to dump after'
run 2 tdlc --dump-before=ast a.tdl; usage 'there is no stage `ast` to dump before'

run 0 tdlc --stop-after=obj --time-passes a.tdl
for pass in parse check derive lower header generate verify; do
    check grep -qE "^ *[0-9]+\.[0-9]+ ms  $pass\$" "$err"
done
run 0 tdlc -v --stop-after=tile a.tdl; err 'tdlc: a.tdl to tile'
run 0 tdlc --emit=llvm a.tdl; out_has 'define '
run 0 tdlc --emit=asm a.tdl; out_has '.text'
run 0 tdlc --version; check grep -qE '^tdlc [0-9]+\.[0-9]+\.[0-9]+ \(LLVM [0-9.]+\)$' "$out"
run 0 tdlc --print-targets; out_has 'x86-64-v3'
run 0 tdlc --help; out_has 'tdlc [options] FILE...'; out_has '--emit=KIND'; err ""
check test "$(wc -l <"$out")" -lt 100
files a.tdl
finish
