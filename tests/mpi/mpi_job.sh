#!/usr/bin/env bash
# mpi_job.sh MPIEXEC RANKS COMMAND... - runs it as an MPI job, with more ranks than cores if need be, by Open MPI's or
# MPICH's mpiexec.
set -euo pipefail
mpiexec=$1 ranks=$2
shift 2
options=()
if "$mpiexec" --version 2>&1 | grep -qi 'open.mpi'; then
    options=(--oversubscribe --bind-to none)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
fi
exec "$mpiexec" "${options[@]}" -np "$ranks" "$@"
