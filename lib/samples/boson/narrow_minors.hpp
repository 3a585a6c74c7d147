// The permanents of a sparse matrix with one column more than rows, without each column in turn, by its
// frontier:
//
//   minor(l) = sum over s of F_l(s) B_l(s),
//
// s a set of rows, F_l(s) the permanent of these and the columns before l, B_l(s) that of the other rows and
// the columns behind l. Only rows that are open, met on both sides, have a choice, and how many of them are
// taken is known: F and B are tables of such subsets in colexicographic order, the row that opened last
// deciding first. By an entry runs of numbers that follow each other are added to others that do, so that no
// state is looked for, and no plan written down.
#pragma once

#include "preprocess/limits.hpp"

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

struct NarrowMatrix {
    using Value = std::complex<double>;
    static constexpr std::size_t most_rows = 63;

    std::vector<std::uint8_t> rows; // with an entry in a column, one column after the other
    std::vector<Value> entries;
    std::vector<std::size_t> ends; // of the columns, among them

    void clear();
    std::size_t columns() const { return ends.size(); }
    std::size_t first(std::size_t column) const { return column == 0 ? 0 : ends[column - 1]; }
};

class NarrowMinors {
  public:
    using Value = NarrowMatrix::Value;

    explicit NarrowMinors(MemoryAccount &account) : charge_(&account) {}

    // Which rows are open where: first of all. The matrix stays.
    void look(const NarrowMatrix &a);

    // Multiplications by an entry that the minors of what was looked at take, and numbers that are kept.
    double multiplications() const { return multiplications_; }
    double states() const { return states_; }

    // Computes the minor without each column. Throws what the account and polling do.
    void run(std::span<Value> minors);

  private:
    struct Column {
        std::vector<std::uint8_t> open; // rows: before it, then those that it opens
        int before = 0;                 // how many were before it
        int taken = 0;                  // of these
        std::vector<int> closing;       // places among the open ones, the last one first

        int width() const { return static_cast<int>(open.size()); }
        int behind() const { return width() - static_cast<int>(closing.size()); }
    };
    template <class Added>
    void add_entries(std::size_t column, int taken, const Value *s, Value *t, PolledSteps &steps) const;
    Value *room(std::vector<Value> &values, std::size_t size);
    std::size_t most_wide() const;

    const NarrowMatrix *a_ = nullptr;
    std::vector<Column> columns_;
    double multiplications_ = 0, states_ = 0;
    std::vector<std::vector<Value>> before_; // F of each column
    std::vector<Value> behind_, wide_, spare_;
    Charge charge_;
};

} // namespace libperm
