#!/usr/bin/env bash
# The runtime and the package without the compiler, as for another machine: kernels are compiled by the tdlc that TDL_TDLC
# names, here one of this build.
. "$(dirname "$0")/common.sh"
must cmake -S "$source" -B runtime -G Ninja -DTDL_RUNTIME_ONLY=ON -DCMAKE_INSTALL_PREFIX="$work/prefix"
must cmake --build runtime
must cmake --install runtime
check test ! -e prefix/bin
PATH=$(tr ':' '\n' <<<"$PATH" | while read -r p; do [ -x "$p/tdlc" ] || echo "$p"; done | paste -sd:)

# A toolchain file makes it a cross build, although the machines are alike.
echo 'set(CMAKE_SYSTEM_NAME Linux)' >toolchain.cmake
echo 'set(CMAKE_SYSTEM_PROCESSOR x86_64)' >>toolchain.cmake
cross=(cmake -S project -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" -DCMAKE_PREFIX_PATH="$work/prefix")
! "${cross[@]}" -B none >log 2>&1 || fail "it is configured without a tdlc"
grep -q 'there is no tdlc that runs here' log || fail "the message without a tdlc"
! "${cross[@]}" -B none -DTDL_TDLC=/no/tdlc >log 2>&1 || fail "it is configured with a tdlc that is not there"
grep -q 'TDL_TDLC is /no/tdlc, which does not exist' log || fail "the message for a missing tdlc"
must "${cross[@]}" -B cross -DTDL_TDLC="$build/src/tools/tdlc"
must cmake --build cross
must "$build/src/tools/tdlrun" -n 2 cross/program
grep -q 'sum as expected' log || fail "the program"
finish
