#!/usr/bin/env bash
# Do random programs find bugs? Each of fuzz_programs' planted bugs (plant.h) must be found within PROGRAMS programs; prints how many it
# took. Two minutes on an idle machine, so it runs by hand (with TDL_LONG=1 in the tests).
set -uo pipefail
[ "${TDL_LONG:-0}" = 1 ] || [ $# -gt 0 ] || { echo "skipped: takes minutes; set TDL_LONG=1"; exit 77; }
fuzz=${1:-$TDL_BUILD/tests/fuzz/fuzz_programs}
failed=0
for bug in chunk peer tail identity init wait outside order; do
    took=()
    for seed in 1 1001 2001; do
        report=$("$fuzz" $seed "${PROGRAMS:-200}" --plant=$bug --no-texts --no-reduce) || failed=1
        took+=("$(grep -o '^found by program [0-9]*' <<<"$report" | head -1 | tr -dc 0-9)")
        how=$(grep -o '^ *1  .*' <<<"$report" | tail -1)
    done
    echo "$bug: found by program ${took[*]:-none} of runs from seeds 1, 1001, 2001 ($(xargs <<<"${how:-}"))"
done
exit $failed
