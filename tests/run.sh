#!/usr/bin/env bash
# All tests: sets up, builds everything and runs them. The last line is `N passed, N failed, N skipped`; the exit status
# is not 0 if any failed. Works from any folder. Arguments go to ctest (-R exec, -j1, ...).
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/.ci/setup" || exit $?

report=$root/build/release/tests.xml
rm -f "$report"
ctest --test-dir "$root/build/release" --output-on-failure --no-tests=error -j"$(nproc)" --output-junit "$report" "$@"
status=$?
[ -f "$report" ] || { echo "ctest wrote no report (exit status $status)"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }

attribute() { grep -oE "[[:space:]]$1=\"[0-9]*\"" "$report" | head -1 | tr -dc 0-9; }
# What a test did not try (an absent tool, a machine without a feature) is never silent.
skipped=$(sed -n 's/.*<testcase name="\([^"]*\)".* status="notrun".*/  skipped: \1/p' "$report")
[ -z "$skipped" ] || printf '%s\n' "$skipped"
total=$(attribute tests) failed=$(attribute failures) skips=$(($(attribute skipped) + $(attribute disabled)))
[ "$failed" = 0 ] && [ $status -ne 0 ] && failed=1
echo "$((total - failed - skips)) passed, $failed failed, $skips skipped"
exit $status
