/* One pattern, many values: the pattern is analysed once. A ring of n columns, in which each row takes its
 * own column or the next: the permanent is x^n + y^n. */
#include <perm.h>
#include <stdio.h>

enum { n = 20 };

int main(void) {
    int64_t row_ptr[n + 1], col[2 * n];
    for (int i = 0; i <= n; ++i) row_ptr[i] = 2 * i;
    for (int i = 0; i < n; ++i) col[2 * i] = i, col[2 * i + 1] = (i + 1) % n;
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = n;
    a.nnz = 2 * n;
    a.row_ptr = row_ptr;
    a.col_idx = col;
    a.value_type = PERM_VALUE_I64;

    perm_opts options = PERM_OPTS_INIT;
    options.precision = "exact";
    perm_plan *plan = NULL;
    perm_result r = PERM_RESULT_INIT; /* each execution frees the text of the last */
    int ok = perm_plan_create(&a, &options, &plan) == PERM_OK;
    for (int64_t y = 1; ok && y <= 3; ++y) {
        int64_t value[2 * n];
        for (int i = 0; i < n; ++i) value[2 * i] = 10, value[2 * i + 1] = y;
        ok = perm_plan_execute(plan, value, &r) == PERM_OK;
        if (ok) printf("%s\n", r.text);
    }
    if (!ok) fprintf(stderr, "%s\n", perm_last_error());
    perm_result_clear(&r);
    perm_plan_destroy(plan);
    return !ok;
}
