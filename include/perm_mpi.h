/* perm_mpi.h - one permanent by all ranks of an MPI communicator: libperm_mpi.so, beside libperm.so
 * (docs/mpi.md).
 *
 *   MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
 *   perm_csr    a = PERM_CSR_INIT;     // filled on rank 0
 *   perm_result r = PERM_RESULT_INIT;
 *   if (perm_mpi_compute(MPI_COMM_WORLD, &a, NULL, &r) != PERM_OK) puts(perm_mpi_last_error());
 *   else if (rank == 0) puts(r.text);
 *   perm_result_clear(&r);
 */
#ifndef PERM_MPI_H
#define PERM_MPI_H

/* clang-format off */

#include <perm.h>

/* Without the C++ bindings, which are no more. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The permanent of rank 0's matrix, with the bits of perm_plan_create and perm_plan_execute there, whatever the number
 * of ranks. Collective: every rank of the communicator calls it, from the thread that initialised MPI, with
 * MPI_THREAD_FUNNELED at least. Rank 0 plans; all ranks, itself included, are given the plan's shards as they finish
 * them; and rank 0 puts together what they came to.
 * a, result: rank 0's; on the others they are not looked at and may be NULL.
 * opts (may be NULL): on rank 0 as in perm_compute. Of the others' count what concerns their machines: threads,
 * device, memory_limit_bytes, cache_dir, cache_limit_bytes; and cancel.
 *   threads     0: the cores that the rank may run on, over the number of ranks on them
 *   memory_limit_bytes  of one rank; 0: three quarters of its machine's, over the number of ranks there
 *   device      "gpu": to each rank one of the GPUs that it sees, going round among the ranks of its machine; so with
 *               "auto" where rank 0's plan takes a GPU. Others as they are: "gpu:all" is for one rank on a machine
 *   progress    called on rank 0, in the call's own thread once the plan is made
 *   cancel      polled on every rank once the plan is made, before that on rank 0; any of them stops all
 *   time_limit_seconds  0: refused is what is predicted to take all ranks more than a day
 *   checkpoint  rank 0 keeps the finished shards' results there, and the plan: another call goes on from it, with any
 *               number of ranks. It is not the file of perm_compute
 * A rank whose GPU fails, or whose memory does not suffice, is left out with a warning on rank 0's standard error, and
 * its shards run elsewhere. Any other error, of whichever rank, ends the call.
 * Errors: those of perm_compute; PERM_BAD_ARGUMENT without MPI or the threads it needs. Status and text are the same
 * on all ranks; then *result is left cleared. What MPI itself fails in is PERM_INTERNAL, if its error handler for new
 * communicators, or the loss of a rank, does not end the program. */
PERM_API perm_status perm_mpi_compute(MPI_Comm comm, const perm_csr *a, const perm_opts *opts, perm_result *result);

/* Rank 0's task (perm_task_*) by all ranks, into rank 0's answer, with the bits of perm_task_run. Collective, options, errors
 * and limits as above; of the options those count that the answer does not follow from. On other ranks task and answer may
 * be NULL. */
PERM_API perm_status perm_mpi_run(MPI_Comm comm, const perm_task *task, const perm_opts *opts, const perm_answer *answer);

/* What went wrong in the last failing call of this thread, "" if none failed. */
PERM_API const char *perm_mpi_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
