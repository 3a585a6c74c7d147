#include "lib/frontier.hpp"

#include <algorithm>

namespace libperm {

const char *form_name(FrontierForm form) { return form == FrontierForm::sparse ? "sparse" : "dense"; }

Outcome run_frontier(FrontierForm form, const FrontierRun &run) {
    const bool nonnegative =
        std::all_of(run.block.values.begin(), run.block.values.end(),
                    [](const Tracked &x) { return is_zero(x) || x.value == x.magnitude; });
    return form == FrontierForm::sparse ? run_sparse_frontier(run, nonnegative)
                                        : run_dense_frontier(run, nonnegative);
}

} // namespace libperm
