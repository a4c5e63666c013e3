#!/usr/bin/env bash
# Inputs that cannot be read, or should not be.
. "$(dirname "$0")/common.sh"
run 3 tdlc missing.tdl
err 'tdlc: error: cannot read `missing.tdl`: No such file or directory [TDL0001]'
run 3 tdlc ''
err 'tdlc: error: cannot read ``: No such file or directory [TDL0001]'
mkdir folder.tdl
run 3 tdlc folder.tdl
err 'tdlc: error: cannot read `folder.tdl`: it is a folder [TDL0001]'
rmdir folder.tdl
ln -s loop.tdl loop.tdl
run 3 tdlc loop.tdl
err 'tdlc: error: cannot read `loop.tdl`: Too many levels of symbolic links [TDL0001]'
rm loop.tdl
run 3 tdlc a.tdl/b.tdl
err 'tdlc: error: cannot read `a.tdl/b.tdl`: Not a directory [TDL0001]'

cp a.tdl secret.tdl
chmod 000 secret.tdl
as_other=()
[ "$(id -u)" != 0 ] || as_other=(setpriv --reuid=65534 --clear-groups)
chmod 755 "$work"
if "${as_other[@]}" tdlc --version >"$out" 2>&1; then
    run 3 "${as_other[@]}" tdlc secret.tdl
    err 'tdlc: error: cannot read `secret.tdl`: Permission denied [TDL0001]'
else
    echo "not tried: an unreadable file (no other user can run tdlc here)"
fi
rm -f secret.tdl

cp a.tdl a.txt
run 1 tdlc a.txt
err 'tdlc: error: `a.txt` is neither .tdl nor .tile, .plan or .kern [TDL0006]'
rm a.txt

# The other inputs are still compiled, and the worst status is the status.
run 3 tdlc --emit=ast missing.tdl a.tdl
out_has 'kernel scale'
files a.tdl

# Standard input, closed or full.
run 0 tdlc --emit=tile - <a.tdl
out_has 'source "<stdin>"'
run 0 tdlc - <a.tdl
files a.tdl a.o a.h
rm a.o a.h
run 1 tdlc - <<<'kernel'
err_has '<stdin>:1:7: error: '
run 3 tdlc - <&-
err 'tdlc: error: cannot read `-`: Bad file descriptor [TDL0001]'

# An empty module is one; it is probably not what was meant.
: >empty.tdl
run 0 tdlc --stop-after=tile empty.tdl
err 'empty.tdl: warning: the module declares no kernel [TDL0220]'
run 0 tdlc empty.tdl
files a.tdl empty.tdl empty.o empty.h
finish
