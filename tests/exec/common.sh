# Sourced by the exec tests: where things are, and the shape lists.
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${TDL_BUILD:-$source/build/release}
tdlc=$build/src/tools/tdlc
tdlrun=$build/src/tools/tdlrun
rank_counts=${RANK_COUNTS:-1 2 3 4 5 8}
for tool in "$tdlc" "$tdlrun"; do [ -x "$tool" ] || { echo "no $tool"; exit 1; }; done

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# shapes LIST: its shapes, joined by commas
shapes() { sed -n "s/^list  *$1  *//p" "$source/tests/exec/cases.txt"; }

# attempt COMMAND...: runs it, prints the command and its output only if it fails; counts in `failures`
failures=0
attempt() {
    local status=0
    "$@" >"$work/output" 2>&1 </dev/null || status=$?
    [ $status = 0 ] && return 0
    failures=$((failures + 1))
    printf 'FAILED (exit status %d): ' $status
    printf '%q ' "$@"
    printf '\n'
    head -c 1500 "$work/output"
    return 1
}
