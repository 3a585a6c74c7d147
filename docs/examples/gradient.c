/* How the permanent changes with each entry, and for certain how right that is. */
#include <perm.h>
#include <stdio.h>

int main(void) {
    const int64_t row_ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    const double value[] = {1, 2, 3, 4};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 2;
    a.nnz = 4;
    a.row_ptr = row_ptr;
    a.col_idx = col;

    double gradient[4], bound[4];
    perm_plan *plan = NULL;
    perm_result r = PERM_RESULT_INIT;
    int ok = perm_plan_create(&a, NULL, &plan) == PERM_OK &&
             perm_plan_gradient(plan, value, gradient, bound, &r) == PERM_OK;
    if (ok) printf("%s:", r.text);
    for (int k = 0; ok && k < 4; ++k) printf(" %g +- %g", gradient[k], bound[k]);
    if (ok)
        printf("\n");
    else
        fprintf(stderr, "%s\n", perm_last_error());
    perm_result_clear(&r);
    perm_plan_destroy(plan);
    return !ok;
}
