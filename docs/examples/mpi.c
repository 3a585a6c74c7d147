/* One permanent by all ranks: mpirun -np 3 ./mpi */
#include <perm_mpi.h>

#include <stdio.h>

int main(int argc, char **argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    int64_t row_ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    double value[] = {1, 2, 3, 4};
    perm_csr a = PERM_CSR_INIT; /* needed on rank 0 alone */
    a.n_rows = a.n_cols = 2;
    a.nnz = 4;
    a.row_ptr = row_ptr;
    a.col_idx = col;
    a.values = value;

    perm_result r = PERM_RESULT_INIT;
    perm_status status = perm_mpi_compute(MPI_COMM_WORLD, &a, NULL, &r);
    if (rank == 0) puts(status == PERM_OK ? r.text : perm_mpi_last_error());
    perm_result_clear(&r);
    MPI_Finalize();
    return status == PERM_OK ? 0 : 1;
}
