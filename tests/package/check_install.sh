#!/usr/bin/env bash
# check_install.sh CMAKE BUILD_DIR PREFIX EXAMPLES VERSION - installs to PREFIX, which it empties first, and builds
# other people's programs, which are the examples of the manual, against that: by find_package(perm) and by
# pkg-config. Each prints what stands in its .out file.
set -euo pipefail
cmake=$1 build=$2 prefix=$3 examples=$4 version=$5

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH
export CFLAGS='-Wall -Wextra -pedantic -Werror' CXXFLAGS='-Wall -Wextra -pedantic -Werror'

rm -rf "$prefix"
"$cmake" --install "$build" --prefix "$prefix" >/dev/null

run_all() { # FOLDER PROGRAM...
    local program folder=$1
    shift
    for program in "$@"; do
        "$folder/$program" | diff -u "$examples/$program.out" -
    done
}

echo "find_package(perm)"
"$cmake" -S "$examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" --log-level=WARNING
"$cmake" --build "$work/cmake" >"$work/log" || { cat "$work/log" && exit 1; }
run_all "$work/cmake" first plan batch dense gradient shards task periodic csr eigen
package=$(sed -n 's/^perm_DIR:PATH=//p' "$work/cmake/CMakeCache.txt")
[[ $package == "$prefix"/* ]]
grep -q "PACKAGE_VERSION \"$version\"" "$package/permConfigVersion.cmake"

echo "pkg-config"
pc=$(find "$prefix" -name perm.pc)
export PKG_CONFIG_PATH=${pc%/*}
[[ $(pkg-config --modversion perm) == "$version" ]]
cp "$examples"/{Makefile,*.c} "$work"
make -s -C "$work"
run_all "$work" first plan batch dense gradient shards task periodic

if [[ -e $prefix/bin/perm-mpi ]]; then
    echo "with MPI"
    run_all "$work/cmake" mpi
    # shellcheck disable=SC2046 # several
    mpicc $CFLAGS -o "$work/mpi" "$work/mpi.c" $(pkg-config --cflags --libs perm_mpi) \
        -Wl,-rpath,"$(pkg-config --variable=libdir perm)"
    run_all "$work" mpi
    [[ $("$prefix/bin/perm-mpi" --version) == *"$version"* ]]
fi

echo "perm, the command"
[[ $("$prefix/bin/perm" --version) == *"$version"* ]]
