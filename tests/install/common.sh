# Sourced by the scripts here: a copy of project/, and wrappers of tdlc and the C++ compiler that keep count.
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${TDL_BUILD:-$source/build/release}
for tool in cmake ninja make; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp -r "$source/tests/install/project" "$work/project" && cd "$work" || exit 1
export CCACHE_DISABLE=1 CMAKE_BUILD_PARALLEL_LEVEL=2
unset MAKEFLAGS MAKELEVEL

failures=0
fail() { echo "FAILED (line ${BASH_LINENO[1]}): $1"; [ ! -s "$work/log" ] || tail -c 1500 "$work/log"; failures=$((failures + 1)); }
must() { "$@" >"$work/log" 2>&1 || { fail "$*"; exit 1; }; }
check() { "$@" >"$work/log" 2>&1 || fail "$*"; }

# wrap NAME COMMAND: $work/NAME does what COMMAND does and notes each call in $work/calls
wrap() {
    printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\nexec "%s" "$@"\n' "$1" "$work" "$2" >"$work/$1"
    chmod +x "$work/$1"
}
# made KERNELS SOURCES COMMAND...: runs it; so many kernels and C++ sources must be compiled by that
made() {
    local kernels=$1 sources=$2 found
    shift 2
    : >"$work/calls"
    must "$@"
    found="$(grep -c '^logged-tdlc ' "$work/calls") $(grep -cE '^logged-c\+\+ (.* )?-c ' "$work/calls")"
    [ "$found" = "$kernels $sources" ] || fail "$* compiled $found, not $kernels $sources (kernels, C++ sources)"
}
# Time stamps must differ even where they are coarse.
later() { sleep 0.05; touch "$@"; }
finish() { [ $failures = 0 ] && echo "as it should be"; exit $((failures > 0)); }
