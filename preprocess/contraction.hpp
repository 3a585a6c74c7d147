// Taking rows and columns out of a matrix, the step that compression and decomposition are made of.
//
// A row r that has only the entries a in column p and b in column q goes, and p and q become one column
// a col(q) + b col(p): the second matrix of Forbert and Marx's expansion (SUperman, Eq. 6). The same with
// rows and columns exchanged.
#pragma once

#include "preprocess/block.hpp"

#include <utility>

namespace libperm {

struct Line {
    bool is_column = false;
    std::int32_t index = -1;
    friend bool operator==(const Line &, const Line &) = default;
};

template <class Value> struct EntryOf {
    std::int32_t other = -1; // the column of an entry of a row; the row of an entry of a column
    Value value;
};

template <class Value> class Contraction {
  public:
    using Entry = EntryOf<Value>;

    explicit Contraction(const BlockOf<Value> &block);

    std::int32_t order() const { return order_; }
    bool is_there(Line line) const;
    std::int32_t degree(Line line) const;
    std::vector<Entry> entries(Line line) const; // ascending

    // Takes out the line and the one that crosses it at `other`. Their entry is the factor returned.
    Value remove(Line line, std::int32_t other);

    // Takes out the line and merges the lines that cross it at `first` and `second` into `first`. Other
    // entries of the line count as 0.
    void contract(Line line, std::int32_t first, std::int32_t second);

    // Lines whose degree has changed since the last call.
    std::vector<Line> take_changed() { return std::exchange(changed_, {}); }
    double work() const { return work_; } // done so far, in entries moved

    BlockOf<Value> block() const; // what is left, lines in their old order

  private:
    std::vector<Entry> &row(std::int32_t i) { return rows_[static_cast<std::size_t>(i)]; }
    std::vector<std::int32_t> &column(std::int32_t j) { return columns_[static_cast<std::size_t>(j)]; }
    const Value &value(std::int32_t i, std::int32_t j) const;
    void erase_from_row(std::int32_t i, std::int32_t j);
    void erase_from_column(std::int32_t j, std::int32_t i);
    void drop_row(std::int32_t i);
    void drop_column(std::int32_t j);
    void merge_columns(std::int32_t p, const Value &times_p, std::int32_t q, const Value &times_q);
    void merge_rows(std::int32_t p, const Value &times_p, std::int32_t q, const Value &times_q);

    std::int32_t order_;
    std::vector<std::vector<Entry>> rows_;
    std::vector<std::vector<std::int32_t>> columns_; // rows, ascending
    std::vector<char> row_is_there_, column_is_there_;
    std::vector<Line> changed_;
    double work_ = 0;
};

} // namespace libperm
