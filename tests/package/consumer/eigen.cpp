// Eigen's matrices, sparse and dense, passed as they are.
#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <perm.hpp>

#include <iostream>

int main() {
    // The circulant of ones on the diagonal and beside it: 2 permutations, and the all-ones matrix: 4!
    Eigen::SparseMatrix<double> ring(5, 5);
    for (int i = 0; i < 5; ++i) {
        ring.insert(i, i) = 1.0;
        ring.insert(i, (i + 1) % 5) = 3.0;
    }
    const perm::Result sparse = perm::compute(ring);
    const perm::Result dense = perm::compute(Eigen::MatrixXd::Ones(4, 4));
    std::cout << sparse.text() << ' ' << dense.text() << '\n';

    // An error is an exception with the library's text.
    bool thrown = false;
    try {
        perm::compute(Eigen::MatrixXd::Ones(3, 2));
    } catch (const perm::Error &error) {
        std::cout << error.what() << '\n';
        thrown = error.status() == PERM_BAD_MATRIX;
    }
    return sparse.value() == 1.0 + 243.0 && dense.value() == 24.0 && thrown ? 0 : 1;
}
