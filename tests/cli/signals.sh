#!/usr/bin/env bash
# A compilation that is stopped leaves nothing, whenever that is; one that crashes says so and ends with status 4.
. "$(dirname "$0")/common.sh"
for ((n = 0; n < 30; ++n)); do
    cat <<TDL
kernel k$n<N>(X: in f32[N], Y: out f32[N]) { stage s for i in N by 64 { Y[i] = X[i] * X[i] + exp(X[i]) } }
TDL
done >many.tdl

# With its default disposition, which background jobs of a script do not have.
start() { (exec env --default-signal=INT,TERM,HUP "$@") <&0 >"$out" 2>"$err" & pid=$!; }
for signal in INT TERM HUP; do
    for milliseconds in 1 20 60 150 400; do
        start tdlc many.tdl
        sleep "$(printf '0.%03d' $milliseconds)"
        kill -$signal $pid 2>/dev/null
        status=0
        wait $pid 2>/dev/null || status=$?
        last="$signal after $milliseconds ms: status $status"
        case $status in
            0) files a.tdl many.tdl many.o many.h ;;
            $((128 + $(kill -l $signal)))) [ -e many.o ] && [ ! -e many.h ] && fail "an object without its header"
                check bash -c '! ls | grep tmp' ;;
            *) fail "neither finished nor stopped" ;;
        esac
        rm -f many.o many.h
    done
done

mkfifo slow
exec 3<>slow # read and write: so opening it waits for nobody
start tdlc --emit=tile - <slow
sleep 0.2
kill -SEGV $pid
status=0
wait $pid 2>/dev/null || status=$?
exec 3>&-
last="tdlc, SIGSEGV"
if [ "$status" = 4 ]; then
    err 'tdlc: internal error: invalid access to memory, or the stack is full' \
        'This is a bug of tdlc: please report it with the input and the command line.'
else
    tdlc --version >/dev/null # a sanitised build reports by itself
    grep -qi sanitizer "$err" || fail "exit status $status, not 4"
fi
# Who reads the other end may stop.
last="head"
check bash -c 'tdlc --emit=tile many.tdl | head -n 1 | grep -q tdl.tile'
finish
