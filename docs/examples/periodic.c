/* Dominoes on a board of 4 by m squares: how many ways there are, for any m. */
#include <perm.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    /* A cell is a layer of 4 squares, 2 of them black, 2 white; the black ones are its rows. Columns 0, 1 are
     * the white squares of the layer before, 2, 3 those of its own, 4, 5 those of the layer behind. */
    const int64_t row_ptr[] = {0, 3, 7}, col[] = {1, 2, 5, 0, 2, 3, 4};
    perm_csr cell = PERM_CSR_INIT;
    cell.n_rows = 2, cell.n_cols = 6, cell.nnz = 7;
    cell.row_ptr = row_ptr, cell.col_idx = col;
    cell.value_type = PERM_VALUE_PATTERN;
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &cell;

    perm_periodic_plan *plan = NULL;
    perm_result r = PERM_RESULT_INIT;
    double growth, lower, upper;
    int ok = perm_periodic_create(&a, NULL, &plan) == PERM_OK;

    ok = ok && perm_periodic_execute(plan, 50, &r) == PERM_OK;
    if (ok) printf("4 by 50: %s\n", r.text);

    ok = ok && perm_periodic_growth(plan, &growth, &lower, &upper) == PERM_OK;
    if (ok) printf("each layer: times %.12f, from %.12f to %.12f\n", growth, lower, upper);

    size_t size = 0;
    ok = ok && perm_periodic_generating_function(plan, PERM_FORMAT_TEXT, NULL, 0, &size) == PERM_OK;
    char *text = ok ? malloc(size) : NULL;
    ok = text && perm_periodic_generating_function(plan, PERM_FORMAT_TEXT, text, size, NULL) == PERM_OK;
    fputs(ok ? text : perm_last_error(), ok ? stdout : stderr);

    free(text);
    perm_result_clear(&r);
    perm_periodic_destroy(plan);
    return !ok;
}
