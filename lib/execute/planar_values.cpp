#include "lib/execute/planar_values.hpp"

#include "lib/number/bits.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/index.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace libperm {
namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

// The largest power of two that the number is a multiple of; `none` of 0, nothing where there is no such.
std::optional<std::int64_t> unit_of(double x) { return x == 0 ? none : unit_exponent(x); }
std::optional<std::int64_t> unit_of(const mpq_class &x) {
    if (x == 0) return none;
    const auto twos = static_cast<std::int64_t>(mpz_scan1(x.get_den_mpz_t(), 0));
    if (static_cast<std::size_t>(twos) + 1 != mpz_sizeinbase(x.get_den_mpz_t(), 2)) return {};
    return static_cast<std::int64_t>(mpz_scan1(x.get_num_mpz_t(), 0)) - twos;
}

} // namespace

PlanarValues::PlanarValues(const Pattern &pattern, const std::vector<std::int64_t> &entries,
                           const Values &read)
    : pattern_(pattern), entries_(entries), read_(read), are_nonnegative_(!some_negative(read)) {
    constexpr std::int64_t alike = 60; // bits
    std::int64_t lowest = none, highest = -none;
    are_alike_ = true;
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const Tracked x = magnitude(k);
        are_alike_ = are_alike_ && !is_zero(x);
        if (is_zero(x)) continue;
        lowest = std::min(lowest, x.exp2);
        highest = std::max(highest, x.exp2);
    }
    are_alike_ = are_alike_ && highest - lowest <= alike;
    if (!find_units()) units_.clear();
}

BallField::Number PlanarValues::number(std::size_t k, const BallField &field) const {
    const std::size_t entry = at(entries_[k]);
    return read_.wide.empty() ? field.number(read_.real[entry]) : field.number(read_.wide[entry].re);
}

mpq_class PlanarValues::exactly(std::size_t k) const {
    const std::size_t entry = at(entries_[k]);
    return read_.wide.empty() ? mpq_class(read_.real[entry]) : read_.wide[entry].re;
}

Tracked PlanarValues::magnitude(std::size_t k) const {
    const std::size_t entry = at(entries_[k]);
    return read_.wide.empty() ? tracked(std::fabs(read_.real[entry])) : tracked_of(abs(read_.wide[entry].re));
}

Matching PlanarValues::matching() const {
    Block sizes; // of what is not 0
    sizes.pattern.rows = pattern_.rows;
    sizes.pattern.cols = pattern_.cols;
    std::size_t k = 0;
    for (std::int32_t i = 0; i < pattern_.rows; ++i) {
        for (const std::int32_t j : pattern_.row(i))
            if (const Tracked x = magnitude(k++); !is_zero(x)) {
                sizes.pattern.col.push_back(j);
                sizes.values.push_back(x);
            }
        sizes.pattern.row_ptr.push_back(std::ssize(sizes.pattern.col));
    }
    Matching found = maximum_matching(sizes.pattern);
    if (found.size < pattern_.rows) return found;
    // Scaled so that all are below 1 the matching of the greatest product has the entries of 1/2 and more.
    const PowerScaling scaling = power_scaling(sizes);
    Pattern large;
    large.rows = pattern_.rows;
    large.cols = pattern_.cols;
    k = 0;
    for (std::int32_t i = 0; i < pattern_.rows; ++i) {
        for (const std::int32_t j : sizes.pattern.row(i))
            if (sizes.values[k++].exp2 + scaling.row[at(i)] + scaling.col[at(j)] == 0) large.col.push_back(j);
        large.row_ptr.push_back(std::ssize(large.col));
    }
    Matching better = maximum_matching(large);
    return better.size == pattern_.rows ? better : found;
}

bool PlanarValues::find_units() {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < pattern_.rows; ++i) {
        std::int64_t unit = none;
        for ([[maybe_unused]] const std::int32_t j : pattern_.row(i)) {
            const std::size_t entry = at(entries_[k++]);
            const auto own = read_.wide.empty() ? unit_of(read_.real[entry]) : unit_of(read_.wide[entry].re);
            if (!own) return false;
            unit = std::min(unit, *own);
        }
        units_.push_back(unit == none ? 0 : unit);
    }
    return true;
}

} // namespace libperm
