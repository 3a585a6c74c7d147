// An estimate, made and printed: by `perm estimate`, and by `perm compute --or-estimate`.
#pragma once

#include "job.hpp"

#include <string>

namespace perm {

// `refusal`: why it is no computation; "" where none was asked for.
void write_estimate(const Options &options, const Input &input, const perm_opts &opts, const Stopwatch &watch,
                    const std::string &refusal);

} // namespace perm
