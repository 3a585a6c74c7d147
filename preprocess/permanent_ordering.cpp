#include "preprocess/permanent_ordering.hpp"

#include <algorithm>
#include <cmath>
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

double resident_threads(int registers) {
    constexpr int most_registers = 255, unit = 8, warp = 32;
    constexpr int parts = 4, registers_of_part = 65536 / parts, most_threads = 2048;
    const int wanted = registers + registers_beside_x;
    if (wanted > most_registers) return 0;
    const int given = (wanted + unit - 1) / unit * unit;
    return std::min(registers_of_part / (given * warp) * warp * parts, most_threads);
}

Partition partition(const Pattern &at, const PartitionOptions &options) {
    const std::int32_t n = at.cols;
    Partition best;
    best.score.reserve(static_cast<std::size_t>(at.rows));
    double best_score = 0;
    std::int32_t rows = 0; // touched by the columns so far
    for (std::int32_t j = 0; j < at.rows; ++j) {
        const auto column = at.row(j);
        if (!column.empty()) rows = std::max(rows, column.back() + 1);
        const int registers = 2 * rows;                  // x is double, a register has 32 bits
        const double beyond = std::ldexp(1.0, -(j + 1)); // share of the steps that flip a later column
        const double cost = registers * (1 - beyond) + (n - rows) * beyond * options.global_to_register;
        const double score = options.threads(registers) / cost;
        best.score.push_back(score);
        // A column that needs no further row is taken even when that lowers the score to beat (line 14).
        if (score > best_score || rows == best.k) {
            best_score = score;
            best.k = rows;
            best.c = j + 1;
        }
    }
    return best;
}

} // namespace libperm
