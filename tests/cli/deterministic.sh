#!/usr/bin/env bash
# The same bytes whoever compiles, where and when.
. "$(dirname "$0")/common.sh"
run 0 tdlc -g a.tdl -o first.o
mkdir elsewhere
cp a.tdl elsewhere/
run 0 bash -c 'cd elsewhere && env -i TZ=Asia/Tokyo LC_ALL=de_DE.UTF-8 HOME=/nowhere SOURCE_DATE_EPOCH=1 "$0" -g a.tdl -o second.o' "$tools/tdlc"
check cmp first.o elsewhere/second.o
check cmp first.h elsewhere/second.h
check bash -c '! strings -a first.o | grep -F "$0"' "$work"
for kind in tile plan kernel llvm asm header; do
    tdlc --emit=$kind a.tdl >one
    (cd elsewhere && tdlc --emit=$kind a.tdl >../two)
    check cmp one two
done
finish
