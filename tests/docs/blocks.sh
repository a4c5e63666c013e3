#!/usr/bin/env bash
# blocks.sh DOCUMENT: every code block of a document does what the document says (blocks.pl has the comments that say what
# a block is). Kinds:
#     kernel [-D NAME=VALUE]... [SIZE=N]...   compiles without a warning; each kernel agrees with the interpreter on 3 ranks
#     rejected MESSAGE                        does not compile, for this one reason
#     error [OPTIONS]                         tdlc OPTIONS -c a.tdl says exactly what is shown; the program is hidden
#     shell                                   commands that succeed, in a folder with the samples
#     session                                 `$ command` and exactly what it prints (times aside)
#     c, c++ [SAMPLE[:TYPE]]...               compiles as C11, C++17, with the headers of samples; a program runs on 3 ranks
#     grammar                                 the rules of grammar/TdlParser.g4
#     none WHY                                nothing to run
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${TDL_BUILD:-$source/build/release}
here=$source/tests/docs
export PATH=$build/src/tools:$PATH
for tool in tdlc tdlrun; do [ -x "$build/src/tools/$tool" ] || { echo "no $tool in $build"; exit 1; }; done

document=$source/$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
mkdir "$work/blocks"
perl "$here/blocks.pl" "$document" "$work/blocks" || failures=1

# says TEXT...: fails the block with what the command before it has written to `out`
says() { echo "$*"; head -c 2000 out 2>/dev/null; return 1; }
succeeds() { "$@" >out 2>&1 </dev/null || says "failed: $*"; }

# The kernels of a file, one a line: name, then its sizes.
kernels() { perl -0777 -ne 'print "$1 ", join(" ", split /[\s,]+/, $2 // ""), "\n" while /\bkernel\s+(\w+)\s*(?:<([^>]*)>)?/g' "$1"; }

check_kernel() {
    local -a defines=() given=() usual=(21 10 7 5 3 2) shape
    local word name sizes size n
    while [ $# -gt 0 ]; do
        if [ "$1" = -D ]; then defines+=(-D "$2"); shift 2; else given+=("$1"); shift; fi
    done
    cp text a.tdl
    succeeds tdlc -Werror "${defines[@]}" --stop-after=obj a.tdl || return
    [ -n "$(kernels a.tdl)" ] || { echo "no kernel"; return 1; }
    while read -r name sizes; do
        shape=() n=0
        for size in $sizes; do
            word=$size=${usual[n]}
            n=$((n + 1))
            for g in ${given[@]+"${given[@]}"}; do [ "${g%%=*}" = "$size" ] && word=; done
            [ -z "$word" ] || shape+=("$word")
        done
        succeeds tdlrun -n 3 "${defines[@]}" "a.tdl:$name" "${given[@]}" "${shape[@]}" || return
    done < <(kernels a.tdl)
}

check_rejected() {
    cp text a.tdl
    tdlc -c a.tdl >out 2>&1 && { echo "it compiles"; return 1; }
    sed -n 's/^[^ ]*: error: \(.*\) \[TDL[0-9]*\]$/\1/p' out | sort -u >errors
    [ "$(cat errors)" = "$*" ] || says "expected only: $*"
}

check_error() {
    cp hidden a.tdl
    tdlc "$@" -c a.tdl >out 2>&1 && { echo "it compiles"; return 1; }
    diff -u --label document --label tdlc shown out
}

check_shell() { cp text a.sh; succeeds bash -euo pipefail a.sh; }

# Lines with `$ ` are run, what follows is their output.
check_session() {
    cp hidden a.tdl
    local line
    while IFS= read -r line; do
        case $line in
        '$ '*) printf '%s\n' "$line"; bash -c "${line#\$ }" 2>&1 </dev/null ;;
        esac
    done <shown >out
    diff -u --label document --label output <(untimed shown) <(untimed out)
}
untimed() { sed -E 's/[0-9]+(\.[0-9]+)? ms/T ms/g; s/[0-9]+\.[0-9]+ s\b/T s/g' "$1"; }

# With the samples' headers and objects; runs what is a program.
check_c() { build_program c "${CC:-cc}" -std=c11 "$@"; }
check_cxx() { build_program cpp "${CXX:-c++}" -std=c++17 "$@"; }
build_program() {
    local source_name=a.$1 compiler=("$2" "$3") sample
    local -a objects=()
    shift 3
    for sample in "$@"; do
        objects+=("${sample%:*}.o")
        local -a type=()
        [[ $sample == *:* ]] && type=(-D "T=${sample#*:}")
        sample=${sample%:*}
        succeeds tdlc "${type[@]}" -c -o "$sample.o" -H "$sample.h" "$source/samples/$sample/$sample.tdl" || return
    done
    cp text "$source_name"
    succeeds "${compiler[@]}" -Wall -Wextra -Werror -I. -I"$source/runtime/include" -c "$source_name" -o program.o || return
    grep -q '\bmain(' "$source_name" || return 0
    succeeds "${compiler[@]}" program.o "${objects[@]}" "$build/runtime/libtdl.a" -pthread -o program || return
    succeeds tdlrun -n 3 --timeout=60000 ./program
}

check_grammar() {
    diff -u --label document --label TdlParser.g4 <(perl "$here/grammar.pl" shown) <(perl "$here/grammar.pl" "$source/grammar/TdlParser.g4")
}

count=0
for block in "$work"/blocks/*/; do
    kind=$(cat "$block/kind") args=$(cat "$block/args") where=$(cat "$block/where")
    if [ "$kind" = none ]; then
        echo "$where: not run: $args"
        continue
    fi
    count=$((count + 1))
    # shellcheck disable=SC2086  # words of a comment
    message=$(cd "$block" && cp "$source"/samples/*/*.tdl . && ln -s /bin/true my_program && rm -f out && {
        case $kind in
        kernel | error | c) "check_$kind" $args ;;
        c++) check_cxx $args ;;
        rejected) check_rejected "$args" ;;
        shell | session | grammar) "check_$kind" ;;
        *) echo "there is no kind \`$kind\`"; false ;;
        esac
    } 2>&1) && continue
    failures=$((failures + 1))
    printf 'FAILED: %s (%s)\n%s\n' "$where" "$kind" "$message"
done
echo "$1: $count blocks, $failures failed"
[ $failures = 0 ]
