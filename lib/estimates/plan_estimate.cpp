#include "lib/estimates/plan_estimate.hpp"

#include "lib/base/error.hpp"
#include "lib/estimates/additive.hpp"
#include "lib/estimates/nonnegative.hpp"

namespace libperm {

std::unique_ptr<const EstimatePlan> plan_estimate(const InputPattern &input, const Values &values,
                                                  const Options &options, const EstimateRequest &request,
                                                  RunControl &control) {
    const bool is_signed = some_negative(values);
    const bool of_nonnegative =
        request.method == EstimateMethod::nesting || request.method == EstimateMethod::rejection;
    if (is_signed && of_nonnegative)
        throw Error(PERM_BAD_MATRIX,
                    "some entries are negative or complex: this method is for nonnegative matrices; use "
                    "auto or glynn, whose error is additive");
    if (is_signed || request.method == EstimateMethod::glynn)
        return plan_additive(input, values, options, request, control);
    return plan_nonnegative(input, values, options, request, control);
}

} // namespace libperm
