// Hafnians of graphs of doubles straight from their values, without numbers of any length.
#pragma once

#include "lib/number/scaled.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/block.hpp"

#include <complex>
#include <optional>

namespace libperm {

using DoublesGraph = BlockOf<std::complex<double>>; // no entry is 0
template <> inline std::complex<double> number_one<std::complex<double>>() { return 1; }

struct DoublesHafnian {
    Scaled re, im, error; // of the sum of the parts
};

class BjorklundPlan;

// By engine `bjorklund`, with its bits: in doubles or complex numbers, or (dd) in twice their precision, then
// rounded. None where something is not finite.
std::optional<DoublesHafnian> hafnian_of_doubles(const BjorklundPlan &plan, const DoublesGraph &graph,
                                                 bool dd, RunControl &control);

} // namespace libperm
