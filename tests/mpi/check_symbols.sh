#!/usr/bin/env bash
# check_symbols.sh LIBPERM_MPI_SO LIBPERM_SO - the one exports what perm_mpi.h declares and nothing else, the other knows
# nothing of MPI.
set -euo pipefail
library=$1 libperm=$2
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
[[ $exported == $'perm_mpi_compute\nperm_mpi_last_error\nperm_mpi_run' ]] || { echo "exported: $exported" && exit 1; }
readelf -d "$library" | grep -q 'SONAME.*\[libperm_mpi\.so\.1\]'
readelf -d "$library" | grep -q 'NEEDED.*\[libperm\.so\.1\]'
if readelf -d "$libperm" | grep -i 'NEEDED.*mpi'; then exit 1; fi
