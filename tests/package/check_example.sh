#!/usr/bin/env bash
# check_example.sh EXAMPLE PREFIX - another language's example prints what stands in its .out file, with the library
# that is installed in PREFIX. 77, and a word, where the language is not here.
set -euo pipefail
example=$1 prefix=$2

case $example in
*.py) interpreter=python3 ;;
*.lua) interpreter=luajit ;;
esac
if ! command -v "$interpreter" >/dev/null; then
    echo "no $interpreter here: $example is skipped"
    exit 77
fi
library=$(find "$prefix" -name libperm.so.1)
export PERM_LIBRARY=$library PYTHONDONTWRITEBYTECODE=1
"$interpreter" "$example" "$library" | diff -u "${example%.*}.out" -
