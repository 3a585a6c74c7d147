#include "preprocess/repeated_lines.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A row divided by the greatest number that leaves coprime odd parts, with the lowest exponent 0 and the
// first entry positive: the same for all multiples of a row, and computed without rounding.
struct Primitive {
    std::vector<std::int64_t> odd;
    std::vector<std::int64_t> exp2;
    std::int64_t divisor = 1, divisor_exp2 = 0;
    bool is_valid = false; // not for numbers that are 0 or in which something cancelled

    friend bool operator<(const Primitive &x, const Primitive &y) {
        return x.odd != y.odd ? x.odd < y.odd : x.exp2 < y.exp2;
    }
};

Primitive primitive(const Tracked *values, std::size_t count) {
    Primitive p;
    std::int64_t lowest = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const Tracked &x = values[k];
        if (x.value == 0 || std::fabs(x.value) != x.magnitude) return p;
        const auto digits = static_cast<std::int64_t>(std::ldexp(x.value, 53));
        const int zeros = std::countr_zero(static_cast<std::uint64_t>(digits));
        p.odd.push_back(digits / (std::int64_t{1} << zeros));
        p.exp2.push_back(x.exp2 - 53 + zeros);
        p.divisor = k == 0 ? std::abs(p.odd[0]) : std::gcd(p.divisor, p.odd[k]);
        lowest = k == 0 ? p.exp2[0] : std::min(lowest, p.exp2[k]);
    }
    if (count > 0 && p.odd[0] < 0) p.divisor = -p.divisor;
    p.divisor_exp2 = lowest;
    for (std::size_t k = 0; k < count; ++k) {
        p.odd[k] /= p.divisor;
        p.exp2[k] -= lowest;
    }
    p.is_valid = true;
    return p;
}

Tracked times_power(std::int64_t odd, std::int64_t exp2) {
    Tracked x = tracked(static_cast<double>(odd)); // at most 53 bits
    x.exp2 += exp2;
    return x;
}

// Rows with the same columns, by their first.
std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> rows_by_pattern(const Pattern &a) {
    std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> rows;
    std::vector<std::pair<std::uint64_t, std::int32_t>> sums; // to leave out at once what stands alone
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::uint64_t sum = 0;
        for (const std::int32_t j : a.row(i))
            sum = (sum ^ static_cast<std::uint64_t>(j)) * 0x9e3779b97f4a7c15u;
        sums.emplace_back(sum, i);
    }
    std::sort(sums.begin(), sums.end());
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const bool alone = (k == 0 || sums[k - 1].first != sums[k].first) &&
                           (k + 1 == sums.size() || sums[k + 1].first != sums[k].first);
        const auto row = a.row(sums[k].second);
        if (!alone) rows[{row.begin(), row.end()}].push_back(sums[k].second);
    }
    return rows;
}

// Makes proportional rows equal; returns for each row the lowest one equal to it, or nothing if none is.
std::vector<std::int32_t> merge_rows(Block &block, Tracked &factor) {
    std::vector<std::int32_t> kind;
    for (const auto &[columns, rows] : rows_by_pattern(block.pattern)) {
        std::map<Primitive, std::vector<std::int32_t>> multiples;
        for (const std::int32_t i : rows) {
            Primitive p = primitive(block.values.data() + block.pattern.row_begin(i), columns.size());
            if (p.is_valid) multiples[std::move(p)].push_back(i);
        }
        for (const auto &[p, equal] : multiples) {
            if (equal.size() < 2) continue;
            if (kind.empty()) {
                kind.resize(at(block.n()));
                std::iota(kind.begin(), kind.end(), 0);
            }
            std::vector<std::int32_t> roundings(columns.size(), 0);
            for (const std::int32_t i : equal) {
                kind[at(i)] = equal.front();
                Tracked *row = block.values.data() + block.pattern.row_begin(i);
                const Primitive own = primitive(row, columns.size()); // its divisor
                factor = factor * times_power(own.divisor, own.divisor_exp2);
                for (std::size_t k = 0; k < columns.size(); ++k)
                    roundings[k] = std::max(roundings[k], row[k].roundings);
            }
            for (const std::int32_t i : equal)
                for (std::size_t k = 0; k < columns.size(); ++k) {
                    Tracked &x = block.values[at(block.pattern.row_begin(i)) + k];
                    x = times_power(p.odd[k], p.exp2[k]);
                    x.roundings = roundings[k];
                }
        }
    }
    return kind;
}

} // namespace

RepeatedLines merge_repeated_lines(Block &block) {
    RepeatedLines out{{}, tracked(1)};
    out.kinds.of_row = merge_rows(block, out.factor);
    Block columns = transposed(block);
    out.kinds.of_col = merge_rows(columns, out.factor);
    if (!out.kinds.of_col.empty()) block = transposed(columns);
    return out;
}

} // namespace libperm
