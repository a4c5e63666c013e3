#!/usr/bin/env bash
# @FILE stands for the words in FILE, as gcc reads them.
. "$(dirname "$0")/common.sh"
cp a.tdl 'with blank.tdl'
cp a.tdl 'quo"te.tdl'
words() { printf '%s\n' "$1" >list; run 0 tdlc --emit=tile @list; out_has "source \"$2\""; }
words 'a.tdl' a.tdl
words $'\n\t a.tdl\r\n ' a.tdl
words '"with blank.tdl"' 'with blank.tdl'
words "'with blank.tdl'" 'with blank.tdl'
words 'with" "blank.tdl' 'with blank.tdl'
words 'with\ blank.tdl' 'with blank.tdl'
words '"quo\"te.tdl"' 'quo\"te.tdl' # as an IR file writes it

# Options, in their place: the last one counts.
echo '--emit=ast' >list
run 0 tdlc --emit=tile @list a.tdl; out_has 'kernel scale<N>'
run 0 tdlc @list --emit=tile a.tdl; out_has 'tdl.tile 1'
# Files name files.
echo '@list' >outer
run 0 tdlc @outer a.tdl; out_has 'kernel scale<N>'
echo '@self' >self
run 2 tdlc @self a.tdl
usage 'argument files are nested more than 16 deep at `@self`'
: >empty
run 2 tdlc @empty
usage 'no input file'
# What cannot be read is an input called so.
run 3 tdlc @missing
err 'tdlc: error: cannot read `@missing`: No such file or directory [TDL0001]'
mkdir folder
run 3 tdlc @folder
err 'tdlc: error: cannot read `@folder`: No such file or directory [TDL0001]'
finish
