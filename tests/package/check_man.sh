#!/usr/bin/env bash
# check_man.sh PERM PAGE - the man page names every subcommand and every option that `perm --help` and those of its
# subcommands list.
set -euo pipefail
perm=$1 page=$2
failed=0 seen=0

names_all() { # SUBCOMMAND...
    local option
    for option in $("$perm" "$@" --help | grep -oE '^  (-[a-z],)?--[a-z-]+' | tr ',' ' '); do
        seen=$((seen + 1))
        grep -qE -- "^(\`.*)?\`${option}[ \`]" "$page" || { echo "perm $*: $option is not in $page" && failed=1; }
    done
}

subcommands() { "$perm" "$@" --help | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z]+) .*/\1/p'; }

names_all
for command in $(subcommands); do
    grep -q "^\`perm ${command}[ \`]" "$page" || { echo "perm $command is not in $page" && failed=1; }
    names_all "$command"
done
for command in $(subcommands cache); do
    grep -q "\`perm cache $command\`" "$page" || { echo "perm cache $command is not in $page" && failed=1; }
    names_all cache "$command"
done
((seen > 20)) || { echo "only $seen options were found" && failed=1; }
exit "$failed"
