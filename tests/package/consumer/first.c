/* The first call that perm.h shows. */
#include <perm.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    int64_t row_ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    double value[] = {1, 2, 3, 4};
    perm_csr a = PERM_CSR_INIT;
    perm_result r = PERM_RESULT_INIT;
    a.n_rows = a.n_cols = 2;
    a.nnz = 4;
    a.row_ptr = row_ptr;
    a.col_idx = col;
    a.values = value;
    if (perm_compute(&a, NULL, &r) != PERM_OK) {
        puts(perm_last_error());
        return 1;
    }
    puts(r.text);
    int ok = strcmp(r.text, "10") == 0 && strcmp(perm_version(), PERM_VERSION_STRING) == 0;
    perm_result_clear(&r);
    return ok ? 0 : 1;
}
