/* dlopen.c LIBPERM - a program that meets libperm only at run time: as a plugin, or as another language does.
 */
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

int main(int argc, char **argv) {
    if (argc != 2) return 2;

    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    compute_fn compute;
    clear_fn clear;
    if (!library || !load(library, "perm_compute", &compute) || !load(library, "perm_result_clear", &clear)) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }

    int64_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
    double values[] = {1, 2, 3, 4};
    perm_csr a = PERM_CSR_INIT;
    perm_result r = PERM_RESULT_INIT;
    a.n_rows = a.n_cols = 2;
    a.nnz = 4;
    a.row_ptr = row_ptr;
    a.col_idx = col_idx;
    a.values = values;

    int ok = compute(&a, NULL, &r) == PERM_OK && r.re == 10.0 && strcmp(r.text, "10") == 0;
    printf("%s\n", r.text ? r.text : "no answer");
    ok = clear(&r) == PERM_OK && ok;
    return ok ? 0 : 1;
}
