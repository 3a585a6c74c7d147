/* For R's .C: cc -shared -fPIC in_r.c $(pkg-config --cflags --libs perm) -o in_r.so, and where the library is
 * in no folder that the system searches -Wl,-rpath,$(pkg-config --variable=libdir perm). What R passes are
 * pointers. */
#include <perm.h>

#include <stdlib.h>

/* A dense matrix as R has it, column by column: the permanent of the transpose is the same. */
void permanent(const double *a, const int *n, double *value, double *rel_error_bound, char **error) {
    const int64_t order = *n;
    int64_t *row_ptr = malloc((size_t)(order + 1) * sizeof *row_ptr);
    int64_t *col_idx = malloc((size_t)(order * order + 1) * sizeof *col_idx);
    perm_csr full = PERM_CSR_INIT;
    perm_result result = PERM_RESULT_INIT;
    for (int64_t i = 0; i <= order; ++i) row_ptr[i] = i * order;
    for (int64_t k = 0; k < order * order; ++k) col_idx[k] = k % order;
    full.n_rows = full.n_cols = order;
    full.nnz = order * order;
    full.row_ptr = row_ptr;
    full.col_idx = col_idx;
    full.values = a;
    if (perm_compute(&full, NULL, &result) == PERM_OK) {
        *value = result.re;
        *rel_error_bound = result.rel_error_bound;
    } else {
        *error = (char *)perm_last_error(); /* R copies it */
    }
    perm_result_clear(&result);
    free(row_ptr);
    free(col_idx);
}
