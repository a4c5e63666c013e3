#!/usr/bin/env bash
# The table in src/README.md has a row for each target of src/, with what it links according to its CMakeLists.txt, and
# links in README files lead somewhere.
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
cd "$source/src" || exit 1
bad=0

# tdl_plan_derive --> plan/derive
folder_of() { local f=${1#tdl_}; if [ -d "${f/_//}" ] && [ ! -d "$f" ]; then f=${f/_//}; fi; echo "$f"; }

drawn=$(sed -n 's/^| `\([^`]*\)` |.*| *\([^|]*\) *|$/\1: \2/p' README.md | sed 's/ *$//')
built=$(while IFS= read -r list; do
    folder=$(dirname "${list#./}")
    links=$(perl -0777 -ne 's/#.*//g; my %seen;
        push @l, split " ", $1 while /tdl_component\(\w+ LINK ([^)]*)\)/g;
        push @l, split " ", $1 while /target_link_libraries\(tdl\w* PRIVATE ([^)]*)\)/g;
        print join " ", grep { /^tdl_/ && !/^tdl_(warnings|grammar)$/ && !$seen{$_}++ } @l' "$list")
    names=
    for link in $links; do names+="${names:+, }$(folder_of "$link")"; done
    grep -q 'tdl_component\|add_executable' "$list" && echo "$folder: $names"
done < <(find . -mindepth 2 -name CMakeLists.txt) | sed 's/ *$//')
diff -u --label src/README.md --label CMakeLists.txt <(sort <<<"$drawn") <(sort <<<"$built") || bad=1

cd "$source" || exit 1
while IFS= read -r file; do
    for link in $(sed '/^```/,/^```/d' "$file" | grep -o '](\([^)#]*\)' | sed 's/^](//' | grep -v '^http'); do
        [ -e "$(dirname "$file")/$link" ] || { echo "$file: $link is not there"; bad=1; }
    done
done < <(find README.md src -name README.md)
exit $bad
