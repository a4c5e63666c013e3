#!/usr/bin/env bash
# program.sh NAME: builds tests/exec/NAME.cpp with the objects of the sample kernels (f32) and runs it as its test needs.
. "$(dirname "$0")/common.sh"
name=$1
: >"$work/kernels.h"
for k in all_gather all_reduce gemm_rs; do
    attempt "$tdlc" -c -D T=f32 "$source/samples/$k/$k.tdl" -o "$work/$k.o" -H "$work/$k.h" || exit 1
    echo "#include \"$k.h\"" >>"$work/kernels.h"
done
attempt "${CXX:-c++}" -std=c++17 -O1 -Wall -Wextra -Werror -I"$work" -I"$source/runtime/include" "$source/tests/exec/$name.cpp" \
    "$work"/*.o "$build/runtime/libtdl.a" -pthread -o "$work/$name" || exit 1
case $name in
launches)
    for run in "8 back-to-back ${LAUNCHES:-1000}" "3 alternate 100" "4 restart 100" "1 back-to-back 100"; do
        set -- $run
        attempt "$tdlrun" -n "$1" --timeout=120000 "$work/launches" "$2" "$3" && cat "$work/output"
    done ;;
deaths)
    attempt "$work/deaths" "${TRIES:-20}"
    cat "$work/output" ;;
esac
[ $failures = 0 ]
