#include "lib/block_run.hpp"

#include "lib/error.hpp"

namespace libperm {

Outcome run_block(const BlockRun &run, const ExactBlock &) {
    throw Error(PERM_UNSUPPORTED, precision_name(run.plan.numbers.precision));
}

} // namespace libperm
