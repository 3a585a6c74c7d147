// Eigen's matrices, sparse and dense, as they are.
#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <perm.hpp>

#include <algorithm>
#include <iostream>
#include <limits>

int main() {
    // Ways to cover a board of 2 x 10 squares with dominoes: each of the 10 black squares (rows) with a white
    // one beside it (columns).
    Eigen::SparseMatrix<double> board(10, 10);
    for (int i = 0; i < 10; ++i)
        for (int j = std::max(i - 1, 0); j <= std::min(i + 1, 9); ++j) board.insert(i, j) = 1.0;
    const perm::Result r = perm::compute(board);
    std::cout << r.text() << (r->exact ? " exactly" : "") << '\n';

    std::cout << perm::compute(Eigen::MatrixXd::Ones(4, 4)).value() << '\n';

    // i + j from its factors, the matrix of order 200 unformed: of integers every digit.
    Eigen::Matrix<int, Eigen::Dynamic, 2> rows(200, 2), columns(200, 2);
    for (int i = 0; i < 200; ++i) {
        rows.row(i) << i, 1;
        columns.row(i) << 1, i;
    }
    std::cout << perm::compute_product(rows, columns).text().size() << " digits\n";

    // An error is an exception with the library's text.
    try {
        perm::compute(Eigen::MatrixXd::Constant(2, 2, std::numeric_limits<double>::quiet_NaN()));
    } catch (const perm::Error &error) {
        std::cout << perm_status_text(error.status()) << '\n';
    }
}
