#!/usr/bin/env bash
# From nothing to a fused kernel on four ranks: installs what the build needs, builds tdlc, compiles AG+GEMM, links it
# into a C++ program, runs that at the size of a real layer and checks the result against plain C++.
# Works from any folder; on Debian 12 with nothing installed it takes some minutes, the second time seconds.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

step() { printf '\n== %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

step "1. Set-up and build (build/release)"
"$root/.ci/setup" tdlc tdlrun tdl_runtime

export PATH=$root/build/release/src/tools:$PATH
cd "$root/samples/ag_gemm"
mkdir -p build

step "2. The kernel: all-gather + GEMM in ten lines. Nothing in it sends, receives or waits."
cat ag_gemm.tdl

step "3. Compile it to an ordinary object and header"
run tdlc -c -o build/ag_gemm.o -H build/ag_gemm.h ag_gemm.tdl

step "4. Link it into a C++ program"
run "${CXX:-c++}" -std=c++17 -O2 -I build -I ../../runtime/include main.cpp build/ag_gemm.o \
    ../../build/release/runtime/libtdl.a -pthread -o build/ag_gemm

step "5. Run it on 4 ranks: 64 tokens through the 4096 x 11008 projection of LLaMA-7B, every element checked"
run tdlrun -n 4 build/ag_gemm M=64:N=11008:K=4096

step "6. It works. What to try next"
cat <<'TEXT'
The same object serves any shape and any number of ranks:
    cd samples/ag_gemm
    tdlrun -n 3 build/ag_gemm M=65:N=33:K=17 M=1000:N=500:K=250
Another element type, without touching the source:
    make run T=f32 RANKS=5
Without any C++: run a kernel on generated data and compare with the reference interpreter:
    tdlrun -n 4 ag_gemm.tdl:ag_gemm M=130 N=257 K=129 --check
See how it runs; the plan is text, and tdlc takes it back:
    tdlc --emit=plan ag_gemm.tdl
The same loop nest with its reduction over the ranks: samples/gemm_rs and samples/gemm_ar.
All tests: tests/run.sh

TEXT
printf 'The tools are in %s; put that on your PATH.\n' "$root/build/release/src/tools"
