#include "lib/frontier.hpp"

#include <algorithm>

namespace libperm {

const char *form_name(FrontierForm form) { return form == FrontierForm::sparse ? "sparse" : "dense"; }

bool is_nonnegative(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return is_zero(x) || x.value == x.magnitude; });
}

Outcome run_frontier(FrontierForm form, const FrontierRun &run) {
    return form == FrontierForm::sparse ? run_sparse_frontier(run, is_nonnegative(run.block))
                                        : run_dense_frontier(run, is_nonnegative(run.block));
}

} // namespace libperm
