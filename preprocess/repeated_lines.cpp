#include "preprocess/repeated_lines.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A row divided by a number that is proportional to it: the same for all multiples of a row, and computed
// without rounding.
template <class Value> class Primitive;

// By the greatest number that leaves coprime odd parts, with the lowest exponent 0 and the first entry
// positive.
template <> class Primitive<Tracked> {
  public:
    Primitive(const Tracked *values, std::size_t count) {
        std::int64_t divisor = 1, lowest = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const Tracked &x = values[k];
            if (x.value == 0 || std::fabs(x.value) != x.magnitude) return;
            const auto digits = static_cast<std::int64_t>(std::ldexp(x.value, 53));
            const int zeros = std::countr_zero(static_cast<std::uint64_t>(digits));
            odd_.push_back(digits / (std::int64_t{1} << zeros));
            exp2_.push_back(x.exp2 - 53 + zeros);
            divisor = k == 0 ? std::abs(odd_[0]) : std::gcd(divisor, odd_[k]);
            lowest = k == 0 ? exp2_[0] : std::min(lowest, exp2_[k]);
        }
        if (count > 0 && odd_[0] < 0) divisor = -divisor;
        for (std::size_t k = 0; k < count; ++k) {
            odd_[k] /= divisor;
            exp2_[k] -= lowest;
        }
        divisor_ = times_power(divisor, lowest);
        is_valid_ = true;
    }

    bool is_valid() const { return is_valid_; } // not of numbers that are 0 or in which something cancelled
    Tracked divisor() const { return divisor_; }
    Tracked entry(std::size_t k) const { return times_power(odd_[k], exp2_[k]); }

    friend bool operator<(const Primitive &x, const Primitive &y) {
        return x.odd_ != y.odd_ ? x.odd_ < y.odd_ : x.exp2_ < y.exp2_;
    }

  private:
    static Tracked times_power(std::int64_t odd, std::int64_t exp2) {
        Tracked x = tracked(static_cast<double>(odd)); // at most 53 bits
        x.exp2 += exp2;
        return x;
    }

    std::vector<std::int64_t> odd_, exp2_;
    Tracked divisor_;
    bool is_valid_ = false;
};

// By its first entry.
template <> class Primitive<Gaussian> {
  public:
    Primitive(const Gaussian *values, std::size_t count) {
        if (count == 0 || is_zero(values[0])) return;
        divisor_ = values[0];
        for (std::size_t k = 0; k < count; ++k) entries_.push_back(values[k] / divisor_);
    }

    bool is_valid() const { return !entries_.empty(); }
    const Gaussian &divisor() const { return divisor_; }
    const Gaussian &entry(std::size_t k) const { return entries_[k]; }

    friend bool operator<(const Primitive &x, const Primitive &y) {
        return std::lexicographical_compare(x.entries_.begin(), x.entries_.end(), y.entries_.begin(),
                                            y.entries_.end(), [](const Gaussian &a, const Gaussian &b) {
                                                const int order = cmp(a.re, b.re);
                                                return order != 0 ? order < 0 : a.im < b.im;
                                            });
    }

  private:
    std::vector<Gaussian> entries_;
    Gaussian divisor_;
};

std::int32_t roundings_of(const Tracked &x) { return x.roundings; }
std::int32_t roundings_of(const Gaussian &) { return 0; }
void set_roundings(Tracked &x, std::int32_t roundings) { x.roundings = roundings; }
void set_roundings(Gaussian &, std::int32_t) {}

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
template <class Value> std::vector<std::int32_t> merge_rows(BlockOf<Value> &block, Value &factor) {
    std::vector<std::int32_t> kind;
    for (const auto &[columns, rows] : rows_by_pattern(block.pattern)) {
        std::map<Primitive<Value>, std::vector<std::int32_t>> multiples;
        for (const std::int32_t i : rows) {
            Primitive<Value> p(block.values.data() + block.pattern.row_begin(i), columns.size());
            if (p.is_valid()) multiples[std::move(p)].push_back(i);
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
                const Value *row = block.values.data() + block.pattern.row_begin(i);
                factor = factor * Primitive<Value>(row, columns.size()).divisor(); // its own
                for (std::size_t k = 0; k < columns.size(); ++k)
                    roundings[k] = std::max(roundings[k], roundings_of(row[k]));
            }
            for (const std::int32_t i : equal)
                for (std::size_t k = 0; k < columns.size(); ++k) {
                    Value &x = block.values[at(block.pattern.row_begin(i)) + k];
                    x = p.entry(k);
                    set_roundings(x, roundings[k]);
                }
        }
    }
    return kind;
}

} // namespace

template <class Value> RepeatedLines<Value> merge_repeated_lines(BlockOf<Value> &block) {
    RepeatedLines<Value> out{{}, number_one<Value>()};
    out.kinds.of_row = merge_rows(block, out.factor);
    BlockOf<Value> columns = transposed(block);
    out.kinds.of_col = merge_rows(columns, out.factor);
    if (!out.kinds.of_col.empty()) block = transposed(columns);
    return out;
}

template RepeatedLines<Tracked> merge_repeated_lines(Block &block);
template RepeatedLines<Gaussian> merge_repeated_lines(ExactBlock &block);

} // namespace libperm
