#include "preprocess/permanent_ordering.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace libperm {
namespace {

std::size_t at_index(std::int64_t i) { return static_cast<std::size_t>(i); }

} // namespace

Ordering permanent_ordering(const Pattern &a, const Pattern &at) {
    constexpr std::int32_t placed = std::numeric_limits<std::int32_t>::max();
    std::vector<std::int32_t> unplaced_rows(at_index(a.cols)); // of each column: cdeg in the paper
    for (std::int32_t j = 0; j < a.cols; ++j)
        unplaced_rows[at_index(j)] = static_cast<std::int32_t>(at.row(j).size());
    std::vector<bool> row_placed(at_index(a.rows), false);
    Ordering order;
    order.rows.reserve(at_index(a.rows));
    order.cols.reserve(at_index(a.cols));
    while (order.cols.size() < at_index(a.cols)) {
        const auto least = std::min_element(unplaced_rows.begin(), unplaced_rows.end());
        const auto col = static_cast<std::int32_t>(least - unplaced_rows.begin());
        order.cols.push_back(col);
        *least = placed;
        for (const std::int32_t i : at.row(col)) {
            if (row_placed[at_index(i)]) continue;
            row_placed[at_index(i)] = true;
            order.rows.push_back(i);
            for (const std::int32_t j : a.row(i))
                if (unplaced_rows[at_index(j)] != placed) --unplaced_rows[at_index(j)];
        }
    }
    for (std::int32_t i = 0; i < a.rows; ++i)
        if (!row_placed[at_index(i)]) order.rows.push_back(i);
    return order;
}

Reordered reorder(const Pattern &a, const Ordering &order) {
    std::vector<std::int32_t> place(order.cols.size());
    for (std::size_t c = 0; c < order.cols.size(); ++c)
        place[at_index(order.cols[c])] = static_cast<std::int32_t>(c);
    Reordered b;
    b.pattern.rows = a.rows;
    b.pattern.cols = a.cols;
    b.pattern.row_ptr.reserve(a.row_ptr.size());
    b.pattern.col.reserve(a.col.size());
    b.source.reserve(a.col.size());
    std::vector<std::pair<std::int32_t, std::int64_t>> row; // new column, entry of A
    for (const std::int32_t i : order.rows) {
        row.clear();
        std::int64_t entry = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) row.emplace_back(place[at_index(j)], entry++);
        std::sort(row.begin(), row.end());
        for (const auto &[j, source] : row) {
            b.pattern.col.push_back(j);
            b.source.push_back(source);
        }
        b.pattern.row_ptr.push_back(static_cast<std::int64_t>(b.pattern.col.size()));
    }
    return b;
}

} // namespace libperm
