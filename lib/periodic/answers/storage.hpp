// How a plan's operator is stored, and what that takes: chosen for each request by predicted time.
#pragma once

#include "lib/periodic/answers/periodic_plan.hpp"

#include <cstdint>

namespace libperm {

struct PeriodicStorage {
    // A table changed in place, or the rows of a cell as factors; of joined ends for each start.
    bool is_table = false;
    double moves = 0, seconds_of_cell = 0; // of doubles (tables: of a residue), on the plan's threads
    // Written out as full matrices and squared: blocks, in how many sectors, of so many orbits at most.
    struct Squares {
        std::int64_t doubles_from = 0, dd_from = 0; // the least length; 0: not at any
        std::size_t blocks = 0, sectors = 0, largest = 0;
        double seconds_of_million = 0; // cells, in doubles
    } squares;
};

PeriodicStorage storage_of(const PeriodicPlan &plan);

} // namespace libperm
