#!/usr/bin/env bash
# options.sh tdlc|tdlrun: the options in --help, in the man page and in the source are the same, and those that are known
# but not there yet are in neither.
#     .BI \-\-emit= KIND    in tdlc.1     and     --emit=KIND    in tdlc --help
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${TDL_BUILD:-$source/build/release}
tool=$1
bad=0

# The tags of a man page's OPTIONS, as they are shown, one option a line.
in_man() {
    perl -ne '
        $on = /OPTIONS/ if /^\.SH/;
        if ($on && $tag) {
            my ($macro, $rest) = /^\.(\S+) (.*)$/;
            my @words;
            push @words, $1 // $2 while $rest =~ /\G\s*(?:"([^"]*)"|(\S+))/g;
            my $text = join $macro eq "B" ? " " : "", @words;
            $text =~ s/\\f.//g;
            $text =~ s/\\-/-/g;
            print "$_\n" for split /, /, $text;
        }
        $tag = /^\.TP/;' "$1"
}
# The left column of --help.
in_help() { "$build/src/tools/$tool" --help | sed -n 's/^  \(-.*\)$/\1/p' | sed 's/   *.*//; s/, /\n/g; s/ -/\n-/g'; }
names() { sed -E 's/^(-[DIOnoHW]).*/\1/; s/[=[ ].*//' | sort -u; }
same() { # same WHAT A WHAT B
    diff -u --label "$1" --label "$3" "$2" "$4" && return
    bad=1
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
in_help >help
in_man "$source/man/$tool.1" >man
names <help >help.names
names <man >man.names
same "$tool --help" help.names "$tool.1" man.names

if [ "$tool" = tdlc ]; then
    # With what they take; the last two lines of --help have no order of importance.
    sort <help >help.sorted
    sort <man >man.sorted
    same "tdlc --help" help.sorted tdlc.1 man.sorted
    table=$source/src/driver/options.def
    sed -n 's/^\(FLAG\|VALUE\|LIST\)([^,]*, *"\([^"]*\)".*/\2/p' "$table" | names >source.names
    sed -n 's/^LATER("\([^"]*\)".*/\1/p' "$table" | while read -r option; do
        "$build/src/tools/tdlc" "$option" a.tdl >out 2>&1 </dev/null
        grep -q 'is not supported yet' out || echo "tdlc does not refuse $option by name"
    done >refused
    [ -s refused ] && { cat refused; bad=1; }
else
    sed -n 's/^ *app\.add_\(option\|flag\)("\(-[^"]*\)".*/\2/p' "$source/src/tools/tdlrun.cpp" | names >source.names
fi
same "source" source.names "$tool.1" man.names
[ $bad = 0 ] && echo "$tool: $(wc -l <man.names) options"
exit $bad
