#!/usr/bin/env bash
# check_example.sh EXAMPLE PREFIX - another language's example prints what stands in its .out file, with the library
# that is installed in PREFIX. 77, and a word, where the language is not here.
set -euo pipefail
example=$1 prefix=$2

case $example in
*.py) interpreter=python3 ;;
*.lua) interpreter=luajit ;;
*.R) interpreter=Rscript ;;
esac
if ! command -v "$interpreter" >/dev/null; then
    echo "no $interpreter here: $example is skipped"
    exit 77
fi
library=$(find "$prefix" -name libperm.so.1)
export PERM_LIBRARY=$library PYTHONDONTWRITEBYTECODE=1
if [[ $example == *.R ]]; then # R calls C by a library of its own
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    ${CC:-cc} -shared -fPIC "${example%.*}.c" -I "$prefix/include" "$library" -Wl,-rpath,"${library%/*}" -o "$work/in_r.so"
    library=$work/in_r.so
fi
"$interpreter" "$example" "$library" | diff -u "${example%.*}.out" -
