#!/usr/bin/env bash
# gpu.sh FOLDER PART...: the kernels of the tree on this machine's GPU, against the reference interpreter. FOLDER holds a
# tdlrun that was built elsewhere with -DTDL_PORTABLE=ON (tests/gpu_pack.sh makes it), beside it in lib/ a C library for
# machines with an older one; nothing else is needed here but the GPU's driver.
#
#   first      a few small launches              samples     samples/, all types, all shapes of tests/exec/cases.txt
#   programs   tests/exec/programs/, the same    grids       the samples with one and with few blocks (TDL_MAX_SMS)
#   time       medians of larger shapes          memcheck, racecheck, synccheck   compute-sanitizer on small shapes
#
# The first line names device, driver and commit; the last one counts. Exit status 0: all passed.
set -uo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(cd "${1:?usage: gpu.sh FOLDER PART...}" && pwd) || exit 2
shift
[ $# -gt 0 ] || set -- first samples programs
cd "$source" || exit 2

tdlrun=("$folder/tdlrun")
"${tdlrun[@]}" --version >/dev/null 2>&1 ||
    tdlrun=("$folder/lib/ld-linux-x86-64.so.2" --library-path "$folder/lib:/usr/lib/x86_64-linux-gnu:/usr/lib64:/usr/local/cuda/lib64:${LD_LIBRARY_PATH:-}" "$folder/tdlrun")
version=$("${tdlrun[@]}" --version) || { echo "gpu.sh: $folder/tdlrun does not run here"; exit 2; }
commit=$(cat "$folder/commit" 2>/dev/null || git rev-parse --short HEAD 2>/dev/null || echo unknown)
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)
echo "device: ${gpu:-unknown}; $version; commit $commit; $(date -u +%F)"

passed=0 failed=0
# attempt COMMAND...: its last line if it passes, else all that it said
attempt() {
    local output status=0 start=$SECONDS
    output=$(timeout "${LIMIT:-240}" "$@" 2>&1 </dev/null) || status=$?
    local shown=("${@}")
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        printf 'ok   %3d s  %s\n' $((SECONDS - start)) "$(grep -h median <<<"$output" || tail -1 <<<"$output")"
    else
        failed=$((failed + 1))
        printf 'FAILED (status %d): ' $status
        printf '%q ' "${shown[@]##*/}"
        printf '\n%s\n' "$(head -c 2500 <<<"$output")"
    fi
}
on_gpu() { attempt "${check[@]}" "${tdlrun[@]}" -n 1 --device="${DEVICE:-cuda}" "$@"; }
check=()

shapes() { sed -n "s/^list  *$1  *//p" tests/exec/cases.txt; }
# all PREFIX TYPES: every kernel of cases.txt whose file begins so; TYPES, if given, instead of its own
all() {
    local kernel types list type
    while read -r _ kernel types list; do
        [[ $kernel == $1* ]] || continue
        for type in ${2:-${types//,/ }}; do on_gpu -D "T=$type" "$kernel" --check=both --shapes="$(shapes "$list")"; done
    done < <(grep '^kernel ' tests/exec/cases.txt)
}

run_first() {
    on_gpu samples/vector_add/vector_add.tdl:vector_add --shapes=N=1,N=255,N=4096,N=10000
    on_gpu samples/softmax/softmax.tdl:softmax --shapes=M=1:N=1,M=33:N=300
    on_gpu samples/gemm/gemm.tdl:gemm --shapes=M=1:N=1:K=1,M=128:N=256:K=64,M=200:N=300:K=70
}
run_samples() { all samples/; }
run_programs() { all tests/; }
run_grids() {
    for sms in 1 2 7; do
        export TDL_MAX_SMS=$sms
        all samples/ bf16
    done
    unset TDL_MAX_SMS
}
run_time() {
    on_gpu --time samples/vector_add/vector_add.tdl:vector_add N=67108864
    on_gpu --time samples/softmax/softmax.tdl:softmax M=8192 N=8192
    for n in 1024 2048 4096; do on_gpu --time samples/gemm/gemm.tdl:gemm M=$n N=$n K=$n; done
}
# A launch asks for a variable that an image may lack; memcheck would call that an error of the program.
sanitize() {
    local quiet=()
    [ "$1" != memcheck ] || quiet=(--report-api-errors no)
    local tool=$1 sanitizer
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer /usr/local/cuda/compute-sanitizer/compute-sanitizer 2>/dev/null | head -1)
    [ -n "$sanitizer" ] || { echo "skipped: $tool (no compute-sanitizer)"; return; }
    check=("$sanitizer" --tool "$tool" --target-processes all "${quiet[@]}" --error-exitcode 9)
    export TDL_TIMEOUT_MS=200000
    on_gpu samples/vector_add/vector_add.tdl:vector_add --shapes=N=1,N=4097
    on_gpu samples/softmax/softmax.tdl:softmax --shapes=M=3:N=5,M=33:N=300
    on_gpu samples/gemm/gemm.tdl:gemm --shapes=M=1:N=1:K=1,M=129:N=130:K=67
    on_gpu samples/gemm_ar/gemm_ar.tdl:gemm_ar M=65 N=66 K=67
    on_gpu tests/exec/programs/stages.tdl:spread_softmax M=10 N=70
    unset TDL_TIMEOUT_MS
    check=()
}
run_memcheck() { sanitize memcheck; }
run_racecheck() { sanitize racecheck; }
run_synccheck() { sanitize synccheck; }

for part in "$@"; do
    declare -F "run_$part" >/dev/null || { echo "gpu.sh: there is no part $part"; exit 2; }
    echo "-- $part"
    "run_$part"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
