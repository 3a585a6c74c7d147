#include <perm.h>
#include <stdio.h>

int main(void) {
    int64_t row_ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    double value[] = {1, 2, 3, 4};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 2, a.nnz = 4;
    a.row_ptr = row_ptr, a.col_idx = col, a.values = value;
    perm_result r = PERM_RESULT_INIT;
    if (perm_compute(&a, NULL, &r) != PERM_OK) return fprintf(stderr, "%s\n", perm_last_error()), 1;
    printf("%s\n", r.text);
    return perm_result_clear(&r);
}
