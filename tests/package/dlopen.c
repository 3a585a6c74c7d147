/* dlopen.c LIBPERM - a program that meets libperm only at run time, as a plugin or as another language does;
 * and lets go of it, again and again, its threads still waiting for work. */
#include <dlfcn.h>
#include <perm.h>
#include <stdio.h>
#include <string.h>

typedef perm_status (*compute_fn)(const perm_csr *, const perm_opts *, perm_result *);
typedef perm_status (*clear_fn)(perm_result *);

/* ISO C has no cast from object to function pointers; copying the bits is what POSIX allows. */
static int load(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static int is_answered(void *library, const perm_csr *a, const char *engine, double expected) {
    compute_fn compute;
    clear_fn clear;
    if (!load(library, "perm_compute", &compute) || !load(library, "perm_result_clear", &clear)) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.device = "cpu";
    opts.threads = 2;
    perm_result r = PERM_RESULT_INIT;
    int ok = compute(a, &opts, &r) == PERM_OK && r.re == expected;
    if (!ok) fprintf(stderr, "%s\n", r.text ? r.text : "no answer");
    return clear(&r) == PERM_OK && ok;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;

    int64_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
    double values[] = {1, 2, 3, 4};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 2;
    a.nnz = 4;
    a.row_ptr = row_ptr;
    a.col_idx = col_idx;
    a.values = values;

    enum { n = 16 }; /* ones: n! */
    int64_t all_rows[n + 1], all_cols[n * n];
    for (int i = 0; i <= n; ++i) all_rows[i] = n * i;
    for (int k = 0; k < n * n; ++k) all_cols[k] = k % n;
    perm_csr ones = PERM_CSR_INIT;
    ones.n_rows = ones.n_cols = n;
    ones.nnz = n * n;
    ones.row_ptr = all_rows;
    ones.col_idx = all_cols;
    ones.value_type = PERM_VALUE_PATTERN;

    for (int round = 0; round < 50; ++round) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        if (!is_answered(library, &a, NULL, 10) || !is_answered(library, &ones, "ryser", 20922789888000.0) ||
            !is_answered(library, &ones, "frontier", 20922789888000.0))
            return 1;
        if (dlclose(library) != 0) return 1;
    }
    return 0;
}
