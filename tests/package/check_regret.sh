#!/usr/bin/env bash
# check_regret.sh PERM REGRET - the table of regret compares what it is asked to, and keeps its times.
set -euo pipefail
perm=$1 regret=$2
command -v python3 >/dev/null || { echo "no python3 here: skipped" && exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PYTHONDONTWRITEBYTECODE=1
ask() { python3 "$regret" --perm "$perm" --only mesh4x6 --runs 1 --json "$folder/times.json"; }
first=$(ask)
seconds='[0-9.]+'
row="\| mesh4x6_8_complex \| 24 \| 160 \| complex \| [a-z]+ \| $seconds \| [a-z]+ \| $seconds \| $seconds \|"
grep -qE "^$row\$" <<<"$first"
grep -q '^1 of 1 compared: worst ' <<<"$first"
[[ $(ask) == "$first" ]] # nothing was measured again
