#!/usr/bin/env bash
# check_includes.sh ROOT - includes follow the one way that data goes:
# capi -> lib -> {preprocess, jit} -> include.
# Our own headers are written "folder/name.hpp", from the root of the repository, or "name.hpp" within a
# folder.
set -euo pipefail
cd "$1"
failed=0 seen=0

allowed() { # FOLDER PATTERN [FILES] - PATTERN: the folders that files in FOLDER may include from, and FILES
    [[ -d $1 ]] || return 0
    local lines
    lines=$(grep -rnE '^\s*#\s*include\s+"' --include='*.[ch]' --include='*.[ch]pp' "$1" || true)
    [[ -n $lines ]] || return 0
    seen=$((seen + $(wc -l <<<"$lines")))
    if grep -vE "include\s+\"(($2)/|[^/]+\"|${3:-none})" <<<"$lines"; then
        echo "the above: $1/ may include only from $2"
        failed=1
    fi
}

allowed include 'include'
allowed preprocess 'preprocess|include'
allowed jit 'jit|include'
allowed lib 'lib|preprocess|jit|include'
allowed capi 'capi|lib|preprocess|jit|include'
# The command knows the library by its public headers only, and how files are sealed and kept (perm_files).
files='lib/(archive|durable_file|error|kept_file|seal)\.hpp|jit/cache_file\.hpp'
allowed capi/command 'capi/command|include' "$files"
allowed bench 'bench|capi|lib|preprocess|jit|include'
allowed tests 'tests|bench|capi|lib|preprocess|jit|include'

((seen)) || { echo "no include was checked" && failed=1; }
exit "$failed"
