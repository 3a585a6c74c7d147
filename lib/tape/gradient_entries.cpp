#include "lib/tape/gradient_entries.hpp"

#include "lib/base/error.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/tape/tape_steps.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace libperm {
namespace {

// The lower half of a symmetric matrix has the copies of the upper.
void mirror(const InputPattern &given, std::vector<EntryCopies> &copies) {
    const Pattern &a = given.pattern;
    const auto of = [&](std::int64_t entry) -> EntryCopies & {
        return copies[at(given.source.empty() ? entry : given.source[at(entry)])];
    };
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::int64_t entry = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) {
            const std::int64_t lower = entry++;
            if (j >= i) continue;
            const auto row = a.row(j);
            const auto place = std::lower_bound(row.begin(), row.end(), i);
            if (place != row.end() && *place == i) of(lower) = of(a.row_begin(j) + (place - row.begin()));
        }
    }
}

// Loops of copies of a line, and the edges between these.
void require_one_kind(const Pattern &graph, std::int64_t first, std::int64_t other) {
    const auto is_loop = [&graph](std::int64_t entry) {
        const auto next = std::upper_bound(graph.row_ptr.begin(), graph.row_ptr.end(), entry);
        return graph.col[at(entry)] == next - graph.row_ptr.begin() - 1;
    };
    if (is_loop(first) != is_loop(other))
        throw Error(PERM_UNSUPPORTED,
                    "an entry on the diagonal stands for the loops of a line that counts several times, and "
                    "for the pairs of its copies: give the loops as row_unmatched");
}

} // namespace

std::vector<EntryCopies> copies_of(const InputPattern &input, const std::vector<std::int64_t> &places) {
    const Pattern &pattern = input.pattern;
    const TapePattern lines{pattern, input.free_rows, input.free_columns};
    std::vector<EntryCopies> copies(at(values_given(input)));
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
        std::int64_t entry = pattern.row_begin(i);
        for (const std::int32_t j : pattern.row(i)) {
            const std::int64_t own = entry++, place = places.empty() ? own : places[at(own)];
            if (place < 0 || lines.is_copy(i, j)) continue;
            EntryCopies &of = copies[at(place)];
            if (of.count++ == 0) of.entry = own;
            if (pattern.one_sided) require_one_kind(pattern, of.entry, own);
        }
    }
    if (pattern.one_sided) mirror(as_given(input), copies);
    return copies;
}

void put_marginals(const InputPattern &given, const std::vector<double> &numbers, double *marginals) {
    const std::int64_t entries = given.pattern.nnz(), rows = given.pattern.rows, columns = given.pattern.cols;
    std::fill_n(marginals, entries + rows + columns, 0.0);
    const double *next = numbers.data();
    double *to = marginals;
    const auto put = [&](std::int64_t count, bool are_there) {
        if (are_there) std::copy_n(next, count, to);
        if (are_there) next += count;
        to += count;
    };
    put(entries, true);
    put(rows, given.row_weights);
    put(columns, given.col_weights);
}

std::vector<std::int64_t> caller_places(const InputPattern &input) {
    if (!input.written || input.written->source.empty()) return input.source;
    std::vector<std::int64_t> places = input.source;
    for (std::int64_t &k : places)
        if (k >= 0) k = input.written->source[at(k)];
    return places;
}

Values values_for_derivatives(const InputPattern &input, const void *values) {
    Values read = read_values(input, values);
    if (input.value_type != PERM_VALUE_C128 && some_complex(read))
        throw Error(PERM_UNSUPPORTED, "derivatives by complex numbers in text have no place in an array of "
                                      "doubles: pass the values as PERM_VALUE_C128");
    return read;
}

GradientEntries::GradientEntries(const InputPattern &input, const std::vector<std::int64_t> &places,
                                 const void *values)
    : pattern_(input.pattern),
      numbers_(input.pattern.col.size()),
      complex_(input.value_type == PERM_VALUE_C128) {
    read(input, places, values);
    find_scaling();
    scale();
    if (!rounded_) find_units();
}

void GradientEntries::read(const InputPattern &input, const std::vector<std::int64_t> &places,
                           const void *values) {
    const bool doubles = input.value_type == PERM_VALUE_F64 || complex_;
    if (!doubles || !values) return read_wide(input, values);
    const auto *given = static_cast<const double *>(values);
    double sum = 0; // of what is finite finite, for it is scaled down
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
        const std::int64_t place = places.empty() ? static_cast<std::int64_t>(k) : places[k];
        if (place < 0)
            numbers_[k].re = 1;
        else if (complex_)
            numbers_[k] = {given[2 * place], given[2 * place + 1], 0};
        else
            numbers_[k].re = given[place];
        sum += std::fabs(numbers_[k].re) * 0x1p-100 + std::fabs(numbers_[k].im) * 0x1p-100;
    }
    if (!std::isfinite(sum)) read_wide(input, values); // which says where
}

void GradientEntries::read_wide(const InputPattern &input, const void *values) {
    const Values read = values_for_derivatives(input, values);
    for (std::size_t k = 0; k < read.real.size(); ++k) numbers_[k].re = read.real[k];
    for (std::size_t k = 0; k < read.wide.size(); ++k) {
        const Gaussian &x = read.wide[k];
        if (is_zero(x)) continue;
        const std::int64_t exp2 = std::max(exponent_of(x.re), exponent_of(x.im));
        const Parts parts = parts_of(x, exp2, Arithmetic::complex);
        numbers_[k] = {parts[0], parts[2], exp2};
        rounded_ = rounded_ || !(exact_of(parts, exp2) == x);
    }
}

// Only where entries are of very different sizes: an assignment problem takes as long as a small tape.
void GradientEntries::find_scaling() {
    constexpr std::int64_t alike = 100;
    const auto exponent = [](const Number &x) {
        return x.exp2 + std::ilogb(std::max(std::fabs(x.re), std::fabs(x.im))) + 1;
    };
    const auto is_zero_number = [](const Number &x) { return x.re == 0 && x.im == 0; };
    std::int64_t lowest = 0, highest = 0;
    for (const Number &x : numbers_) {
        if (is_zero_number(x)) continue;
        lowest = std::min(lowest, exponent(x));
        highest = std::max(highest, exponent(x));
    }
    scaling_.row.assign(at(pattern_.rows), 0);
    scaling_.col.assign(at(pattern_.cols), 0);
    if (lowest >= -alike && highest <= alike) return;
    // An entry that is 0 counts as the smallest: the pattern has a perfect matching, the others may have
    // none.
    Block sizes{pattern_, {}};
    for (const Number &x : numbers_)
        sizes.values.push_back({0.5, 0.5, is_zero_number(x) ? lowest : exponent(x), 0});
    scaling_ = power_scaling(sizes);
}

void GradientEntries::scale() {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < pattern_.rows; ++i)
        for (const std::int32_t j : pattern_.row(i)) {
            Number &x = numbers_[k++];
            const std::int64_t shift = x.exp2 + scale_of(i, j);
            for (double *part : {&x.re, &x.im}) {
                if (*part == 0) continue;
                if (shift != 0) *part = std::ldexp(*part, ldexp_exponent(shift));
                rounded_ = rounded_ || std::fabs(*part) < 0x1p-1022;
                narrow_ = narrow_ && *part >= least_narrow;
            }
        }
    narrow_ = narrow_ && !complex_;
}

// Half of an edge's, of a graph; none: the line's entries are all 0.
std::optional<int> GradientEntries::unit_of_line(std::int32_t i) const {
    std::optional<int> least;
    for (std::int64_t k = pattern_.row_begin(i); k < pattern_.row_ptr[at(i) + 1]; ++k)
        for (const double part : {numbers_[at(k)].re, numbers_[at(k)].im}) {
            if (part == 0) continue;
            int unit = unit_exponent(part);
            if (pattern_.one_sided && pattern_.col[at(k)] != i)
                unit = static_cast<int>(std::floor(unit / 2.0));
            least = std::min(unit, least.value_or(unit));
        }
    return least;
}

void GradientEntries::find_units() {
    constexpr std::int64_t most = 900; // so that every product of units is far from underflow
    std::vector<int> units;
    for (std::int32_t i = 0; i < pattern_.rows; ++i) units.push_back(unit_of_line(i).value_or(0));
    if (pattern_.one_sided && !units.empty()) // an edge takes two lines
        std::fill(units.begin(), units.end(), *std::min_element(units.begin(), units.end()));
    std::int64_t sum = 0;
    for (const int unit : units) sum += std::abs(unit);
    if (sum <= most) units_ = std::move(units);
}

std::int64_t GradientEntries::unit_of(std::int32_t i, std::int32_t j) const {
    return units_[at(i)] + (pattern_.one_sided && i != j ? units_[at(j)] : 0);
}

std::vector<double> GradientEntries::blocks(TapeLayout layout,
                                            const std::vector<std::int64_t> &numbers) const {
    // Beside this, what a subnormal number lost is less than a rounding.
    constexpr double floor = 0x1p-960;
    std::vector<double> blocks((numbers_.size() + 1) * layout.block());
    double *const one = blocks.data() + numbers_.size() * layout.block();
    one[0] = 1;
    if (layout.magnitudes) one[layout.block() - 1] = 1;
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
        double *to = blocks.data() + (numbers.empty() ? k : at(numbers[k])) * layout.block();
        const double re = numbers_[k].re, im = numbers_[k].im;
        *to++ = re;
        if (complex_) *to++ = im;
        if (layout.magnitudes) *to = std::fabs(re) + std::fabs(im) + (rounded_ ? floor : 0);
    }
    return blocks;
}

} // namespace libperm
