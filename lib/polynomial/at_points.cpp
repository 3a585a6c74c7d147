#include "lib/polynomial/at_points.hpp"

#include <utility>

namespace libperm {

namespace {

// What a plan is to be told, so that it is for all points: complex values where some are, else negative ones;
// not of the first point, where something may be equal by chance.
Values typical_values(const InputPattern &input, const void *values, std::int64_t points) {
    const std::int64_t bytes =
        value_count(as_given(input)) * static_cast<std::int64_t>(size_of(input.value_type));
    Values typical;
    int most = -1;
    for (std::int64_t k = points > 1 ? 1 : 0; k < points; ++k) {
        const void *own = values ? static_cast<const char *>(values) + k * bytes : nullptr;
        Values of_point = read_values(input, own, &call().memory());
        const int kind = some_complex(of_point) ? 2 : some_negative(of_point) ? 1 : 0;
        if (kind <= most) continue;
        most = kind;
        typical = std::move(of_point);
        if (kind == 2) break;
    }
    return typical;
}

} // namespace

void AtPoints::put(InputPattern input, const void *values, std::int64_t points, std::int64_t bytes,
                   Options options, const std::string *plan) {
    points_ = points;
    bytes_ = bytes;
    options.checkpoint.clear(); // the polynomial's
    const Charge charge(&call().memory(), bytes_);
    const std::int64_t stride = value_count(as_given(input));
    const Values known = typical_values(input, values, points);
    plan_ = plan_for(std::move(input), known, options, plan);
    const BatchWays by_plan{nullptr, nullptr, idle_tapes_, false};
    task_.emplace(plan_in_blocks(plan_), by_plan, values, stride, points);
}

std::vector<Outcome> AtPoints::outcomes(PieceStore *store) const {
    const Charge charge(&call().memory(), bytes_);
    std::vector<Outcome> out;
    for (BatchAnswer &answer : task_->run(store, {})) out.push_back(std::get<Outcome>(std::move(answer)));
    return out;
}

} // namespace libperm
