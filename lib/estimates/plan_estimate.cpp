#include "lib/estimates/plan_estimate.hpp"

#include "lib/base/error.hpp"
#include "lib/bounds/line_signs.hpp"
#include "lib/estimates/additive.hpp"
#include "lib/estimates/nonnegative.hpp"
#include "lib/plan/plan.hpp"

#include <cmath>

namespace libperm {
namespace {

// Of real ones.
Values absolute(Values values) {
    for (double &x : values.real) x = std::fabs(x);
    for (Gaussian &x : values.wide) x.re = abs(x.re);
    return values;
}

// That all terms have; 0: they have no common one, or nobody sees it.
int sign_of_terms(const InputPattern &input, const Values &values, RunControl &control) {
    if (!some_negative(values)) return 1;
    return some_complex(values) ? 0 : sign_by_lines(root_block<Tracked>(input, values, control));
}

} // namespace

std::unique_ptr<const EstimatePlan> plan_estimate(const InputPattern &input, const Values &values,
                                                  const Options &options, const EstimateRequest &request,
                                                  RunControl &control) {
    const int sign = request.method == EstimateMethod::glynn ? 0 : sign_of_terms(input, values, control);
    const bool of_nonnegative =
        request.method == EstimateMethod::nesting || request.method == EstimateMethod::rejection;
    if (sign == 0 && of_nonnegative)
        throw Error(
            PERM_BAD_MATRIX,
            "some entries are negative or complex: this method is for nonnegative matrices, and those "
            "that signs of rows and columns make nonnegative; use auto or glynn, whose error is "
            "additive");
    if (sign == 0) return plan_additive(input, values, options, request, control);
    return plan_nonnegative(input, absolute(values), sign, options, request, control);
}

} // namespace libperm
