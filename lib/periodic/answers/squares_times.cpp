#include "lib/periodic/answers/squares_times.hpp"

#include "lib/periodic/period/sectors.hpp"
#include "lib/periodic/power/dense_matrix.hpp"
#include "lib/periodic/power/power_steps.hpp"

#include <algorithm>

namespace libperm {

double squares_seconds(const PeriodicPlan &plan, std::int64_t m, bool complex, bool dd) {
    const double of_move = (dd ? 6e-9 : 1e-9) * (complex ? 3 : 1),
                 products = static_cast<double>(
                     products_to(static_cast<std::uint64_t>(std::max<std::int64_t>(m, 1))));
    double seconds = 0;
    const auto take = [&](const PeriodBlock &block) {
        const auto n = static_cast<double>(block.states);
        const double one = sector_products(block);
        seconds += products * product_seconds(one, complex, dd) + n * moves_of(block.levels) * of_move;
        if (!plan.nonnegative) // of one sector, in doubles
            seconds += products * product_seconds(one / static_cast<double>(sectors_in(block)), false, false);
    };
    if (!plan.joined()) take(plan.open.period);
    for (const PeriodBlock &block : plan.loops)
        if (block.alike > 0) take(block);
    return seconds;
}

DeviceWork squares_device_work(const PeriodicPlan &plan, std::int64_t m, bool complex) {
    constexpr double of_multiplication = 0.1e-12, of_byte = 0.2e-9, matrices = 8;
    double largest = 0, multiplications = 0, bytes = 0;
    const auto products =
        static_cast<double>(products_to(static_cast<std::uint64_t>(std::max<std::int64_t>(m, 1))));
    const auto take = [&](const PeriodBlock &block) {
        const double n = static_cast<double>(block.states) / static_cast<double>(sectors_in(block));
        largest = std::max(largest, n * n);
        multiplications += products * sector_products(block) * (complex ? 4 : 1);
        bytes += 3 * 8 * n * n * static_cast<double>(sectors_in(block)) * (complex ? 2 : 1);
    };
    if (!plan.joined()) take(plan.open.period);
    for (const PeriodBlock &block : plan.loops)
        if (block.alike > 0) take(block);
    return {squares_seconds(plan, m, complex, false), matrices * 8 * largest * (complex ? 2 : 1),
            multiplications * of_multiplication + bytes * of_byte};
}

} // namespace libperm
