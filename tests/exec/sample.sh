#!/usr/bin/env bash
# sample.sh NAME TYPE LIST: builds the sample with its own Makefile and runs its C++ program, which checks itself against
# plain C++. One object serves all shapes and rank counts. Two runs give the same bits on every rank, and a uniform
# output has the same bits on all ranks.
. "$(dirname "$0")/common.sh"
name=$1 type=$2 list=$(shapes "$3")
attempt make -C "$source/samples/$name" TDL="$source" TDLC="$tdlc" TDLRUN="$tdlrun" TDL_LIB="$build/runtime/libtdl.a" \
    CXX="${CXX:-c++}" CXXFLAGS="-O1 -Wall -Wextra -Werror" T="$type" OUT="$work/out" || exit 1
for ranks in $rank_counts; do
    # shellcheck disable=SC2046  # one argument per shape
    attempt "$tdlrun" -n "$ranks" "$work/out/$name" --digest $(tr , ' ' <<<"$list") || continue
    grep '^digest' "$work/output" | sort >"$work/first"
    attempt "$tdlrun" -n "$ranks" "$work/out/$name" --digest $(tr , ' ' <<<"$list") || continue
    grep '^digest' "$work/output" | sort >"$work/second"
    cmp -s "$work/first" "$work/second" || { echo "FAILED: two runs on $ranks ranks differ"; failures=$((failures + 1)); }
    if grep -q 'out uniform' "$source/samples/$name/$name.tdl"; then
        # Lines are "digest SHAPE MODE rank R BITS": without the rank there must be one per case.
        cases=$(sed 's/ rank [0-9]* / /' "$work/first" | sort -u | wc -l)
        [ $((cases * ranks)) = "$(wc -l <"$work/first")" ] ||
            { echo "FAILED: a uniform output differs between $ranks ranks"; failures=$((failures + 1)); }
    fi
done
echo "$name, T=$type: on $rank_counts ranks, $failures failed"
[ $failures = 0 ]
