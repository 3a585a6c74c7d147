#include "lib/structure/row_classes.hpp"

#include "preprocess/index.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr std::int32_t guesses = 5;     // at a column in which a row is not changed
constexpr std::int32_t least_alike = 2; // rows that differ at more than one column in two are no multiples
constexpr std::int32_t sampled_rows = 32, most_tried = 8;

using Row = std::span<const std::uint64_t>;

// y is x times y_col / x_col but at so many columns.
struct Proportion {
    std::int32_t col = -1, differences;
};

// Counted up to `most`; one more if neither is often not 0.
std::int32_t differences_at(const Montgomery &field, Row x, Row y, std::int32_t col, std::int32_t most,
                            std::int32_t one_in) {
    std::int32_t count = 0, either = 0;
    for (std::size_t j = 0; j < x.size() && count <= most; ++j) {
        either += (x[j] | y[j]) != 0;
        count += field.multiply(x[j], y[at(col)]) != field.multiply(y[j], x[at(col)]);
    }
    return one_in * count <= either ? count : most + 1;
}

// No column: they are not alike.
Proportion proportion(const Montgomery &field, Row x, Row y, std::int32_t first, std::int32_t one_in) {
    constexpr std::int32_t enough = 8;
    const auto n = static_cast<std::int32_t>(x.size());
    Proportion best{-1, n / one_in + 1};
    for (std::int32_t guess = 0; guess < guesses; ++guess) {
        const std::int32_t col = (first + guess * (n / guesses)) % n;
        if (x[at(col)] == 0 || y[at(col)] == 0) continue;
        const std::int32_t count = differences_at(field, x, y, col, best.differences - 1, one_in);
        if (count < best.differences) best = {col, count};
        if (best.col >= 0 && enough * best.differences <= n) break;
    }
    return best;
}

} // namespace

std::vector<std::int32_t> RowClasses::rows_of(std::int32_t a) const {
    std::vector<std::int32_t> rows;
    for (std::int32_t i = 0; i < std::ssize(of_row); ++i)
        if (of_row[at(i)] == a) rows.push_back(i);
    return rows;
}

std::vector<std::int32_t> class_bases(const Montgomery &field, const ResidueRows &a, const Likeness &by) {
    struct Tried {
        std::int32_t row, alike = 0;
    };
    std::vector<Tried> tried;
    const std::int32_t rows = std::min(a.count(), sampled_rows);
    for (std::int32_t k = 0; k < rows; ++k) {
        const auto i = static_cast<std::int32_t>(std::int64_t{k} * a.count() / rows);
        const auto base = std::find_if(tried.begin(), tried.end(), [&](const Tried &other) {
            return proportion(field, a.row(other.row), a.row(i), i, by.one_in).col >= 0;
        });
        if (base != tried.end())
            ++base->alike;
        else if (std::ssize(tried) < most_tried)
            tried.push_back({i});
    }
    std::erase_if(tried, [](const Tried &t) { return t.alike == 0; });
    std::ranges::stable_sort(tried, std::greater(), &Tried::alike);
    if (std::ssize(tried) > by.classes) tried.resize(at(by.classes));
    std::vector<std::int32_t> bases;
    for (const Tried &t : tried) bases.push_back(t.row);
    return bases;
}

RowClasses row_classes(const Montgomery &field, const ResidueRows &a, const Likeness &by, const Poll &poll) {
    RowClasses found{class_bases(field, a, by), {}, {}};
    if (found.bases.empty()) return found;
    found.of_row.assign(at(a.count()), -1);
    found.scale.assign(at(a.count()), 0);
    std::vector<std::int32_t> &of_row = found.of_row;
    PolledSteps steps(poll);
    for (std::int32_t i = 0; i < a.count(); ++i) {
        Proportion best{-1, a.n};
        for (std::size_t c = 0; c < found.bases.size(); ++c) {
            steps.take(4 * a.n);
            const Proportion to = proportion(field, a.row(found.bases[c]), a.row(i), i, least_alike);
            if (to.col < 0 || to.differences >= best.differences) continue;
            best = to;
            of_row[at(i)] = static_cast<std::int32_t>(c);
        }
        if (best.col < 0) continue;
        const std::uint64_t of_base = a.row(found.bases[at(of_row[at(i)])])[at(best.col)];
        found.scale[at(i)] = field.multiply(a.row(i)[at(best.col)], field.power(of_base, field.prime() - 2));
    }
    for (std::size_t c = 0; c < found.bases.size(); ++c) {
        of_row[at(found.bases[c])] = static_cast<std::int32_t>(c);
        found.scale[at(found.bases[c])] = field.to(1);
    }
    return found;
}

} // namespace libperm
