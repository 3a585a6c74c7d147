#!/usr/bin/env bash
# check_includes.sh ROOT - includes follow the one way that data goes, between the folders
# capi -> lib -> {preprocess, jit} -> include, between the rooms of lib and of jit, and between the units (a
# header and its source) of all of them.
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
# The command knows the library by its public headers only, how files are sealed and kept, and JSON.
files='lib/base/(archive|durable_file|error|fields|json|kept_file|seal)\.hpp|lib/run/part\.hpp|jit/compile/digest\.hpp'
allowed capi/command 'capi/command|include' "$files"
allowed bench 'bench|capi|lib|preprocess|jit|include'
allowed tests 'tests|bench|capi|lib|preprocess|jit|include'

rooms() { # TOP OTHERS FLOOR... - rooms of one floor are joined by commas; a room includes from the floors below it
    local top=$1 others=$2 below= floor room
    shift 2
    (($# <= 10)) || { echo "$top has more than 10 floors" && failed=1; }
    for floor in "$@"; do
        for room in ${floor//,/ }; do
            [[ -d $top/$room ]] || { echo "there is no room $top/$room" && failed=1 && continue; }
            allowed "$top/$room" "$top/($room$below)|$others"
        done
        below+="|${floor//,/|}"
    done
    for room in "$top"/*/; do
        room=$(basename "$room")
        [[ ,${*// /,} == *"$room"* ]] || { echo "$top/$room stands on no floor" && failed=1; }
    done
}

rooms jit include text device,driver number,compile program,queue lanes,kernel
mapfile -t floors < <(sed -nE 's/^# floors: //p' lib/CMakeLists.txt | tr ' ' '\n')
rooms lib "preprocess|jit|include" "${floors[@]}"
rooms lib/periodic "lib/(base|number|input|run)|preprocess|jit|include" cell period table,power answers

# Units that include each other would be a circle: tsort finds it.
units() {
    grep -rHE '^\s*#\s*include\s+"(lib|jit|preprocess|capi|bench)/' --include='*.hpp' --include='*.cpp' lib jit preprocess capi bench |
        sed -E 's/\.[ch]pp:\s*#\s*include\s+"/ /; s/(\.[ch]pp|-inl\.hpp|\.cuh)".*$//' | awk '$1 != $2'
}
[[ -n $(units) ]] || { echo "no unit was found" && failed=1; }
if ! circle=$(units | tsort 2>&1 >/dev/null); then
    printf '%s\nthe above: units that include each other in a circle\n' "$circle"
    failed=1
fi

((seen)) || { echo "no include was checked" && failed=1; }
exit "$failed"
