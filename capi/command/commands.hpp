// The subcommands. Each prints its answer and returns, or throws.
#pragma once

#include "options.hpp"

namespace perm {

void run_compute(const Options &options);
void run_explain(const Options &options);
void run_info(bool json);

} // namespace perm
