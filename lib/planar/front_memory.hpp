// What fronts hold, as a call's memory is told: it grows by pivots that are delayed.
#pragma once

#include "preprocess/memory_account.hpp"

#include <cstdint>

namespace libperm {

inline double bytes_of_ball(int bits) { return 88 + bits / 8.0; }

inline void grow_to(Charge &charge, double bytes) {
    if (bytes > static_cast<double>(charge.bytes())) charge.resize(static_cast<std::int64_t>(bytes));
}

} // namespace libperm
