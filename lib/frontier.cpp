#include "lib/frontier.hpp"

#include <algorithm>

namespace libperm {

const char *form_name(FrontierForm form) { return form == FrontierForm::sparse ? "sparse" : "dense"; }

Outcome run_frontier(FrontierForm form, const FrontierRun &run) {
    const bool nonnegative =
        std::none_of(run.values.begin(), run.values.end(), [](double x) { return x < 0; });
    return form == FrontierForm::sparse ? run_sparse_frontier(run, nonnegative)
                                        : run_dense_frontier(run, nonnegative);
}

} // namespace libperm
