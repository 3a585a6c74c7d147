// What the straight-line code of a tree's lowest columns takes, counted without writing it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

// A set of rows or columns, by bits: at most 64 of each.
using LineSet = std::uint64_t;

// f(k) for the k of a set, ascending.
template <class F> void for_each(LineSet set, F f) {
    for (; set != 0; set &= set - 1) f(std::countr_zero(set));
}

// Its instructions, the very number that jit/program/tree_program.hpp makes; and about how many values it
// keeps at once beside the row sums.
struct LeafWork {
    double operations = 0, values = 0;
};

// The rows of some columns, for the code of the lowest of them.
class LeafRows {
  public:
    static constexpr int most_columns = 16;
    using Key = std::uint32_t; // the columns of a row: the lower, the higher its bit

    explicit LeafRows(std::span<const LineSet> columns); // rows of each; the first changes most often

    // Of the first `count` columns. What is past `most` in one or the other need not be counted to its end.
    LeafWork work(int count, const LeafWork &most) const;
    // The versions of all rows' sums: of the instructions, a part that is soon counted.
    double row_sums(int count) const { return row_sums_[static_cast<std::size_t>(count)]; }
    std::size_t size() const { return count_; }

  private:
    std::array<Key, 64> keys_{}; // ascending
    std::size_t count_ = 0;
    std::array<double, most_columns + 1> row_sums_{};
};

LeafWork leaf_work(const std::vector<LineSet> &columns); // at most 16

} // namespace libperm
