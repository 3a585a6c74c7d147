// The numbers of matchings where rows are nested, each in the next, and each has one number for all of its
// entries: a Ferrers board (Goldman, Joichi and White, Rook theory I, 1975). k - 1 rooks of the rows before
// stand in columns of this one, which leave it b_i - k + 1.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "lib/run/call.hpp"
#include "preprocess/pattern.hpp"

#include <gmpxx.h>
#include <optional>
#include <vector>

namespace libperm {

// The numbers for k = 0 to count - 1; none where it is no such board.
std::optional<std::vector<mpz_class>> ferrers_numbers(const Pattern &a, const std::vector<mpz_class> &values,
                                                      const LineCounts &row_count,
                                                      const LineCounts &column_count, std::size_t count);

// The sum over all matchings, where each row has the same weight of staying unmatched, and each column;
// none where it is no such board.
std::optional<mpq_class> ferrers_sum(const InputPattern &given, const Values &values,
                                     const LineCounts &row_count, const LineCounts &column_count);

} // namespace libperm
