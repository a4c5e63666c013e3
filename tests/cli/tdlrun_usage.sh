#!/usr/bin/env bash
# tdlrun: bad usage, in one line each, with status 2.
. "$(dirname "$0")/common.sh"
bad() { local text=$1; shift; run 2 tdlrun "$@"; err "tdlrun: error: $text" "tdlrun --help tells the usage"; out ""; }
bad 'no program'
bad 'no program' -n 2
bad '-n should say how many ranks, from 1 to 256' true
bad '-n should say how many ranks, from 1 to 256' -n 0 true
bad '-n should say how many ranks, from 1 to 256' -n -3 true
bad '-n should say how many ranks, from 1 to 256' -n 257 true
bad '`-n x` should be a number' -n x true
bad '`-n` needs one value' -n
bad 'unknown option `--nope`' --nope -n 2 true
bad '`--timeout=x` should be a number' --timeout=x -n 2 true
bad '`--timeout=-1` should not be negative' --timeout=-1 -n 2 true
bad '`--threads=-1` should not be negative' --threads=-1 -n 2 true
bad '`--device=abacus` should be host, cuda or cuda:N' -n 2 --device=abacus true
# Of a kernel.
bad '`--check=maybe` should be exact, real or both' -n 1 a.tdl:scale N=1 --check=maybe
bad '`N` should be NAME=VALUE' -n 1 a.tdl:scale N
bad '`=1` should be NAME=VALUE' -n 1 a.tdl:scale =1
bad 'unknown option `--nope`' -n 1 a.tdl:scale N=1 --nope
says() { local text=$1; shift; run 2 tdlrun "$@"; err "tdlrun: error: $text"; }
says 'size `N` of `scale` has no value: add N=...' -n 1 a.tdl:scale
says '`N=x`: a size is an integer' -n 1 a.tdl:scale N=x
says '`scale` has no size or scalar parameter `M`' -n 1 a.tdl:scale N=1 M=2
says 'there is no kernel `other`; the kernels are: scale' -n 1 a.tdl:other N=1
run 3 tdlrun -n 1 missing.tdl:scale N=1
err 'tdlc: error: cannot read `missing.tdl`: No such file or directory [TDL0001]'
run 1 tdlrun -n 1 --chaos=1 a.tdl:scale N=1 -D nothing=1
run 0 tdlrun --help; out_has 'tdlrun -n RANKS'; err ""
run 0 tdlrun --version; check grep -q '^tdlrun [0-9]' "$out"
run 0 tdlrun -n 2 a.tdl N=65
out 'scale: 2 cases on 2 ranks: all as the reference'
finish
