// What both ways to sum Nijenhuis and Wilf's formula share.
#pragma once

#include "lib/number/double_double.hpp"
#include "lib/run/input_error.hpp"
#include "lib/run/pieces.hpp"

#include <vector>

namespace libperm {

struct Partial {
    DoubleDouble sum;
    double absolute = 0; // the same, of the terms' absolute values
};

// In the order of the pieces, whoever ran them. `subsets`: of all of them.
template <class Sum>
Partial add_pieces(const Sum &sum, std::uint64_t pieces, double subsets, RunControl &control) {
    const auto run = [&](std::uint64_t k) { return sum.run_piece(k, control); };
    const std::vector<Partial> partials = parts_of_pieces(
        control, pieces, subsets / static_cast<double>(pieces), Partial{}, each_on_its_thread(control, run));
    Partial total;
    for (const Partial &partial : partials) {
        total.sum = total.sum + partial.sum;
        total.absolute += partial.absolute;
    }
    return total;
}

} // namespace libperm
