// A row of the dense frontier as its kernel takes it: which block takes from which, and which place in it
// from which (jit/device/frontier_dense.cuh). The tables are those of lib/frontier/layout.hpp, but with
// blocks of equally many high slots side by side, so that a block's place follows from its rank and no list
// of all blocks has to be made for every row.
#pragma once

#include "jit/kernel/frontier_dense.hpp"
#include "lib/frontier/layout.hpp"
#include "preprocess/frontier_program.hpp"

#include <vector>

namespace libperm {

RowShape shape_of(const FrontierStep &step); // of just this row

class DenseRowMaker {
  public:
    // The program's next step, the first high entries of which make the blocks of a cube: so many at most.
    // The addresses and coefficients in row() are left for the caller.
    void advance(const FrontierStep &step, int most_cube);

    const DenseRow &row() const { return row_; }
    const std::vector<DenseHighSet> &high() const { return high_; }
    const std::vector<std::uint16_t> &places() const { return places_; }

  private:
    void describe_tables(const FrontierStep &step);
    void find_places(const FrontierStep &step);
    void find_cubes(const FrontierStep &step, int most_cube);

    SlotSet old_open_ = 0, new_open_ = 0, opening_ = 0, closing_ = 0;
    LowSets old_low_, new_low_;
    DenseRow row_{};
    std::vector<DenseHighSet> high_;
    std::vector<std::uint16_t> places_;
};

} // namespace libperm
