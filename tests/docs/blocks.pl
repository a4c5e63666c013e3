# Takes the code blocks out of a document: perl blocks.pl DOCUMENT FOLDER
#
# In man pages a block stands between .EX and .EE (or .Bd -literal and .Ed), in Markdown between ``` lines. What a block
# is, and what belongs to it without being shown, stands before it in comments, which no reader sees:
#
#     .\" test: kernel M=65                            <!-- test: kernel M=65
#     .\"< stage s for i in M by 64 {                  < stage s for i in M by 64 {
#     .\"> }                                           > }
#     .EX                                              -->
#     Y[i] = X[i] + 1                                  ```tdl
#     .EE                                              Y[i] = X[i] + 1
#                                                      ```
#
# Writes FOLDER/001/{kind,args,where,shown,hidden,text}, and so on: `text` is the shown lines between those of `<` and `>`.
# A block without a comment is an error: nothing that looks like code goes unchecked by accident.
use strict;
use warnings;

my ($document, $folder) = @ARGV;
open my $in, '<', $document or die "$document: $!\n";
my $markdown = $document =~ /\.md$/;
my ($name) = $document =~ m{([^/]*)$};
my ($kind, $args, @before, @after, @shown, $start, $comment);
my ($count, $bad) = (0, 0);

sub note { # one line of a comment
    my $line = shift;
    if ($line =~ /^\s*test: *(\S+) *(.*?)\s*$/) { ($kind, $args) = ($1, $2) }
    elsif ($line =~ /^< ?(.*)$/) { push @before, $1 }
    elsif ($line =~ /^> ?(.*)$/) { push @after, $1 }
}

sub plain { # what roff shows of a line
    my $line = shift;
    return $line if $markdown;
    $line =~ s/\\f.//g;
    $line =~ s/\\-/-/g;
    $line =~ s/\\\(ga/`/g;
    $line =~ s/\\\(aq/'/g;
    $line =~ s/\\&//g;
    $line =~ s/\\e/\\/g;
    return $line;
}

sub finish {
    if (!defined $kind) {
        print STDERR "$name:$start: no `test:` comment says what this block is\n";
        $bad = 1;
        $kind = 'none';
    }
    my $dir = sprintf '%s/%03d', $folder, ++$count;
    mkdir $dir or die "$dir: $!\n";
    my %file = (kind => $kind, args => $args // '', where => "$name:$start");
    $file{shown} = join "\n", @shown;
    $file{hidden} = join "\n", @before, @after;
    $file{text} = join "\n", @before, @shown, @after;
    for my $f (sort keys %file) {
        open my $out, '>', "$dir/$f" or die "$dir/$f: $!\n";
        print $out "$file{$f}\n";
        close $out;
    }
    undef $kind;
    undef $start;
    @before = @after = @shown = ();
}

while (my $line = <$in>) {
    chomp $line;
    if (defined $start) {
        if ($line =~ ($markdown ? qr/^```\s*$/ : qr/^\.(EE|Ed)\b/)) { finish() }
        else { push @shown, plain($line) }
        next;
    }
    if ($markdown) {
        if ($line =~ s/^<!-- *//) { $comment = 1 }
        if ($comment) {
            $comment = 0 if $line =~ s/ *-->\s*$//;
            note($line);
        }
        elsif ($line =~ /^```/) { $start = $. }
    }
    elsif ($line =~ /^\.\\"(.*)/) { note($1) }
    elsif ($line =~ /^\.(EX|Bd\b)/) { $start = $. }
}
die "$name:$start: the block does not end\n" if defined $start;
die "$name: a `test:` comment without a block behind it\n" if defined $kind;
exit $bad;
