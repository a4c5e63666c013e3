#!/usr/bin/env bash
# The conditions of claims.tdl hold in compiled code (claims.c says which does not), and in the interpreter, which agrees
# with it.
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${TDL_BUILD:-$source/build/release}
here=$source/tests/docs
export PATH=$build/src/tools:$PATH
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

cp "$here/claims.tdl" "$here/claims.c" . || exit 1
stated=$(grep -c '^ *R\[[0-9]*\] = ' claims.tdl)
status=0
for options in -O2 -O0; do
    tdlc "$options" -c claims.tdl && "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I. -I"$source/runtime/include" claims.c claims.o \
        "$build/runtime/libtdl.a" -pthread -o claims || exit 1
    for ranks in 1 3; do
        tdlrun -n $ranks --timeout=60000 ./claims >out 2>&1 || status=1
        grep -q "N = 7: $stated conditions" out || { echo "$stated conditions are stated, but"; cat out; status=1; }
        sed -n 's/^does not hold.*: \(R\[[0-9]*\]\)$/\1/p' out | sort -u | while read -r condition; do
            echo "does not hold ($options, $ranks ranks):"
            grep -nF "$condition = " claims.tdl
        done
    done
done
tdlrun -n 3 claims.tdl:claims ZERO=0 n=0 --shapes=N=600,N=1,N=2,N=7 || status=1
exit $status
