#!/usr/bin/env bash
# README.md's two commands: the second is the test command itself (this test is part of it), the first is run in a
# fresh clone, as a newcomer would. What ccache holds from this tree's build is used, if it is there.
set -uo pipefail
root=${TDL_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}

fail() { echo "$*"; exit 1; }
mapfile -t commands < <(sed -n 's/^\(\.\/[a-z]*\/[^ ]*\.sh\)\b.*$/\1/p' "$root/README.md")
[ ${#commands[@]} = 2 ] || fail "README.md should show two commands, it shows ${#commands[@]}: ${commands[*]}"
[ "${commands[1]}" = ./tests/run.sh ] || fail "the second command of README.md is ${commands[1]}, not ./tests/run.sh"

git -C "$root" rev-parse --verify -q HEAD >/dev/null || { echo "skipped: not a git checkout"; exit 77; }
clone=$(mktemp -d) || exit 1
trap 'rm -rf "$clone"' EXIT
git clone -q "$root" "$clone/tdlc" || fail "cannot clone $root"
# From another folder, and without the tools of this tree.
cd / && env -u TDL_SOURCE -u TDL_BUILD -u CXX "$clone/tdlc/${commands[0]#./}" </dev/null >"$clone/output" 2>&1
status=$?
cat "$clone/output"
[ $status = 0 ] || fail "${commands[0]} failed in a fresh clone"
# What README.md shows of its output, but for times and the last digits of errors.
unmeasured() { sed -E 's/largest error [-+.e0-9]+/largest error E/; s/[.0-9]+ ms/T ms/'; }
while IFS= read -r line; do
    unmeasured <"$clone/output" | grep -xF -- "$line" >/dev/null || fail "README.md shows what the quickstart does not print: $line"
done < <(grep '^rank 0 of' "$root/README.md" | unmeasured)
