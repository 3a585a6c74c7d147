#!/usr/bin/env bash
# check_install.sh CMAKE BUILD_DIR CONSUMER VERSION - installs to a folder of its own and builds other
# people's programs against that: by find_package(perm) in C and in C++ with Eigen, in C11 by pkg-config.
set -euo pipefail
cmake=$1 build=$2 consumer=$3 version=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

"$cmake" --install "$build" --prefix "$prefix" >/dev/null
unset LD_LIBRARY_PATH

echo "find_package(perm)"
"$cmake" -S "$consumer" -B "$work/consumer" \
    -DCMAKE_PREFIX_PATH="$prefix" -DEXPECTED_VERSION="$version" >/dev/null
"$cmake" --build "$work/consumer" >"$work/log" || { cat "$work/log" && exit 1; }
"$work/consumer/first"
"$work/consumer/eigen"

echo "pkg-config"
pc=$(find "$prefix" -name perm.pc)
export PKG_CONFIG_PATH=${pc%/*}
# perm.pc names the prefix that was configured; this one was chosen at the installation.
perm_pc() { pkg-config --define-variable=prefix="$prefix" "$@" perm; }
[[ $(perm_pc --modversion) == "$version" ]]
read -ra flags <<<"$(perm_pc --cflags --libs)"
library_dir=$(perm_pc --variable=libdir)
"${CC:-cc}" -std=c11 -Wall -Wextra -pedantic -Werror "$consumer/first.c" -o "$work/first" "${flags[@]}" \
    -Wl,-rpath,"$library_dir"
"$work/first"
