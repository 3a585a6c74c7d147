// An estimate made, and printed: of `perm estimate`, `perm compute --or-estimate` and `perm combine`.
#pragma once

#include "options.hpp"

#include <perm.hpp>

#include <string>

namespace perm {

// As the options say.
perm_estimate_opts wanted_estimate(const Options &options);

// With progress, which shows the interval as it closes.
perm_estimated make_estimate(const Options &options, const perm_csr &a, perm_opts opts);

// Of a matrix of that shape. `refusal`: why it is no computation; "" where none was asked for.
void write_estimate(const Options &options, const perm_estimated &found, const perm_csr &a, double seconds,
                    const std::string &refusal = "");

// What is known so far: "; between 1.2e+30 and 1.3e+30", or nothing yet.
std::string interval_so_far(const perm_estimated &found);

} // namespace perm
