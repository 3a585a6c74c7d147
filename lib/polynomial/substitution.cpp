#include "lib/polynomial/substitution.hpp"

#include "lib/base/error.hpp"
#include "lib/saved/bytes.hpp"

#include <utility>

namespace libperm {

Plan plan_for(InputPattern input, const Values &values, const Options &options, RunControl &control,
              const std::string *plan) {
    if (!plan) return make_plan(std::move(input), options, values, control);
    Plan saved = plan_of(*plan, options);
    if (difference(saved.input, input))
        throw Error(PERM_BAD_ARGUMENT, "the plan that this was begun with is of another matrix: begin anew");
    return saved;
}

} // namespace libperm
