#!/usr/bin/env bash
# check_symbols.sh LIBPERM_SO SYMBOLS HEADER - the ABI: what the library exports and what the header
# declares are the list SYMBOLS, the soname is libperm.so.1, and nothing unexpected is linked.
set -euo pipefail
library=$1 symbols=$2 header=$3
failed=0

same_as_list() { # TITLE; the names are on stdin
    diff -u --label "$symbols" --label "$1" <(LC_ALL=C sort "$symbols") <(LC_ALL=C sort -u) || failed=1
}

# Lines of nm: address, type, name@@version; type A is the version node itself.
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | same_as_list "exported"
sed -nE 's/^PERM_API .*\b(perm_[a-z_0-9]+)\(.*/\1/p' "$header" | same_as_list "declared in perm.h"

dynamic=$(LC_ALL=C readelf -d "$library")
soname=$(sed -nE 's/.*\(SONAME\).*\[(.*)\]/\1/p' <<<"$dynamic")
[[ $soname == libperm.so.1 ]] || { echo "soname is '$soname', not libperm.so.1" && failed=1; }

ours='libtbb|libmpfr|libgmp|libhwy'
system='libstdc\+\+|libm|libgcc_s|libc|ld-linux[a-z0-9_-]*|libasan|libubsan|libtsan'
if sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' <<<"$dynamic" | grep -vE "^($ours|$system)\.so"; then
    echo "libperm.so links the above, which is not expected"
    failed=1
fi
exit "$failed"
