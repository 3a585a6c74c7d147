// A background u v^T of most entries: J - I, matrices with few zeros, what few positions forbid; or several,
// by classes of lines.
#pragma once

#include "lib/structure/structure.hpp"
#include "preprocess/block.hpp"
#include "preprocess/index.hpp"
#include "preprocess/limits.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Whether two of a few rows of n residues each may be of one background.
bool has_alike_rows(const std::vector<std::uint64_t> &residues, std::int32_t n);

// None (no rows beside it) where more than a quarter of the entries are not of it. `residues`: all of the
// block's, by row (find_structure.hpp).
template <class Value>
Background find_background(const BlockOf<Value> &block, const std::vector<std::uint64_t> &residues);

// u, v and C of a background, by the rule that says which entries they follow from.

template <class Number> struct BackgroundLines {
    std::vector<Number> u, v;
    std::vector<Number> classes; // C, by row

    const Number &of_classes(const Background &of, std::int32_t i, std::int32_t j) const {
        return classes[at(of.row_class[at(i)]) * of.base_cols.size() + at(of.col_class[at(j)])];
    }
};

// `quotient(x, y, z)` is x / (y z); what no entry says is 0.
template <class Number, class Entry, class Quotient>
BackgroundLines<Number> background_lines(const Background &of, const Entry &entry, const Quotient &quotient,
                                         const Number &one) {
    const auto n = static_cast<std::int32_t>(of.col_of_row.size());
    BackgroundLines<Number> lines{std::vector<Number>(at(n)), std::vector<Number>(at(n)), {}};
    std::vector<Number> &u = lines.u, &v = lines.v;
    std::vector<char> has_u(at(n)), has_v(at(n));
    for (const std::int32_t i : of.base_rows) {
        u[at(i)] = one;
        has_u[at(i)] = 1;
        for (const std::int32_t j : of.base_cols) lines.classes.push_back(entry(i, j));
    }
    for (const std::int32_t j : of.base_cols) {
        v[at(j)] = one;
        has_v[at(j)] = 1;
    }
    const auto columns = [&] {
        for (std::int32_t j = 0; j < n; ++j) {
            const std::int32_t i = of.row_of_col[at(j)];
            if (i < 0 || has_v[at(j)] || !has_u[at(i)]) continue;
            v[at(j)] = quotient(entry(i, j), u[at(i)], lines.of_classes(of, i, j));
            has_v[at(j)] = 1;
        }
    };
    const auto rows = [&] {
        for (std::int32_t i = 0; i < n; ++i) {
            const std::int32_t j = of.col_of_row[at(i)];
            if (j < 0 || has_u[at(i)] || !has_v[at(j)]) continue;
            u[at(i)] = quotient(entry(i, j), v[at(j)], lines.of_classes(of, i, j));
            has_u[at(i)] = 1;
        }
    };
    columns(); // of the base rows
    rows();
    columns(); // of others
    rows();
    return lines;
}

} // namespace libperm
