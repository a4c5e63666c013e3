#!/usr/bin/env bash
# tdlrun and the ranks it starts: environment, exit statuses, time limit, signals; no rank outlives it.
. "$(dirname "$0")/common.sh"
# alive TAG: is a process with TAG in its arguments left?
alive() { pgrep -f "sleep $1" >/dev/null; }
gone() { local i; for ((i = 0; i < 40; ++i)); do alive "$1" || return 0; sleep 0.05; done; return 1; }
tag() { echo "$((10000 + RANDOM)).$$"; }

run 0 tdlrun -n 3 bash -c 'echo "$TDL_RANK of $TDL_RANKS at ${TDL_SOCKET:+a socket}, $1" >rank.$TDL_RANK' x --chaos=7
for r in 0 1 2; do check test "$(cat rank.$r)" = "$r of 3 at a socket, --chaos=7"; done # options behind PROGRAM are its own
rm rank.*
run 0 tdlrun -n 1 --threads=3 --plan=p --chaos=5 bash -c 'echo "$TDL_THREADS $TDL_PLAN $TDL_CHAOS"'; out '3 p 5'

# Statuses.
run 3 tdlrun -n 1 ./no-such-program
err 'tdlrun: error: cannot run `./no-such-program`: No such file or directory'
run 1 tdlrun -n 2 false
run 1 tdlrun -n 3 bash -c '[ $TDL_RANK != 1 ] || exit 7'
err 'tdlrun: rank 1 ended with status 7'
run 1 tdlrun -n 2 bash -c '[ $TDL_RANK = 0 ] || kill -KILL $$'
err 'tdlrun: rank 1 was ended by signal 9 (Killed)'

# The others get five seconds to report what they noticed; then they are ended, even if they do not want to.
t=$(tag)
start=$SECONDS
run 1 tdlrun -n 3 bash -c '[ $TDL_RANK = 0 ] && exit 1; trap "" TERM; exec sleep '"$t"
check test $((SECONDS - start)) -ge 4
check test $((SECONDS - start)) -le 12
check gone "$t"

# Past the time limit.
t=$(tag)
run 124 tdlrun -n 2 --timeout=300 sleep "$t"
err 'tdlrun: time-out: 2 of 2 ranks still run after 300 ms'
check gone "$t"
run 0 tdlrun -n 2 --timeout=20000 true

# Signals end all ranks, and tdlrun with the status of the signal.
for signal in INT TERM HUP; do
    t=$(tag)
    (exec env --default-signal=INT,TERM,HUP tdlrun -n 3 sleep "$t") >"$out" 2>"$err" &
    pid=$!
    for ((i = 0; i < 100; ++i)); do [ "$(pgrep -fc "^sleep $t")" = 3 ] && break; sleep 0.05; done
    kill -$signal $pid
    status=0
    wait $pid || status=$?
    last="tdlrun, SIG$signal"
    check test $status = $((128 + $(kill -l $signal)))
    check gone "$t"
done
# So does the end of tdlrun itself.
t=$(tag)
(exec tdlrun -n 3 sleep "$t") >"$out" 2>"$err" &
pid=$!
for ((i = 0; i < 100; ++i)); do [ "$(pgrep -fc "^sleep $t")" = 3 ] && break; sleep 0.05; done
check test "$(pgrep -fc "^sleep $t")" = 3
kill -KILL $pid
{ wait $pid; } 2>/dev/null
last="tdlrun, SIGKILL"
check gone "$t"
finish
