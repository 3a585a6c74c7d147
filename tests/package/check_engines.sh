#!/usr/bin/env bash
# check_engines.sh ROOT - no file outside an engine's room, the table of solvers and the parser of options names
# an engine: as Engine::NAME, or as "NAME" where the word means nothing else.
set -euo pipefail
cd "$1"
table='lib/(input/engine\.[ch]pp|input/options\.cpp|plan/engines\.cpp)'
failed=0 seen=0 remaining=0

rooms_of() { # the folders that are an engine's own
    case $1 in
    tree | shared | dense | purereg | hybrid) echo 'lib/subsets' ;;
    glynn) echo 'lib/glynn' ;;
    ferrers | separable) echo 'lib/low_rank' ;;
    *) echo "lib/$1" ;;
    esac
}

# Files that name one all the same, and what is to come of it. This list only grows shorter.
allowed() { # ENGINE
    case $1 in
    glynn) echo 'lib/estimates/(additive|sample_pieces)\.cpp' ;; # a method of estimating has its name
    frontier) echo 'capi/command/cmd_shard\.cpp' ;;       # asks how many runners a plan has work for
    *) echo none ;;
    esac
}

mapfile -t engines < <(sed -nE 's/^ *(EngineFacts\{)?\.id = Engine::([a-z_]+),.*/\2/p' lib/input/engine.hpp | grep -vxE 'automatic|none')
for engine in "${engines[@]}"; do
    grep -qE "\.name = \"$engine\"" lib/input/engine.hpp || { echo "engine $engine has another name" && failed=1; }
    names="\\bEngine::$engine\\b"
    case $engine in # others are words of the field, and names of options
    ryser | frontier | purereg | hybrid | glynn) names+="|\"$engine\"" ;;
    esac
    files=$(grep -rlE "$names" --include='*.[ch]pp' lib capi || true)
    [[ -n $files ]] && seen=$((seen + 1))
    outside=$(grep -vE "^($table|$(rooms_of "$engine")/)" <<<"$files" || true)
    named=$(grep -vE "^($(allowed "$engine"))\$" <<<"$outside" | grep . || true)
    remaining=$((remaining + $(grep -c . <<<"$outside" || true)))
    if [[ -n $named ]]; then
        printf '%s\nthe above: files that name engine %s, outside its room and the table\n' "$named" "$engine"
        failed=1
    fi
done

echo "${#engines[@]} engines; $remaining files outside name one"
((seen >= 5)) || { echo "no engine was found" && failed=1; }
exit "$failed"
