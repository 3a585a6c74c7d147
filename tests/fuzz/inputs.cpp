#include "tests/fuzz/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fuzz {

Matrix::Matrix(Bytes &bytes) {
    const std::int64_t rows = bytes.integer(0, 8), cols = bytes.chance(200) ? rows : bytes.integer(0, 9);
    const auto type = static_cast<std::int32_t>(bytes.integer(0, 4));
    const unsigned density = static_cast<unsigned>(bytes.bits(1)) + 1;
    constexpr const char *words[] = {"1",         "-12",       "0.1",   "1/3", "6.02e23",
                                     "0.5 -0.25", "-7/2 1e-5", "1e400", "0",   "x"};
    const std::int64_t count = bytes.chance(250) ? rows : bytes.integer(-1, 12);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            if (!bytes.chance(density)) continue;
            col_idx.push_back(bytes.chance(255) ? j : bytes.integer(-2, 12));
            if (type == PERM_VALUE_F64 || type == PERM_VALUE_C128) doubles.push_back(bytes.number());
            if (type == PERM_VALUE_C128) doubles.push_back(bytes.number());
            if (type == PERM_VALUE_I64)
                integers.push_back(static_cast<std::int64_t>(bytes.bits(bytes.chance(200) ? 1 : 8)));
            if (type == PERM_VALUE_TEXT) texts.emplace_back(bytes.one_of(words));
        }
        row_ptr.push_back(bytes.chance(254) ? static_cast<std::int64_t>(col_idx.size())
                                            : bytes.integer(-1, 70));
    }
    // The arrays that row_ptr speaks of are there, whatever it says; and weights behind the values.
    constexpr std::size_t there = 120;
    const auto nnz = static_cast<std::int64_t>(col_idx.size());
    col_idx.resize(there);
    doubles.resize(2 * there);
    integers.resize(there);
    texts.resize(there, "1");
    row_ptr.resize(16, nnz);
    for (const std::string &text : texts) text_pointers.push_back(text.c_str());
    for (const std::int64_t x : row_ptr) row_ptr_32.push_back(static_cast<std::int32_t>(x));
    for (const std::int64_t x : col_idx) col_idx_32.push_back(static_cast<std::int32_t>(x));
    csr.n_rows = count;
    csr.n_cols = cols;
    csr.nnz = bytes.chance(254) ? nnz : bytes.integer(-1, 70);
    csr.index_type = bytes.chance(128) ? PERM_INDEX_I64 : PERM_INDEX_I32;
    csr.value_type = bytes.chance(254) ? type : static_cast<std::int32_t>(bytes.integer(5, 9));
    const bool is_wide = csr.index_type == PERM_INDEX_I64;
    csr.row_ptr = is_wide ? static_cast<const void *>(row_ptr.data()) : row_ptr_32.data();
    csr.col_idx = is_wide ? static_cast<const void *>(col_idx.data()) : col_idx_32.data();
    switch (csr.value_type) {
    case PERM_VALUE_F64:
    case PERM_VALUE_C128:
        csr.values = doubles.data();
        break;
    case PERM_VALUE_I64:
        csr.values = integers.data();
        break;
    case PERM_VALUE_TEXT:
        csr.values = text_pointers.data();
        break;
    default:
        break;
    }
    multiply(bytes);
    if (bytes.chance(60)) weigh(bytes, static_cast<std::size_t>(nnz));
}

// As a plan is given them: behind the values.
void Matrix::weigh(Bytes &bytes, std::size_t nnz) {
    const std::size_t each = csr.value_type == PERM_VALUE_C128 ? 16 : 8;
    for (std::size_t k = nnz * each / 8; k < doubles.size(); ++k) doubles[k] = bytes.number();
    for (std::size_t k = nnz; k < integers.size(); ++k) integers[k] = bytes.integer(-3, 9);
    const char *at = static_cast<const char *>(csr.values ? csr.values : doubles.data()) + nnz * each;
    if (bytes.chance(170)) {
        csr.row_unmatched = at;
        at += each * static_cast<std::size_t>(std::max<std::int64_t>(csr.n_rows, 0));
    }
    if (bytes.chance(170)) csr.col_unmatched = at;
}

void Matrix::multiply(Bytes &bytes) {
    if (!bytes.chance(40)) return;
    const auto multiplicities = [&](std::vector<std::int64_t> &to) {
        for (int k = 0; k < 16; ++k)
            to.push_back(bytes.chance(252) ? bytes.integer(0, 3) : bytes.integer(-1, 40));
        return to.data();
    };
    if (bytes.chance(200)) csr.row_multiplicity = multiplicities(row_multiplicity);
    if (bytes.chance(200)) csr.col_multiplicity = multiplicities(col_multiplicity);
}

perm_opts limited() {
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = 1;
    opts.cache_dir = "";
    opts.device = "cpu";
    opts.time_limit_seconds = 1;
    opts.memory_limit_bytes = 256 << 20;
    return opts;
}

perm_opts options(Bytes &bytes) {
    constexpr const char *engines[] = {"auto", nullptr, "ryser", "frontier", "tree", "hybrid", "none"};
    constexpr const char *precisions[] = {nullptr, "auto",  "double",   "kahan", "dq",
                                          "dd",    "exact", "mpfr:100", "mpfr:x"};
    constexpr const char *without[] = {nullptr,          "", "all", "merge", "scaling", "dm,d1",
                                       "d2,fm,matching", "x"};
    constexpr double tolerances[] = {0, 1e-3, 1e-15, 1e-16, 1e-40, -1};
    perm_opts opts = limited();
    opts.engine = bytes.one_of(engines);
    opts.precision = bytes.one_of(precisions);
    opts.without = bytes.one_of(without);
    opts.tolerance = bytes.one_of(tolerances);
    if (bytes.chance(30)) opts.decompose = "paper";
    opts.seed = bytes.bits(1);
    return opts;
}

Band::Band() {
    constexpr std::int64_t n = 9;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            if (std::abs(i - j) > 2) continue;
            col_idx.push_back(j);
            values.push_back(static_cast<double>((7 * i + 5 * j) % 11 - 4) / 3 + 0.1);
        }
        row_ptr.push_back(static_cast<std::int64_t>(col_idx.size()));
    }
    csr.n_rows = csr.n_cols = n;
    csr.nnz = static_cast<std::int64_t>(col_idx.size());
    csr.row_ptr = row_ptr.data();
    csr.col_idx = col_idx.data();
    csr.values = values.data();
}

void check_call(perm_status status, perm_result &result) {
    if (status == PERM_INTERNAL) fail(perm_last_error());
    if (status == PERM_OK) {
        require(result.text != nullptr, "no text");
        require(result.rel_error_bound >= 0 && result.abs_error_bound >= 0, "a bound that is none");
        require((result.exact != 0) == (result.rel_error_bound == 0), "exact, or a bound of 0, but not both");
    } else {
        require(result.text == nullptr && result.re == 0, "a result that is not cleared");
        require(*perm_last_error() != '\0',
                ("no text of what went wrong: " + std::to_string(status)).c_str());
    }
    perm_result_clear(&result);
}

} // namespace fuzz
