// A periodic matrix written out, entries that fall on one place added up.
#pragma once

#include "lib/periodic/cell/periodic_matrix.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace libperm {

struct Unrolled {
    Pattern pattern;
    std::vector<Gaussian> values;
};

inline Unrolled unrolled(const PeriodicMatrix &a, std::int64_t length) {
    const std::int64_t head = a.head.columns, inner = length * a.rows, n = head + inner + a.tail.columns;
    std::vector<std::map<std::int32_t, Gaussian>> rows(static_cast<std::size_t>(n));
    const auto add = [&](std::int64_t row, std::int64_t column, const Gaussian &value) {
        if (column < 0 || column >= n) return;
        auto [place, is_new] =
            rows[static_cast<std::size_t>(row)].try_emplace(static_cast<std::int32_t>(column), value);
        if (!is_new) place->second = place->second + value;
    };
    for (std::size_t k = 0; k < a.head.entries.size(); ++k) {
        const PeriodicEntry &e = a.head.entries[k];
        add(e.row, head + std::int64_t{e.cell} * a.rows + e.column, a.head.values[k]);
    }
    for (std::int64_t cell = 0; cell < length; ++cell)
        for (std::size_t k = 0; k < a.entries.size(); ++k) {
            const PeriodicEntry &e = a.entries[k];
            std::int64_t to = cell + e.cell;
            if (a.joined) to = (to % length + length) % length;
            add(a.head.rows + cell * a.rows + e.row, head + to * a.rows + e.column, a.values[k]);
        }
    for (std::size_t k = 0; k < a.tail.entries.size(); ++k) {
        const PeriodicEntry &e = a.tail.entries[k];
        add(a.head.rows + inner + e.row, head + (length + e.cell) * a.rows + e.column, a.tail.values[k]);
    }
    Unrolled out;
    out.pattern.rows = out.pattern.cols = static_cast<std::int32_t>(n);
    for (auto &row : rows) {
        for (auto &[column, value] : row) {
            out.pattern.col.push_back(column);
            out.values.push_back(std::move(value));
        }
        out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
    }
    return out;
}

} // namespace libperm
