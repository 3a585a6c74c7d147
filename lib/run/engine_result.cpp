#include "lib/run/engine_result.hpp"

#include <algorithm>

namespace libperm {

Counts &Counts::operator+=(const Counts &other) {
    subsets += other.subsets;
    states += other.states;
    peak_states = std::max(peak_states, other.peak_states);
    operations += other.operations;
    peak_bytes = std::max(peak_bytes, other.peak_bytes);
    seconds_compile += other.seconds_compile;
    kernels_compiled += other.kernels_compiled;
    slices += other.slices;
    return *this;
}

} // namespace libperm
