# The rules of a grammar, one a line, without what only the parser generator needs: perl grammar.pl FILE
#
#     infix: operation op=('*' | '/') operation  # infix ;     -->     infix: operation ('*' | '/') operation
use strict;
use warnings;
local $/;
my $text = <>;
$text =~ s{//[^\n]*}{}g;
$text =~ s/^(parser|lexer) grammar[^;]*;//m;
$text =~ s/^options *\{[^}]*\}//m;
$text =~ s/\b\w+=(?=\(|'|[A-Za-z])//g;     # labels of parts
$text =~ s/#\s*\w+//g;                      # and of alternatives
$text =~ s/'<' \| LANGLE|LANGLE/'<'/g;      # two tokens of one sign
$text =~ s/'>' \| RANGLE|RANGLE/'>'/g;
$text =~ s/\('([<>])'\)/'$1'/g;
# A rule starts at the beginning of a line and ends with `;` or where the next one starts.
while ($text =~ /^(\w+)(?:\s*)?:((?:'[^']*'|[^';])*?)(?=;|^\w+\s*:|\z)/msg) {
    my ($name, $rule) = ($1, $2);
    $rule =~ s/\s+/ /g;
    $rule =~ s/^ | $//g;
    $rule =~ s/^\| //;
    print "$name: $rule\n";
}
