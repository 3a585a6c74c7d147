// Small random matrices of every kind: sparse and dense, of one sign and of both, integer and not, with
// explicit zeros, empty rows and structural deficiency, columns in any order.
#pragma once

#include "bench/families.hpp"

perm::Csr random_matrix(std::int64_t n, perm::families::Random &random);
