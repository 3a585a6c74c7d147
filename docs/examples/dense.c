/* Permanents of dense matrices, straight from their arrays: numbers, and how far they can be from the truth.
 */
#include <perm.h>
#include <stdio.h>

int main(void) {
    double values[2][4] = {{1, 2, 3, 4}, {0.1, 1, 1, 0.1}}, permanents[2], bounds[2];
    perm_dense a = PERM_DENSE_INIT;
    a.n_rows = a.n_cols = 2;
    a.count = 2;
    a.values = values;
    if (perm_permanents(&a, NULL, permanents, bounds) != PERM_OK) {
        fprintf(stderr, "%s\n", perm_last_error());
        return 1;
    }
    for (int k = 0; k < 2; ++k) printf("%.17g %s\n", permanents[k], bounds[k] == 0 ? "exactly" : "nearly");
    return 0;
}
