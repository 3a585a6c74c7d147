#!/usr/bin/env bash
# check_command.sh MPIEXEC PERM_MPI PERM - perm-mpi as a user meets it: the answers of perm, errors, a job that is
# killed and goes on.
set -euo pipefail
mpiexec=$1 perm_mpi=$2 perm=$3
job=$(dirname "$(readlink -f "$0")")/mpi_job.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" && cat out err 2>/dev/null && exit 1; }

dense() { # N SEED
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        printf "%%%%MatrixMarket matrix array real general\n%d %d\n", n, n
        for (k = 0; k < n * n; ++k) printf "%.3f\n", 0.05 + rand()
    }'
}
dense 24 1 >small.mtx
dense 29 2 >medium.mtx
dense 42 3 >large.mtx # hours
tree=(--engine tree --device cpu --threads 1)

mpi() { # RANKS ARGUMENTS...: its exit status in $status
    local ranks=$1
    shift
    status=0
    "$job" "$mpiexec" "$ranks" "$perm_mpi" compute "$@" >out 2>err </dev/null || status=$?
}

echo "the answer of perm, whatever the number of ranks"
numbers='^  "(permanent|real|imag|mantissa|mantissa_imag|exp2|exact|rel_error_bound|abs_error_bound|engine|n|nnz)"'
"$perm" compute small.mtx "${tree[@]}" --json | grep -E "$numbers" >expected
for ranks in 1 2 3; do
    mpi "$ranks" small.mtx "${tree[@]}" --json
    ((status == 0)) || fail "status $status"
    grep -E "$numbers" out | diff expected - || fail "other numbers"
done
mpi 2 small.mtx "${tree[@]}" -q
[[ $(cat out) == $("$perm" compute small.mtx "${tree[@]}" -q) ]] || fail "quiet"
mpi 2 - "${tree[@]}" --memory nonsense
((status == 2)) || fail "status $status"

echo "the estimate of perm"
awk 'BEGIN { print "%%MatrixMarket matrix array real general\n40 40"; for (k = 0; k < 1600; ++k) print k % 41 ? 1 : 0 }' >ones.mtx
estimate=(estimate ones.mtx --without merge,periodic --epsilon 0.0005 --seed 5 --threads 1 -q)
"$perm" "${estimate[@]}" >expected
for ranks in 1 3; do
    "$job" "$mpiexec" "$ranks" "$perm_mpi" "${estimate[@]}" --checkpoint sampled >out 2>err </dev/null || fail "estimate"
    diff expected out || fail "another estimate"
done

echo "the numbers of matchings of perm"
awk 'BEGIN { srand(4); print "%%MatrixMarket matrix array integer general\n21 21"; for (k = 0; k < 441; ++k) print int(4 * rand()) }' >counts.mtx
matchings=(matchings counts.mtx --device cpu --threads 1 -q)
"$perm" "${matchings[@]}" >expected
for ranks in 1 3; do
    "$job" "$mpiexec" "$ranks" "$perm_mpi" "${matchings[@]}" --checkpoint counted >out 2>err </dev/null || fail "matchings"
    diff expected out || fail "other numbers of matchings"
done
"$perm" status counted | grep -q finished || fail "no status"

echo "the samples of perm"
sample=(sample counts.mtx --shots 3000 --seed 3 --device cpu --threads 1 -q)
"$perm" "${sample[@]}" >expected
for ranks in 1 3; do
    "$job" "$mpiexec" "$ranks" "$perm_mpi" "${sample[@]}" --checkpoint drawn >out 2>err </dev/null || fail "samples"
    diff expected out || fail "other samples"
done
"$perm" status drawn | grep -q finished || fail "no status"

echo "the terms of perm"
for terms in "--lattice grid:8 --wrap --length 200 --precision exact" "--lattice grid:4 --terms 30 --precision double"; do
    # shellcheck disable=SC2206 # these are several
    periodic=(periodic $terms --device cpu --threads 1 -q)
    "$perm" "${periodic[@]}" >expected
    for ranks in 1 3; do
        "$job" "$mpiexec" "$ranks" "$perm_mpi" "${periodic[@]}" --checkpoint repeated >out 2>err </dev/null || fail "terms"
        diff expected out || fail "other terms"
    done
    "$perm" status repeated | grep -q finished || fail "no status"
    rm repeated*
done
"$job" "$mpiexec" 2 "$perm_mpi" periodic --lattice grid:4 >out 2>err </dev/null && fail "neither length nor terms"
grep -q 'either --length or --terms' err || fail "no advice"

echo "errors are said once"
for arguments in "missing.mtx" "small.mtx --engine nonsense" "small.mtx --nonsense"; do
    # shellcheck disable=SC2086 # these are several
    mpi 3 $arguments
    ((status == 2)) || fail "$arguments: status $status"
    [[ ! -s out && $(grep -c '^perm: ' err) == 1 ]] || fail "$arguments: not one line"
done
echo "%%MatrixMarket matrix nonsense" >bad.mtx
mpi 3 bad.mtx --json
((status == 2)) && grep -q '"error"' out || fail "no JSON"

echo "killed, and gone on from by others"
kept=(--checkpoint kept --checkpoint-every 0.01)
"$perm" compute medium.mtx "${tree[@]}" -q >expected
for ranks in 3 2; do
    setsid "$job" "$mpiexec" "$ranks" "$perm_mpi" compute medium.mtx "${tree[@]}" "${kept[@]}" >out 2>err </dev/null &
    session=$!
    before=$(stat -c %Y.%s kept 2>/dev/null || true)
    for ((k = 0; k < 600; ++k)); do
        [[ -e kept && $(stat -c %Y.%s kept 2>/dev/null) != "$before" ]] && break
        kill -0 "$session" 2>/dev/null || break
        sleep 0.05
    done
    # shellcheck disable=SC2046 # several
    kill -9 $(ps -o pid= -s "$session") 2>/dev/null || true
    wait "$session" 2>/dev/null || true
    [[ -s kept ]] || fail "no checkpoint"
done
mpi 2 small.mtx "${tree[@]}" "${kept[@]}"
((status == 2)) && grep -q 'another matrix' err || fail "that of another matrix was taken"
head -c 100 kept >torn
if [[ -s kept.previous ]]; then
    cp kept kept.whole && mv torn kept # the two may be one file, of a kill between link and rename
    mpi 2 medium.mtx "${tree[@]}" "${kept[@]}" -q
    ((status == 0)) && grep -q 'one before' err && diff expected out || fail "a torn one"
    cp kept.whole kept
fi
mpi 1 medium.mtx "${tree[@]}" "${kept[@]}" -q
((status == 0)) && diff expected out || fail "other digits"
mpi 3 medium.mtx "${tree[@]}" "${kept[@]}" -q # all of it is there
((status == 0)) && diff expected out || fail "other digits"

echo "stopped by a signal"
setsid "$job" "$mpiexec" 2 "$perm_mpi" compute large.mtx "${tree[@]}" --checkpoint stopped \
    --checkpoint-every 0.01 >out 2>err </dev/null &
session=$!
for ((k = 0; k < 1200; ++k)); do
    [[ -e stopped ]] && break
    sleep 0.05
done
kill -USR1 "$session" # mpiexec hands it on
status=0
wait "$session" || status=$?
((status != 0)) && grep -q 'what is done is in stopped' err || fail "not stopped in order"

echo "ok"
