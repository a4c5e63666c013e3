#!/usr/bin/env bash
# Inputs of unusual size and form: a clear error or a result, soon and in little memory. The bounds here are generous; what it
# takes is printed.
. "$(dirname "$0")/common.sh"

# bounded SECONDS MEGABYTES STATUS COMMAND...
bounded() {
    local seconds=$1 megabytes=$2 status=$3 start end
    shift 3
    start=$(date +%s%N)
    run "$status" bash -c 'ulimit -d "$0"; ulimit -s 8192; exec timeout "$1" "${@:2}"' $((megabytes * 1024)) "$seconds" "$@"
    end=$(date +%s%N)
    echo "$(((end - start) / 1000000)) ms: $*"
}
repeat() { head -c "$2" /dev/zero | sed "s|\\x0|$1|g"; }
kernel() { echo "kernel k<N>(X: in f32[N], Y: out f32[N]) { stage s for i in N by 64 { Y[i] = $1 } }"; }

# Size: refused before it costs anything.
head -c 5242880 /dev/zero | tr '\0' ' ' >big.tdl
bounded 40 300 1 tdlc big.tdl
err 'tdlc: error: `big.tdl` has 5242880 bytes, more than the limit of 4194304 [TDL0002]'
bounded 40 300 1 tdlc /dev/zero
err_has '`/dev/zero` has 4259840 bytes, more than the limit of 4194304 [TDL0002]'
bounded 40 300 1 tdlc - <big.tdl
err_has 'more than the limit of 4194304 [TDL0002]'
rm big.tdl

# Nesting.
kernel "$(repeat '(' 300)X[i]$(repeat ')' 300)" >deep.tdl
bounded 40 300 1 tdlc deep.tdl
err_has 'error: brackets are nested more than 256 deep [TDL0106]'
kernel "$(repeat '(' 200)X[i]$(repeat ')' 200)" >deep.tdl
bounded 40 300 0 tdlc --emit=tile deep.tdl
repeat '(' 900000 >deep.tdl
bounded 40 500 1 tdlc deep.tdl
err_has 'error: brackets are nested more than 256 deep [TDL0106]'
rm deep.tdl

# A chain of operators is as wide as it likes: a sum of 200,000 terms on one line.
cat >sum.tdl <<TDL
kernel k<N>(X: in f32[N], Y: out f32[N]) { stage s for i in N by 64 { a = X[i] Y[i] = a$(repeat ' + a' 199999) } }
TDL
bounded 60 3000 0 tdlc --emit=tile sum.tdl
check test "$(grep -c ' = add ' "$out")" = 199999
rm sum.tdl

# Long lines are shown around the place.
kernel "X[i]$(repeat ' + X[i]' 1000) + nothing" >long.tdl
bounded 40 300 1 tdlc --color=never long.tdl
err_has 'error: there is no `nothing` here [TDL0200]'
check test "$(wc -L <"$err")" -lt 200
rm long.tdl

# Line ends of other systems, and none at the end of the file.
sed 's/$/\r/' a.tdl >crlf.tdl
bounded 40 300 0 tdlc --emit=tile crlf.tdl
cp "$out" "$work/crlf"
tdlc --emit=tile a.tdl | sed 's/a\.tdl/crlf.tdl/' >"$work/lf"
check cmp "$work/crlf" "$work/lf"
printf 'kernel k<N>(X: in f32[N],\r\n Y: out f32[N]) { stage s for i in N by 64 { Y[i] = y } }' >crlf.tdl
run 1 tdlc crlf.tdl
err_has 'crlf.tdl:2:53: error: there is no `y` here [TDL0200]'
lacks "$err" $'\r'
rm crlf.tdl

# Not text.
printf 'kernel k\xff' >u.tdl
run 1 tdlc u.tdl
err_has 'u.tdl:1:9: error: invalid UTF-8 at byte 8 [TDL0003]'
printf 'kernel k\0' >u.tdl
run 1 tdlc u.tdl
err_has 'error: NUL byte at byte 8 [TDL0105]'
head -c 100000 /dev/urandom >u.tdl
bounded 40 300 1 tdlc u.tdl
bounded 40 300 1 tdlc "$tools/tdlc" # an ELF file
rm u.tdl

# A file of 10,000 lines. (The aim is 3 s and 500 MB.)
for ((n = 0; n < 1000; ++n)); do
    cat <<TDL
kernel k$n<N>(X: in f32[N], Y: out f32[N], Z: inout f32[N]) {
    stage s for i in N by 64 {
        a: f32[i] = X[i] * 2.0
        b = a + exp(X[i])
        Y[i] = b * b - a
    }
    stage t for i in N by 64 {
        Z[i] = Z[i] + Y[i] * X[i]
    }
}
TDL
done >many.tdl
check test "$(wc -l <many.tdl)" = 10000
bounded 60 700 0 tdlc --emit=tile many.tdl
check test "$(grep -c '^kernel ' "$out")" = 1000
finish
