/* A thousand matrices of one pattern in one call: k on a diagonal, 1 beside it; the plan comes from bytes. */
#include <perm.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 12, nnz = 2 * n, count = 1000 };

int main(void) {
    int64_t row_ptr[n + 1], col[nnz];
    for (int i = 0; i <= n; ++i) row_ptr[i] = 2 * i;
    for (int i = 0; i < n; ++i) col[2 * i] = i, col[2 * i + 1] = (i + 1) % n;
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = n;
    a.nnz = nnz;
    a.row_ptr = row_ptr;
    a.col_idx = col;

    static double value[count][nnz];
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < n; ++i) value[k][2 * i] = k, value[k][2 * i + 1] = 1;
    static perm_result result[count];
    for (int k = 0; k < count; ++k) result[k].struct_size = sizeof result[k];

    perm_plan *made = NULL, *plan = NULL;
    size_t size = 0;
    int ok = perm_plan_create(&a, NULL, &made) == PERM_OK && perm_plan_save(made, NULL, 0, &size) == PERM_OK;
    void *bytes = ok ? malloc(size) : NULL; /* to be kept in a file, or sent */
    ok = bytes && perm_plan_save(made, bytes, size, NULL) == PERM_OK &&
         perm_plan_load(bytes, size, NULL, &plan) == PERM_OK &&
         perm_plan_execute_batch(plan, value, nnz, count, result) == PERM_OK;
    if (ok)
        printf("%.17g %.17g\n", result[1].re, result[10].re); /* k^12 + 1 */
    else
        fprintf(stderr, "%s\n", perm_last_error());
    for (int k = 0; k < count; ++k) perm_result_clear(&result[k]);
    perm_plan_destroy(plan);
    perm_plan_destroy(made);
    free(bytes);
    return !ok;
}
