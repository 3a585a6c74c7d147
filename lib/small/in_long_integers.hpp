// The sum over signs of integers in as many words as it takes: exact.
#pragma once

#include "lib/small/dense_matrix.hpp"

#include <gmpxx.h>

namespace libperm {

mpz_class sum_in_long_integers(const DenseMatrix &a, int threads); // which `is_whole`

} // namespace libperm
