#!/usr/bin/env bash
# tdlc goes on from a file of any stage, and notices when a file is not what its name says.
. "$(dirname "$0")/common.sh"
declare -A ending=([tile]=tile [plan]=plan [kernel]=kern)
for stage in tile plan kernel; do
    run 0 tdlc --emit=$stage a.tdl -o x.${ending[$stage]}
    run 0 tdlc --emit=$stage x.${ending[$stage]}
    check cmp "$out" x.${ending[$stage]}
done
# Not backwards.
run 1 tdlc --emit=tile x.plan
err 'tdlc: error: `--emit=tile` asks for a stage before that of `x.plan` [TDL0009]'
run 1 tdlc --emit=ast x.kern
err 'tdlc: error: `--emit=ast` asks for a stage before that of `x.kern` [TDL0009]'
# A text under the name of another stage.
for is in tile plan kern; do
    for says in tile plan kern; do
        [ $is != $says ] || continue
        cp x.$is y.$says
        run 1 tdlc y.$says
        err_has "y.$says:1:1: error: \`y.$says\` is a $is module, its name says $says [TDL0007]"
        rm y.$says
    done
done
cp a.tdl y.tile
run 1 tdlc y.tile
err_has 'y.tile:1:1: error: expected'
cp x.tile y.tdl
run 1 tdlc y.tdl
err_has 'y.tdl:1:1: error: expected'
: >y.tile
run 1 tdlc y.tile
err_has 'y.tile:1:1: error: expected'
sed 's/tdl.tile 1/tdl.tile 99/' x.tile >y.tile
run 1 tdlc y.tile
err_has 'y.tile:1:'
finish
