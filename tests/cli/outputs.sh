#!/usr/bin/env bash
# Where outputs go, and that they appear whole or not at all.
. "$(dirname "$0")/common.sh"
clean() { find . -mindepth 1 ! -name a.tdl -delete; }

run 0 tdlc a.tdl; files a.tdl a.o a.h; clean
mkdir out
run 0 tdlc a.tdl -o out/x.o; files a.tdl out out/x.o out/x.h; clean
run 0 tdlc -oy.o -Hz.h a.tdl; files a.tdl y.o z.h; clean
run 0 tdlc --emit=obj a.tdl; files a.tdl a.o; clean
run 0 tdlc --emit=header -o z.h a.tdl; files a.tdl z.h; clean
run 0 tdlc --emit=plan -o z.plan a.tdl; files a.tdl z.plan; out ""; clean
run 0 tdlc --emit=header a.tdl; files a.tdl; out_has '#include'

# What cannot be written.
run 3 tdlc a.tdl -o none/a.o
err 'tdlc: error: cannot write `none/a.h`: No such file or directory [TDL0004]'
mkdir a.o
run 3 tdlc a.tdl
err 'tdlc: error: cannot write `a.o`: Is a directory [TDL0004]'
files a.tdl a.o # and no header
clean
run 3 tdlc --emit=tile a.tdl -o /dev/full
err 'tdlc: error: cannot write `/dev/full`: No space left on device [TDL0004]'
run 3 bash -c 'tdlc --emit=tile a.tdl >/dev/full'
err 'tdlc: error: cannot write `-`: No space left on device [TDL0004]'
run 3 bash -c 'tdlc --help >/dev/full'
err 'tdlc: error: cannot write to standard output: No space left on device'
run 3 bash -c 'tdlc --emit=tile a.tdl >&-'
err 'tdlc: error: cannot write `-`: Bad file descriptor [TDL0004]'
run 3 bash -c 'ulimit -f 1; tdlc a.tdl -o a.o'
err 'tdlc: error: cannot write `a.o`: File too large [TDL0004]'
files a.tdl
# Messages do not end up in a file that took the place of standard error.
run 0 bash -c 'tdlc -v a.tdl 2>&-'
check grep -q ELF a.o
lacks a.o 'tdlc: a.tdl'
lacks a.h 'tdlc: a.tdl'
clean
if [ "$(id -u)" = 0 ]; then other=(setpriv --reuid=65534 --clear-groups); else other=(); fi
chmod 755 "$work" "$work/here"
if "${other[@]}" tdlc --version >"$out" 2>&1; then
    mkdir -m 555 closed
    run 3 "${other[@]}" tdlc a.tdl -o closed/a.o
    err 'tdlc: error: cannot write `closed/a.h`: Permission denied [TDL0004]'
    chmod 777 .
    install -m 444 /dev/null a.o
    run 3 "${other[@]}" tdlc a.tdl
    err 'tdlc: error: cannot write `a.o`: Permission denied [TDL0004]'
    files a.tdl a.o closed
    clean
else
    echo "not tried: a folder that cannot be written (no other user can run tdlc here)"
fi

# Devices and descriptors are written in place, and have no header beside them.
run 0 tdlc a.tdl -o - ; files a.tdl; out_has ELF
run 0 tdlc a.tdl -o /dev/null; files a.tdl
check test -c /dev/null
run 0 bash -c 'tdlc --emit=tile a.tdl -o /dev/stdout | cat'
out_has 'tdl.tile 1'
run 0 bash -c '{ echo before; tdlc --emit=tile a.tdl -o /dev/stdout; } >"$0"' "$work/both"
check grep -q before "$work/both"
check grep -q 'tdl.tile 1' "$work/both"
check test -L /dev/stdout
# Through a link its target is replaced.
mkdir real && ln -s real/b.o a.o
run 0 tdlc a.tdl; files a.tdl a.o a.h real real/b.o
check test -L a.o
clean

# The same header keeps its time stamp, the object does not; modes are those of any new file.
(umask 027 && tdlc a.tdl)
check test "$(stat -c %a a.o a.h | paste -sd' ')" = "640 640"
touch -d 2001-01-01 a.o a.h
run 0 tdlc a.tdl
check test "$(stat -c %y a.h | cut -c1-4)" = 2001
check test a.o -nt a.h
run 0 tdlc -D N=64 a.tdl
check test "$(stat -c %y a.o | cut -c1-4)" != 2001
clean

# A program with an error leaves what was there.
echo old >a.o
echo 'kernel' >bad.tdl
run 1 tdlc bad.tdl -o a.o
check test "$(cat a.o)" = old
files a.tdl bad.tdl a.o
finish
