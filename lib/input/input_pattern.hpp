// The caller's matrix, as the library has it: its entries, square, and where their values come from.
#pragma once

#include "preprocess/pattern.hpp"

#include <perm.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace libperm {

struct InputPattern {
    Pattern pattern; // square, columns ascending in each row
    // Entry k of `pattern` was the caller's source[k], or that of `written`; empty: k itself. -1: a 1 that
    // was added.
    std::vector<std::int64_t> source;
    std::shared_ptr<const InputPattern>
        written; // as the caller did, if lines were repeated, left out or added
    perm_value_type value_type = PERM_VALUE_F64;
    // The caller's weights of leaving a row, a column unmatched stand behind the values of the entries.
    bool row_weights = false, col_weights = false;
    // The last rows, or the last columns: equal, and added for lines that stay unmatched
    // (lib/input/written_out.hpp). The permanent is that of the whole over the factorial of their number.
    std::int32_t free_rows = 0, free_columns = 0;
    bool repeats = false;    // some rows or columns are copies of each other
    bool multiplied = false; // multiplicities were given

    std::int32_t free_lines() const { return free_rows + free_columns; }
};

// Before lines were repeated, left out or added.
inline const InputPattern &as_given(const InputPattern &input) {
    return input.written ? *input.written : input;
}

// The matrix as the caller gave it holds so many entries and weights.
inline std::int64_t value_count(const InputPattern &given) {
    return given.pattern.nnz() + (given.row_weights ? given.pattern.rows : 0) +
           (given.col_weights ? given.pattern.cols : 0);
}

} // namespace libperm
