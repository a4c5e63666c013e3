# Sourced by the scripts here. They run in an empty folder that has a.tdl, a small valid kernel:
#
#     run 2 tdlc --nope a.tdl          # must end with status 2; what it prints goes to ./out and ./err
#     err "tdlc: error: unknown option \`--nope\`" "tdlc --help lists the options"
#     files a.tdl                      # nothing else is there
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${TDL_BUILD:-$source/build/release}
tools=$build/src/tools
for tool in tdlc tdlrun; do [ -x "$tools/$tool" ] || { echo "no $tools/$tool"; exit 1; }; done
PATH=$tools:$PATH

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" && cd "$work/here" || exit 1
out=$work/out err=$work/err last=
failures=0

cat >a.tdl <<'TDL'
kernel scale<N>(X: in f32[N], Y: out f32[N]) {
    stage s for i in N by 64 { Y[i] = X[i] * 2.0 }
}
TDL

fail() {
    echo "FAILED (line ${BASH_LINENO[1]}): $last"
    printf '    %s\n' "$@"
    failures=$((failures + 1))
}

# run STATUS COMMAND...
run() {
    local wanted=$1 status=0
    shift
    last="$*"
    "$@" >"$out" 2>"$err" || status=$?
    [ $status = "$wanted" ] || fail "exit status $status, not $wanted" "$(head -c 600 "$err")"
}

lines() { printf '%s\n' "$@"; }
same() { [ "$1" = "$2" ] || fail "it says" "$(head -c 800 <<<"$1")" "and should say" "$2"; }
err() { same "$(cat "$err")" "$(lines "$@")"; }     # err LINE...: exactly this on standard error; none: err ""
out() { same "$(cat "$out")" "$(lines "$@")"; }
err_has() { grep -qF -- "$1" "$err" || fail "standard error lacks: $1" "$(head -c 600 "$err")"; }
out_has() { grep -qF -- "$1" "$out" || fail "standard output lacks: $1" "$(head -c 600 "$out")"; }
usage() { err "tdlc: error: $1" "tdlc --help lists the options"; }
files() { same "$(find . -mindepth 1 -printf '%P\n' | sort | paste -sd' ')" "$(printf '%s\n' "$@" | sort | paste -sd' ')"; }
lacks() { ! grep -qF -- "$2" "$1" || fail "$(basename "$1") has: $2"; }     # lacks FILE TEXT
check() { last="$*"; "$@" || fail "does not hold"; }

finish() {
    [ $failures = 0 ] && echo "as it should be"
    exit $((failures > 0))
}
