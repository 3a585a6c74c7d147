// The reader of Matrix Market files.
#include "tests/fuzz/target.hpp"

#include "matrix_file.hpp"

#include <sstream>

void fuzz::run(std::string_view input) {
    Bytes bytes(input);
    const auto reading = bytes.chance(128) ? perm::Reading::nearest_doubles : perm::Reading::as_written;
    std::istringstream in{std::string(bytes.rest())};
    try {
        const perm::FileMatrix a = perm::read_matrix_market(in, "fuzz", reading);
        const perm::FileView view(a);
        const perm_csr &csr = view.csr();
        require(csr.nnz == a.row_ptr.back(), "the last row ends elsewhere than the entries");
        for (const auto j : a.col_idx) require(j >= 0 && j < csr.n_cols, "a column that there is not");
        const bool is_small = csr.n_rows <= 6 && csr.n_cols <= 6;
        perm_result result = PERM_RESULT_INIT;
        if (is_small && csr.n_rows <= csr.n_cols)
            require(perm_compute(&csr, nullptr, &result) != PERM_INTERNAL, perm_last_error());
        perm_result_clear(&result);
    } catch (const perm::FileError &) {
    }
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> all;
    for (const char *text :
         {"%%MatrixMarket matrix coordinate real general\n% a comment\n2 2 3\n1 1 1.5\n2 1 -2e3\n2 2 .25\n",
          "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 9007199254740993\n2 1 -4\n3 3 7\n",
          "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 0.5 -0.25\n",
          "%%MatrixMarket matrix coordinate pattern general\n2 3 4\n1 1\n1 2\n2 2\n2 3\n",
          "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 2 2\n",
          "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
          "%%MatrixMarket matrix array complex symmetric\n2 2\n1 1\n2 0\n3 -1\n"})
        for (const char reading : {'\0', '\xff'}) all.push_back(std::string(1, reading) + text);
    return all;
}
