#include "lib/estimates/glynn.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/randomness.hpp"
#include "lib/bounds/balance.hpp"
#include "lib/bounds/norm_bound.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

using Complex = std::complex<double>;

// Divides rows and columns by factors so that all have about one norm, and returns the logarithm of their
// product. Any factors will do: these are the same whatever the last bits.
double scale_norms(const Pattern &a, std::vector<Complex> &entries, std::vector<double> &off) {
    Weights squares{a, {}};
    for (const Complex &x : entries) squares.value.push_back(std::norm(x));
    Balanced scaling = balanced(squares);
    double log = 0;
    for (std::vector<double> *factors : {&scaling.row, &scaling.column})
        for (double &x : *factors) {
            if (!(x > 0x1p-800 && x < 0x1p800)) x = 1; // all of it is below what counts
            x = std::exp2(std::round(std::log2(x) * 16) / 32);
            log -= std::log(x);
        }
    for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
        entries[k] *= scaling.row[i] * scaling.column[j];
        off[k] *= scaling.row[i] * scaling.column[j];
    });
    return log;
}

// Of entries that have all their digits.
std::ptrdiff_t count_of_normal(const std::vector<Complex> &entries) {
    return std::count_if(entries.begin(), entries.end(), [](const Complex &x) {
        return std::max(std::fabs(x.real()), std::fabs(x.imag())) >= 0x1p-1000;
    });
}

// At least the largest singular value.
double singular_value_above(const Pattern &a, const std::vector<Complex> &entries) {
    constexpr std::int32_t most_rows = 400;
    constexpr double most_work = 1e9; // multiply-adds
    std::vector<double> row(at(a.rows), 0.0), column(at(a.rows), 0.0);
    for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
        row[i] += std::abs(entries[k]);
        column[j] += std::abs(entries[k]);
    });
    const double simple = std::sqrt(*std::max_element(row.begin(), row.end()) *
                                    *std::max_element(column.begin(), column.end())) *
                          (1 + 1e-9);
    if (a.rows > most_rows) return simple;
    return std::min(simple, spectral_norm_above(a, entries, most_work));
}

} // namespace

GlynnSampler::GlynnSampler(Pattern pattern, std::vector<Complex> entries, std::vector<double> off)
    : a_(std::move(pattern)) {
    const Pattern &a = a_;
    const auto normal = count_of_normal(entries);
    const double scaled = scale_norms(a, entries, off);
    std::vector<double> row(at(a.rows), 0.0), row_off(at(a.rows), 0.0);
    std::size_t longest = 0;
    for_entries(a, [&](std::size_t i, std::size_t, std::size_t k) {
        row[i] += std::abs(entries[k]) + off[k];
        row_off[i] += off[k];
    });
    for (std::int32_t i = 0; i < a.rows; ++i) longest = std::max(longest, a.row(i).size());
    double by_rows = 0;
    for (const double x : row) by_rows += std::log(x) + 1e-14;
    const double log = std::min(by_rows, a.rows * std::log(singular_value_above(a, entries)));
    const double of_row = std::exp(log / a.rows);
    log_bound_ = scaled + log;
    re_.reserve(entries.size());
    im_.reserve(entries.size());
    for (const Complex &x : entries) {
        re_.push_back(x.real() / of_row);
        im_.push_back(x.imag() / of_row);
    }
    // Without k of the rows the product is at most exp(k / 2), so with each row's sum off by so much it is
    // off by (1 + sqrt(e) so much)^n - 1; where the rows' sums are the bound, by (1 + its share of each
    // sum)^n - 1.
    const double widest = *std::max_element(row.begin(), row.end()) / of_row;
    double most_off = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row_off[i] > 0)
            most_off = std::max(most_off, row_off[i] / (log < by_rows ? of_row : std::min(of_row, row[i])));
    const double in_sums = std::max(widest, 1.0) * static_cast<double>(longest + 8) * 0x1p-52;
    rounding_ = std::expm1(a.rows * std::log1p(1.7 * (in_sums + most_off)));
    // Scaling has brought the smallest ones so far down that they may have lost digits: as entries that are
    // off.
    if (count_of_normal(entries) < normal)
        rounding_ += a.rows * static_cast<double>(longest) * std::exp(by_rows - log - 690);
}

GlynnSampler::Sums GlynnSampler::draw(std::uint64_t seed, std::uint64_t number) const {
    Sums sums;
    std::vector<double> sign(at(a_.rows));
    for (std::int64_t s = 0; s < chunk_samples; ++s) {
        Randomness random(seed,
                          number * static_cast<std::uint64_t>(chunk_samples) + static_cast<std::uint64_t>(s));
        double re = 1, im = 0;
        std::uint64_t bits = 0;
        for (std::size_t j = 0; j < sign.size(); ++j, bits >>= 1) {
            if (j % 64 == 0) bits = random.next();
            sign[j] = (bits & 1) != 0 ? -1 : 1;
            re *= sign[j];
        }
        std::size_t k = 0;
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            double x = 0, y = 0;
            for (const std::int32_t j : a_.row(i)) {
                x += sign[at(j)] * re_[k];
                y += sign[at(j)] * im_[k++];
            }
            const double next = re * x - im * y;
            im = re * y + im * x;
            re = next;
        }
        sums.re += re;
        sums.im += im;
        sums.re_squares += re * re;
        sums.im_squares += im * im;
    }
    return sums;
}

std::int64_t GlynnSampler::bytes() const {
    return static_cast<std::int64_t>(re_.size() * (2 * sizeof(double) + sizeof(std::int32_t)));
}

std::string GlynnSampler::digest() const {
    return digest_of_bytes(written(a_.row_ptr) + written(a_.col) + written(re_) + written(im_) +
                           written(std::vector<double>{log_bound_}));
}

double GlynnSampler::seconds_of_chunk() const {
    constexpr double of_entry = 1.5e-9, of_row = 5e-9;
    return static_cast<double>(chunk_samples) *
           (of_entry * static_cast<double>(re_.size()) + of_row * static_cast<double>(a_.rows));
}

} // namespace libperm
