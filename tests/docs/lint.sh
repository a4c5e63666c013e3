#!/usr/bin/env bash
# The man pages format without a warning.
set -uo pipefail
source=${TDL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
command -v groff >/dev/null || { echo "skipped: no groff"; exit 77; }
bad=0
for page in "$source"/man/*; do
    warnings=$(groff -mandoc -Tutf8 -ww -z "$page" 2>&1) && [ -z "$warnings" ] && continue
    printf '%s\n' "$warnings"
    bad=1
done
exit $bad
