#include <iostream>
#include <perm.hpp>

int main() {
    perm::Csr a;
    a.n_rows = a.n_cols = 2;
    a.row_ptr = {0, 2, 4}, a.col_idx = {0, 1, 0, 1}, a.values = {1, 2, 3, 4};
    std::cout << perm::compute(a).text() << '\n';
}
