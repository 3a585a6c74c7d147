/* The permanent of a full 20 x 20 matrix, its work in shards that any machine could run. */
#include <perm.h>
#include <stdio.h>
#include <stdlib.h>

perm_status in_shards(const perm_task *task, perm_result *result) {
    int64_t count = 0;
    perm_task_shards(task, &count, NULL, NULL);
    perm_partial *partials = malloc((size_t)count * sizeof *partials);
    if (!partials) return PERM_OUT_OF_MEMORY;
    for (int64_t k = count; k-- > 0;) { /* anywhere, in any order, also twice */
        perm_partial partial = PERM_PARTIAL_INIT;
        perm_task_run_shard(task, k, &partial);
        partials[k] = partial;
    }
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = result;
    answer.count = 1;
    perm_status status = perm_task_combine(task, partials, count, &answer);
    for (int64_t k = 0; k < count; ++k) perm_partial_clear(&partials[k]);
    free(partials);
    return status; /* the bits of perm_plan_execute */
}

enum { n = 20, nnz = n * n };

int main(void) {
    int64_t row_ptr[n + 1], col[nnz];
    double values[nnz];
    for (int i = 0; i <= n; ++i) row_ptr[i] = n * i;
    for (int k = 0; k < nnz; ++k) col[k] = k % n, values[k] = k % 7 - 3;
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = n;
    a.nnz = nnz;
    a.row_ptr = row_ptr;
    a.col_idx = col;
    a.values = values;
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "ryser";
    opts.without = "all";

    perm_plan *plan = NULL;
    perm_task *task = NULL; /* perm_task_save sends it */
    perm_result result = PERM_RESULT_INIT;
    int ok = perm_plan_create(&a, &opts, &plan) == PERM_OK &&
             perm_task_plan(plan, values, &task) == PERM_OK && in_shards(task, &result) == PERM_OK;
    puts(ok ? result.text : perm_last_error());
    perm_result_clear(&result);
    perm_task_destroy(task);
    perm_plan_destroy(plan);
    return !ok;
}
