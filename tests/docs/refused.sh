#!/usr/bin/env bash
# What the checker refuses by name is what man/tdl.5 lists under NOT YET, and each element type is in one of its two lists.
#     ctx.report(loc, Diag::NotBuilt, "`scan`")   -->   a block of tdl.5 has `test: rejected `scan` is not supported yet`
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${TDL_BUILD:-$source/build/release}
page=$source/man/tdl.5
bad=0

while IFS= read -r what; do
    grep -qxF ".\\\" test: rejected $what is not supported yet" "$page" || { echo "tdl.5 does not show that $what is refused"; bad=1; }
done < <(cat "$source"/src/sema/*.cpp | tr '\n' ' ' | grep -oE 'Diag::NotBuilt,\s*"[^"]*"' | sed 's/.*"\(.*\)"/\1/' | sort -u)

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
types=$(sed -n '/^\.SH TYPES/,/^\.SS/p' "$page" | tr ' ,"' '\n\n\n' | grep -xE 'b?[fi][0-9]+|fp8e[0-9]m[0-9]|u[0-9]|bool' | sort -u)
later=$(sed -n 's/\\f.//g; /^\.SH NOT YET/,/^\.SH EXAMPLES/s/^The types //p' "$page" | tr -d ,)
for type in $(sed -n 's/^ELEM([^,]*, *"\{0,1\}\([a-z0-9]*\).*/\1/p' "$source/src/support/elem.def") $types $later; do
    expect=refused
    grep -qxF "$type" <<<"$types" && expect=accepted
    echo "kernel k<M>(X: in $type[M], Y: out $type[M]) { stage s for i in M by 64 { Y[i] = X[i] } }" >"$work/a.tdl"
    found=refused
    "$build/src/tools/tdlc" --stop-after=obj "$work/a.tdl" >"$work/out" 2>&1 && found=accepted
    [ $found = $expect ] || { echo "tdl.5 has $type as $expect, tdlc has it $found"; bad=1; }
    [ $expect = accepted ] || grep -qw "$type" <<<"$later" || { echo "tdl.5 does not name type $type"; bad=1; }
done
[ $bad = 0 ] && echo "accepted: $(echo $types); refused: $later"
exit $bad
