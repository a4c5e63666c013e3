#!/usr/bin/env bash
# The compiler knows no operator: outside comments, no file of src/ (the prelude aside) has a word that is the name of
# a sample or of a well-known fused operator, and nothing is compared with a parameter or size of a sample.
#     src/plan/derive/x.cpp:12: if (kernel.name == "ag_gemm")      --> fails, names the line
set -uo pipefail
root=${TDL_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root" || exit 1

words=(gemm gemv matmul batched_gemm ag_gemm gemm_rs gemm_ar gemv_ar agk_gemm ag_ag_gemm a2a_gemm
       all_gather reduce_scatter all_reduce all_to_all allgather_gemm
       softmax attention ring_attention rmsnorm layernorm swiglu gelu silu sigmoid moe stencil kmeans summa vector_add)
# What the samples declare: kernels; then sizes, parameters and tile constants.
kernels=$(sed -n 's/.*\bkernel  *\([A-Za-z_0-9]*\).*/\1/p' samples/*/*.tdl)
literals=$(sed -n 's/.*\bkernel  *[A-Za-z_0-9]*<\([^>]*\)>.*/\1/p' samples/*/*.tdl | tr -d ' ' | tr , '\n'
           grep -ho '[A-Za-z_0-9]*: *\(in\|out\|inout\)\b' samples/*/*.tdl | sed 's/:.*//'
           grep -ho '\btile .*' samples/*/*.tdl | grep -o '[A-Za-z_0-9]* *=' | tr -d ' =')

alternatives() { tr ' ' '\n' <<<"$*" | sed '/^$/d' | sort -u | paste -sd '|'; }

# Blanks comments, keeps line numbers. Enough of C++ for this tree: strings hold no comment openers.
code() { perl -0777 -pe 's{("(?:\\.|[^"\\\n])*"|'"'"'(?:\\.|[^'"'"'\\\n])*'"'"')|//[^\n]*|/\*.*?\*/}{defined $1 ? $1 : (($x = $&) =~ tr/\n//cdr)}gse' "$1"; }

bad=0
names=$(alternatives $literals)
while IFS= read -r file; do
    hits=$(code "$file" | grep -nwE "$(alternatives "${words[*]}" $kernels)|[!=]= *\"($names)\"|\"($names)\" *[!=]=")
    [ -z "$hits" ] || { sed "s|^|$file:|" <<<"$hits"; bad=1; }
done < <(find src -name prelude -prune -o -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.def' -o -name '*.c' \) -print)
[ $bad = 0 ] && echo "no operator, sample or parameter name in src/"
exit $bad
