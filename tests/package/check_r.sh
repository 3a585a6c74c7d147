#!/usr/bin/env bash
# check_r.sh ROOT PREFIX VERSION - the R package, installed with the libperm of PREFIX, passes its tests and prints what
# the manual shows. 77, and a word, where R is not here.
set -euo pipefail
root=$1 prefix=$2 version=$3

grep -qx "Version: $version" "$root/capi/r/DESCRIPTION"

if ! command -v Rscript >/dev/null || ! Rscript -e 'library(Matrix)' >/dev/null 2>&1; then
    echo "no R with its package Matrix here: libperm's is skipped"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/capi/r" "$work/libperm"
mkdir "$work/library"
cd "$work"
PERM_PREFIX=$prefix R CMD INSTALL --library="$work/library" --no-docs --no-byte-compile --no-test-load libperm >log 2>&1 ||
    { cat log && exit 1; }
if grep -i warning log; then exit 1; fi
export R_LIBS=$work/library
tests=0
for test in libperm/tests/*.R; do
    echo "$test"
    Rscript "$test"
    tests=$((tests + 1))
done
((tests)) || { echo "no test was run" && exit 1; }
Rscript "$root/docs/examples/r_package.R" | diff -u "$root/docs/examples/r_package.out" -
