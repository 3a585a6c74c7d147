// Products of linear forms in two variables: polynomials in one, the other being 1.
#pragma once

#include "lib/number/montgomery.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

// Of n forms.
double products_of_binary_forms(double n);

// Of the forms a + b x, a and b behind each other in Montgomery's form, the coefficients of 1, x, ...;
// done(count) is told of forms that have been taken, and may throw.
std::vector<std::uint64_t> product_of_binary_forms(const Montgomery &field,
                                                   const std::vector<std::uint64_t> &forms,
                                                   const std::function<void(std::size_t)> &done);

} // namespace libperm
