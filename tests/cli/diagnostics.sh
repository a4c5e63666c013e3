#!/usr/bin/env bash
# How diagnostics are shown: colour, limit, warnings as errors, explanations.
. "$(dirname "$0")/common.sh"
cat >bad.tdl <<'TDL'
kernel k<N>(X: in f32[N], Y: out f32[N]) {
    stage s for i in N by 64 { Y[i] = a + b + c }
}
TDL
run 1 tdlc bad.tdl
err 'bad.tdl:2:39: error: there is no `a` here [TDL0200]' \
    '    2 |     stage s for i in N by 64 { Y[i] = a + b + c }' \
    '      |                                       ^' \
    'bad.tdl:2:43: error: there is no `b` here [TDL0200]' \
    '    2 |     stage s for i in N by 64 { Y[i] = a + b + c }' \
    '      |                                           ^' \
    'bad.tdl:2:47: error: there is no `c` here [TDL0200]' \
    '    2 |     stage s for i in N by 64 { Y[i] = a + b + c }' \
    '      |                                               ^'
files a.tdl bad.tdl

escape=$'\e'
run 1 tdlc --color=always bad.tdl
err_has "bad.tdl:2:39: $escape[1;31merror:$escape[0m there is no"
for when in auto never; do
    run 1 tdlc --color=$when bad.tdl # standard error is a file here
    lacks "$err" "$escape"
done

shown() { grep -c ': error: ' "$err"; }
run 1 tdlc --error-limit=1 bad.tdl; check test "$(shown)" = 1
run 1 tdlc --error-limit 2 bad.tdl; check test "$(shown)" = 2
run 1 tdlc --error-limit=0 bad.tdl; check test "$(shown)" = 3
names=$(seq -f 'z%.0f' -s ' + ' 30)
sed -i "s/a + b + c/$names/" bad.tdl
run 1 tdlc bad.tdl; check test "$(shown)" = 20
run 1 tdlc --error-limit=0 bad.tdl; check test "$(shown)" = 30

: >warn.tdl
run 0 tdlc --stop-after=tile warn.tdl
err 'warn.tdl: warning: the module declares no kernel [TDL0220]'
run 1 tdlc -Werror warn.tdl
err 'warn.tdl: error: the module declares no kernel [TDL0220]'
files a.tdl bad.tdl warn.tdl

# Every kind has an explanation, by number, with or without TDL and zeros.
kinds=$source/src/diagnostics/kinds.def
numbers=$(sed -n 's/^DIAG(\([0-9]*\),.*/\1/p' "$kinds")
[ "$(wc -w <<<"$numbers")" -gt 100 ] || fail "kinds.def does not look as expected"
for n in $numbers; do
    code=$(printf 'TDL%04d' "$n")
    run 0 tdlc --explain-code=$code
    check test "$(head -n 1 "$out" | cut -d: -f1)" = $code
    check test "$(sed -n 3p "$out" | wc -c)" -gt 10
done
[ -z "$(sort <<<"$numbers" | uniq -d)" ] || fail "two kinds have one number: $(sort <<<"$numbers" | uniq -d)"
run 0 tdlc --explain-code=TDL0004
out 'TDL0004: cannot write `{}`: {}' '' 'The output file could not be made; nothing was left behind.'
run 0 tdlc --explain-code 4
run 2 tdlc --explain-code=0
usage 'there is no diagnostic `0`'
finish
