#!/usr/bin/env bash
# gpu_pack.sh BUILD FOLDER: puts what gpu.sh needs on a machine with a GPU into FOLDER, from a build with -DTDL_PORTABLE=ON:
# tdlrun, and this machine's C library for machines with an older one.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:?usage: gpu_pack.sh BUILD FOLDER} folder=${2:?usage: gpu_pack.sh BUILD FOLDER}
grep -q '^TDL_PORTABLE:BOOL=ON' "$build/CMakeCache.txt" || { echo "gpu_pack.sh: $build is not a build with -DTDL_PORTABLE=ON"; exit 1; }
mkdir -p "$folder/lib"
strip -o "$folder/tdlrun" "$build/src/tools/tdlrun"
loader=$(ldd "$build/src/tools/tdlrun" | sed -n 's|^[[:space:]]*\(/[^ ]*/ld-linux[^ ]*\).*|\1|p')
libc=$(ldd "$build/src/tools/tdlrun" | sed -n 's|.*libc.so.6 => \([^ ]*\).*|\1|p')
cp -L "$loader" "$folder/lib/"
for name in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do cp -L "$(dirname "$libc")/$name" "$folder/lib/"; done
git -C "$source" rev-parse --short HEAD >"$folder/commit"
du -sh "$folder"
