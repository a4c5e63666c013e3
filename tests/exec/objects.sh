#!/usr/bin/env bash
# Objects depend on nothing but the source: the same bytes from run to run, from another folder, through the text of every
# representation (--via-text), and from any of them as the input.
. "$(dirname "$0")/common.sh"
same() { cmp -s "$1" "$2" || { echo "FAILED: $3"; failures=$((failures + 1)); }; }
mkdir "$work/elsewhere"
n=0
while read -r _ kernel types _; do
    file=${kernel%:*} base=$(basename "${kernel%:*}" .tdl)
    [ ! -e "$work/$base.done" ] || continue
    touch "$work/$base.done"
    for type in ${types//,/ }; do
        n=$((n + 1))
        cd "$source" || exit 1
        attempt "$tdlc" -c -D "T=$type" "$file" -o "$work/a.o" -H "$work/a.h" || continue
        cp "$file" "$work/elsewhere/" && cd "$work/elsewhere" || exit 1
        attempt "$tdlc" -c -D "T=$type" "$base.tdl" -o "$work/b.o" -H "$work/b.h" || continue
        same "$work/a.o" "$work/b.o" "$file, T=$type: another folder gives another object"
        same "$work/a.h" "$work/b.h" "$file, T=$type: another folder gives another header"
        attempt "$tdlc" -c -D "T=$type" "$base.tdl" --via-text -o "$work/b.o" -H "$work/b.h" &&
            same "$work/a.o" "$work/b.o" "$file, T=$type: --via-text gives another object"
        for stage in tile plan kernel; do
            text=$base.$([ $stage = kernel ] && echo kern || echo $stage)
            attempt "$tdlc" --emit=$stage -D "T=$type" "$base.tdl" -o "$text" &&
                attempt "$tdlc" -c "$text" -o "$work/b.o" -H "$work/b.h" &&
                same "$work/a.o" "$work/b.o" "$file, T=$type: $text gives another object"
        done
    done
done < <(grep '^kernel ' "$source/tests/exec/cases.txt")
echo "$n objects, $failures failed"
[ $failures = 0 ]
