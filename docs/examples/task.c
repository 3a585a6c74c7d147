/* The numbers of matchings of a 6 x 6 board without its diagonal, as a task: at once, and in the shards of
 * the same task in another process. */
#include <perm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 6, numbers = n + 1 };

perm_status elsewhere(const void *bytes, size_t size, perm_result *results) {
    perm_task *task = NULL;
    int64_t count = 0;
    perm_status status = perm_task_load(bytes, size, NULL, &task);
    if (status != PERM_OK) return status;
    perm_task_shards(task, &count, NULL, NULL);
    perm_partial *partials = malloc((size_t)count * sizeof *partials);
    if (!partials) return PERM_OUT_OF_MEMORY;
    for (int64_t k = 0; k < count; ++k) { /* anywhere, in any order, also twice */
        perm_partial partial = PERM_PARTIAL_INIT;
        perm_task_run_shard(task, k, &partial);
        partials[k] = partial;
    }
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = results;
    answer.count = numbers;
    status = perm_task_combine(task, partials, count, &answer);
    for (int64_t k = 0; k < count; ++k) perm_partial_clear(&partials[k]);
    free(partials);
    perm_task_destroy(task);
    return status;
}

int main(void) {
    int64_t row_ptr[n + 1] = {0}, col[n * n], nnz = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j)
            if (i != j) col[nnz++] = j;
        row_ptr[i + 1] = nnz;
    }
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = n;
    a.nnz = nnz;
    a.row_ptr = row_ptr;
    a.col_idx = col;
    a.value_type = PERM_VALUE_PATTERN;

    perm_task *task = NULL;
    perm_result whole[numbers], parts[numbers];
    for (int k = 0; k < numbers; ++k) whole[k] = parts[k] = (perm_result)PERM_RESULT_INIT;
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = whole;
    answer.count = numbers;
    size_t size = 0;
    int ok = perm_task_matchings(&a, NULL, &task) == PERM_OK && perm_task_run(task, &answer) == PERM_OK &&
             perm_task_save(task, NULL, 0, &size) == PERM_OK;
    char *bytes = malloc(size + 1);
    ok = ok && bytes && perm_task_save(task, bytes, size, &size) == PERM_OK &&
         elsewhere(bytes, size, parts) == PERM_OK;
    if (!ok) puts(perm_last_error());
    for (int k = 0; ok && k < numbers; ++k) {
        printf("%d edges: %s matchings\n", k, whole[k].text);
        ok = strcmp(whole[k].text, parts[k].text) == 0;
    }
    for (int k = 0; k < numbers; ++k) perm_result_clear(&whole[k]), perm_result_clear(&parts[k]);
    free(bytes);
    perm_task_destroy(task);
    return !ok;
}
