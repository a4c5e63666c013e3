#!/usr/bin/env bash
# Installs this build, moves the tree, and builds a foreign project with it: CMake with Ninja, CMake with Make, plain Make,
# and by hand with pkg-config. Each builds what is needed and no more, and runs.
. "$(dirname "$0")/common.sh"
must cmake --install "$build" --prefix "$work/first"
must mv first prefix # nothing in it knows where it was
for file in bin/tdlc bin/tdlrun lib/libtdl.so include/tdl.h include/tdl/abi.h share/tdl/tdl.mk share/man/man1/tdlc.1; do
    check test -e prefix/$file
done
if command -v readelf >/dev/null; then
    for file in prefix/bin/* prefix/lib/*.so; do
        ! readelf -d $file | grep -E 'R(UN)?PATH' || fail "$file has a run path"
    done
fi
! grep -rIl "$build\|$work/first" prefix || fail "names of the build tree are in the package"
tdlrun=$work/prefix/bin/tdlrun
wrap logged-tdlc "$work/prefix/bin/tdlc"
wrap logged-c++ "$(command -v "${CXX:-c++}")"
run() { must "$tdlrun" -n 3 --timeout=60000 "$@"; grep -q 'sum as expected' "$work/log" || fail "$*"; }
fails() { ! "$tdlrun" -n 3 --timeout=60000 "$@" >"$work/log" 2>&1 || fail "$*: the new code is not in it"; }

# edits KERNELS COMMAND...: what has to be done after what change; every kernel is compiled KERNELS times.
edits() {
    local each=$1
    shift
    made 0 0 "$@"
    later project/scale.tdl
    made $each 0 "$@"
    made 0 0 "$@"
    later project/other.cpp
    made 0 $each "$@"
    # Other code, the same header.
    sed -i 's/\* 2.0/* 3.0/' project/scale.tdl && later project/scale.tdl
    made $each 0 "$@"
    made 0 0 "$@"
    fails "$program"
    sed -i 's/\* 3.0/* 2.0/' project/scale.tdl && later project/scale.tdl
    made $each 0 "$@"
    run "$program"
    # Another header: main.cpp includes it, other.cpp does not.
    sed -n 's/shift/more/; /^kernel/,$p' project/shift.tdl >more.tdl
    cat more.tdl >>project/shift.tdl && later project/shift.tdl
    made $each $each "$@"
    made 0 0 "$@"
    # Errors stop the build, and are forgotten when they are gone.
    cp project/scale.tdl good.tdl
    echo oops >>project/scale.tdl && later project/scale.tdl
    ! "$@" >"$work/log" 2>&1 || fail "$*: builds in spite of an error"
    cp good.tdl project/scale.tdl && later project/scale.tdl
    made $each 0 "$@"
    # Another compiler.
    later logged-tdlc
    made $((2 * each)) 0 "$@"
    made 0 0 "$@"
    run "$program"
    cp "$source/tests/install/project/shift.tdl" project/
}

for generator in Ninja "Unix Makefiles"; do
    folder="$work/build ${generator%% *}" # a name with a blank
    must cmake -S project -B "$folder" -G "$generator" -DCMAKE_PREFIX_PATH="$work/prefix" -DTDL_TDLC="$work/logged-tdlc" \
        -DCMAKE_CXX_COMPILER="$work/logged-c++"
    made 4 4 cmake --build "$folder"
    program="$folder/program"
    run "$folder/program"
    run "$folder/shared"
    edits 2 cmake --build "$folder"
done

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
    make=(make -C project "TDLC=$work/logged-tdlc" "CXX=$work/logged-c++")
    made 2 2 "${make[@]}" -j2
    program=project/program
    run "$program"
    check make -q -C project "TDLC=$work/logged-tdlc" "CXX=$work/logged-c++"
    edits 1 "${make[@]}"
    ( cd project && rm -f ./*.[ohd] program )
    made 2 2 "${make[@]}" # without -j, and the headers after the objects

    mkdir hand && cd hand || exit 1
    must "$(pkg-config --variable=tdlc tdl)" ../project/scale.tdl ../project/shift.tdl
    # shellcheck disable=SC2046  # lists of words
    must "$work/logged-c++" -I. $(pkg-config --cflags tdl) ../project/main.cpp scale.o shift.o $(pkg-config --libs tdl) -o program
    LD_LIBRARY_PATH=$work/prefix/lib run ./program
    [ "$(pkg-config --modversion tdl)" = "$(sed -n 's/^project(tdlc VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")" ] || fail "version of tdl.pc"
else
    echo "not tried: pkg-config is not there"
fi
finish
