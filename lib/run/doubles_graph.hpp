// A graph of doubles, straight from their values, without numbers of any length; and its hafnian.
#pragma once

#include "lib/number/scaled.hpp"
#include "preprocess/block.hpp"

#include <algorithm>
#include <complex>

namespace libperm {

using DoublesGraph = BlockOf<std::complex<double>>; // finite; no entry is 0
template <> inline std::complex<double> number_one<std::complex<double>>() { return 1; }

inline bool is_real(const DoublesGraph &graph) {
    return std::all_of(graph.values.begin(), graph.values.end(),
                       [](const std::complex<double> &x) { return x.imag() == 0; });
}

struct DoublesHafnian {
    Scaled re, im, error; // of the sum of the parts
};

} // namespace libperm
