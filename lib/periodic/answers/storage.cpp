#include "lib/periodic/answers/storage.hpp"

#include "lib/periodic/answers/float_terms.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/periodic/answers/squares_times.hpp"
#include "lib/periodic/period/sectors.hpp"

#include <algorithm>

namespace libperm {

PeriodicStorage storage_of(const PeriodicPlan &plan) {
    PeriodicStorage out;
    const double threads = plan.options.threads;
    const std::int64_t begin = plan.first_term() + 1;
    out.moves = plan.moves();
    if (plan.tables) {
        out.is_table = true;
        out.seconds_of_cell = exact_seconds(plan, begin, 1, 0) / static_cast<double>(begin) / threads;
        return out;
    }
    out.seconds_of_cell = float_seconds(plan, begin, 1, false) / threads;
    PeriodicStorage::Squares &squares = out.squares;
    squares.doubles_from = squared_from(plan, false);
    squares.dd_from = squared_from(plan, true);
    if (squares.doubles_from == 0) return out;
    constexpr std::int64_t million = 1000000;
    squares.seconds_of_million = squares_seconds(plan, million, !plan.real, false) / threads;
    const auto add = [&](const PeriodBlock &block) {
        ++squares.blocks;
        for (const Sector &sector : sectors_of(block)) {
            squares.sectors += sector.size() > 0;
            squares.largest = std::max(squares.largest, sector.size());
        }
    };
    if (!plan.joined()) add(plan.open.period);
    for (const PeriodBlock &block : plan.loops)
        if (block.alike > 0) add(block);
    return out;
}

} // namespace libperm
