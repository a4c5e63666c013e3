#!/usr/bin/env bash
# oracle.sh FILE:KERNEL TYPE LIST: the kernel on generated data, compared with the reference interpreter in both modes
# on all rank counts; one process group per rank count runs the whole list of shapes.
. "$(dirname "$0")/common.sh"
kernel=$1 type=$2 list=$(shapes "$3")
[ -n "$list" ] || { echo "no list $3 in cases.txt"; exit 1; }
cd "$source" || exit 1
runs=0
for ranks in $rank_counts; do
    attempt "$tdlrun" -n "$ranks" -D "T=$type" "$kernel" --check=both --shapes="$list"
    runs=$((runs + 1))
done
# Through the text of every representation, once: objects.sh shows that the object is the same anyway.
attempt "$tdlrun" -n 3 -D "T=$type" "$kernel" --check=real --shapes="$list" --via-text
echo "$kernel, T=$type: $((runs + 1)) runs of $(tr , '\n' <<<"$list" | wc -l) shapes, $failures failed"
[ $failures = 0 ]
