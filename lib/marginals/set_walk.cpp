#include "lib/marginals/set_walk.hpp"

#include "lib/number/ball.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int32_t most_short_lines = 12;
constexpr std::int64_t most_numbers = 1 << 16; // of all sets after all lines: beyond, lib/sets is quicker

// Factors of a term multiply to no less than 2^-range and no more than 2^range, and so does what they are
// summed to.
constexpr int range = 900;

constexpr std::int64_t side_by_side = 8; // sums that are added up in the end

double sum_of(const double *x, std::int64_t count) {
    double sums[side_by_side] = {};
    std::int64_t k = 0;
    for (; k + side_by_side <= count; k += side_by_side)
        for (std::int64_t s = 0; s < side_by_side; ++s) sums[s] += x[k + s];
    for (std::int64_t s = 0; k < count; ++k, ++s) sums[s] += x[k];
    for (std::int64_t half = side_by_side / 2; half > 0; half /= 2)
        for (std::int64_t s = 0; s < half; ++s) sums[s] += sums[s + half];
    return sums[0];
}
double roundings_of_sum(std::int64_t count) {
    const std::int64_t longest = count / side_by_side + 1;
    return static_cast<double>(longest) + 3; // log2 of the sums side by side
}

// work(first, run): `run` sets that follow each other from `first` on lack the bit.
template <class Work> void for_sets_without(std::int32_t bit, std::int64_t sets, const Work &work) {
    const std::int64_t run = std::int64_t{1} << bit;
    for (std::int64_t first = 0; first < sets; first += 2 * run) work(first, run);
}

} // namespace

bool SetWalk::serves(const InputPattern &given) {
    const std::int64_t m = given.pattern.rows, n = given.pattern.cols, sets = std::min(m, n);
    return sets <= most_short_lines && ((std::max(m, n) + 1) << sets) <= most_numbers;
}

SetWalk::SetWalk(const InputPattern &given)
    : value_count_(libperm::value_count(given)),
      marginal_count_(given.pattern.nnz() + given.pattern.rows + given.pattern.cols),
      nnz_(given.pattern.nnz()) {
    const Pattern &a = given.pattern;
    const std::int32_t m = a.rows, n = a.cols;
    const bool by_rows = m >= n; // which are the longer side
    const bool is_plain = !given.row_weights && !given.col_weights;
    const std::int64_t of_rows = given.row_weights ? m : 0;
    const auto row_weight = [&](std::int32_t i) {
        return given.row_weights ? nnz_ + i : is_plain && m > n ? one : absent;
    };
    const auto col_weight = [&](std::int32_t j) {
        return given.col_weights ? nnz_ + of_rows + j : is_plain && n > m ? one : absent;
    };
    sets_ = std::int64_t{1} << std::min(m, n);
    std::vector<std::int64_t> numbers(at(nnz_));
    for (std::int64_t k = 0; k < nnz_; ++k) numbers[at(k)] = k;
    const Transposed columns = by_rows ? Transposed{a, std::move(numbers)} : transpose(a);
    for (std::int32_t i = 0; i < columns.pattern.rows; ++i) {
        const auto begin = std::ssize(steps_);
        std::int64_t k = columns.pattern.row_begin(i);
        for (const std::int32_t j : columns.pattern.row(i)) {
            const std::int64_t entry = columns.source[at(k++)];
            steps_.push_back({j, given.source.empty() ? entry : given.source[at(entry)]});
        }
        lines_.push_back({begin, std::ssize(steps_), by_rows ? row_weight(i) : col_weight(i),
                          by_rows ? nnz_ + i : nnz_ + m + i});
    }
    for (std::int32_t j = 0; j < std::min(m, n); ++j) {
        short_.push_back(by_rows ? col_weight(j) : row_weight(j));
        of_short_.push_back(by_rows ? nnz_ + m + j : nnz_ + j);
    }
    operations_ = 3 * static_cast<double>(sets_) *
                  (0.5 * static_cast<double>(nnz_) + static_cast<double>(lines_.size()));
}

std::int64_t SetWalk::bytes() const {
    return 8 * ((std::ssize(lines_) + 3) * sets_ + value_count_ + 2 * std::ssize(steps_));
}

// Multiplies each long line by the power of two that brings its largest number into [1/2, 1).
bool SetWalk::load(const double *values, Workspace &work) const {
    work.values.resize(at(value_count_));
    work.exponents.assign(lines_.size(), 0);
    double lost = 0, grown = 0; // exponents of products, at most
    const auto least_exponent = [](double x) { return x == 0 ? 0.0 : std::ilogb(x); };
    for (std::size_t l = 0; l < lines_.size(); ++l) {
        const Line &line = lines_[l];
        double most = number(values, line.unmatched), least = most == 0 ? INFINITY : most;
        for (std::int64_t s = line.begin; s < line.end; ++s) {
            const double x = values[steps_[at(s)].place];
            most = std::max(most, x);
            if (x != 0) least = std::min(least, x);
        }
        const int exponent = most == 0 ? 0 : std::ilogb(most) + 1;
        work.exponents[l] = exponent;
        if (most != 0) lost += exponent - std::ilogb(least);
        grown += std::log2(static_cast<double>(line.end - line.begin) + 1);
        if (lost > range || std::abs(exponent) > 1000) return false;
        const double scale = std::ldexp(1.0, -exponent);
        for (std::int64_t s = line.begin; s < line.end; ++s)
            work.values[at(steps_[at(s)].place)] = values[steps_[at(s)].place] * scale;
        if (line.unmatched >= 0) work.values[at(line.unmatched)] = values[line.unmatched] * scale;
    }
    for (const std::int64_t place : short_) {
        const double x = number(values, place), exponent = least_exponent(x);
        (exponent < 0 ? lost : grown) += std::fabs(exponent) + 1;
        if (place >= 0) work.values[at(place)] = x;
    }
    return lost <= range && grown <= range;
}

double SetWalk::stays_unmatched(std::size_t l, const Workspace &work) const {
    const std::int64_t place = lines_[l].unmatched;
    if (place == one) return std::ldexp(1.0, -work.exponents[l]);
    return place == absent ? 0 : work.values[at(place)];
}

std::int64_t SetWalk::go_forward(std::size_t l, const Workspace &work, const double *from, double *to) const {
    const Line &line = lines_[l];
    const double stays = stays_unmatched(l, work);
    for (std::int64_t set = 0; set < sets_; ++set) to[set] = stays * from[set];
    std::int64_t added = 0;
    for (std::int64_t s = line.begin; s < line.end; ++s) {
        const double a = work.values[at(steps_[at(s)].place)];
        if (a == 0) continue;
        ++added;
        for_sets_without(steps_[at(s)].bit, sets_, [&](std::int64_t first, std::int64_t run) {
            for (std::int64_t k = 0; k < run; ++k) to[first + run + k] += a * from[first + k];
        });
    }
    return added;
}

// F after each long line; returns the roundings on the way of a term.
double SetWalk::walk_forward(Workspace &work) const {
    const auto lines = std::ssize(lines_);
    work.forward.resize(at((lines + 1) * sets_));
    double *const forward = work.forward.data();
    std::fill_n(forward, sets_, 0.0);
    forward[0] = 1;
    double roundings = 0; // a product, and a sum of so many, for each line
    for (std::int64_t l = 0; l < lines; ++l) {
        const std::int64_t added = go_forward(at(l), work, forward + l * sets_, forward + (l + 1) * sets_);
        roundings += static_cast<double>(added) + 2;
    }
    return roundings;
}

// G behind the last long line: the short lines that are not in the set stay unmatched.
void SetWalk::begin_back(Workspace &work) const {
    work.back.resize(at(sets_));
    work.next.resize(at(sets_));
    work.products.resize(at(sets_));
    double *const back = work.back.data();
    back[sets_ - 1] = 1;
    for (std::int64_t set = sets_ - 2; set >= 0; --set) { // the last line that is not in it
        const auto line = at(std::countr_one(static_cast<std::uint64_t>(set)));
        back[set] = back[set | std::int64_t{1} << line] * number(work.values.data(), short_[line]);
    }
}

double SetWalk::sum_of_products(const double *x, const double *y, Workspace &work) const {
    for (std::int64_t set = 0; set < sets_; ++set) work.products[at(set)] = x[set] * y[set];
    return sum_of(work.products.data(), sets_);
}

// Where probabilities go, as shares of the sum over all matchings.
struct SetWalk::Shares {
    double *marginals, *bounds;
    double total, error;

    void put(std::int64_t place, double part) const {
        const double probability = part / total;
        marginals[place] = probability;
        if (bounds) bounds[place] = probability * error + (probability < 0x1p-900 ? 0x1p-1022 : 0);
    }
};

void SetWalk::put_short_lines(Workspace &work, const Shares &shares) const {
    const double *const last = work.forward.data() + std::ssize(lines_) * sets_, *const back =
                                                                                     work.back.data();
    double *const products = work.products.data();
    for (std::size_t j = 0; j < short_.size(); ++j) {
        if (short_[j] == absent) continue;
        std::int64_t count = 0;
        for_sets_without(static_cast<std::int32_t>(j), sets_, [&](std::int64_t first, std::int64_t run) {
            for (std::int64_t k = first; k < first + run; ++k) products[count++] = last[k] * back[k];
        });
        shares.put(of_short_[j], sum_of(products, count));
    }
}

// Goes back over long line l: G before it is left in `work.back`.
void SetWalk::put_long_line(std::int64_t l, Workspace &work, const Shares &shares) const {
    const Line &line = lines_[at(l)];
    const double *const before = work.forward.data() + l * sets_, *const back = work.back.data();
    double *const next = work.next.data(), *const products = work.products.data();
    const double stays = stays_unmatched(at(l), work);
    if (stays != 0) shares.put(line.of_unmatched, stays * sum_of_products(before, back, work));
    for (std::int64_t set = 0; set < sets_; ++set) next[set] = stays * back[set];
    for (std::int64_t s = line.begin; s < line.end; ++s) {
        const double a = work.values[at(steps_[at(s)].place)];
        if (a == 0) continue;
        std::int64_t count = 0;
        for_sets_without(steps_[at(s)].bit, sets_, [&](std::int64_t first, std::int64_t run) {
            for (std::int64_t k = first; k < first + run; ++k) {
                next[k] += a * back[k + run];
                products[count + k - first] = before[k] * back[k + run];
            }
            count += run;
        });
        shares.put(steps_[at(s)].place, a * sum_of(products, count));
    }
    work.back.swap(work.next);
}

bool SetWalk::run(const double *values, Workspace &work, double *marginals, double *bounds,
                  SetValue &value) const {
    if (!load(values, work)) return false;
    double roundings = walk_forward(work);
    begin_back(work);
    const auto lines = std::ssize(lines_);
    const double total = sum_of_products(work.forward.data() + lines * sets_, work.back.data(), work);
    if (!(total > 0)) {
        value = {};
        return true;
    }
    roundings += static_cast<double>(short_.size()) + roundings_of_sum(sets_) + 1;
    // Of the numerator, of the value, of their quotient and of what is done beside.
    const Shares shares{marginals, bounds, total, gamma_bound(2 * roundings + 8) * (1 + 0x1p-30)};
    std::fill_n(marginals, marginal_count_, 0.0);
    if (bounds) std::fill_n(bounds, marginal_count_, 0.0);
    put_short_lines(work, shares);
    for (std::int64_t l = lines; l-- > 0;) put_long_line(l, work, shares);
    std::int64_t exponent = 0;
    for (const int e : work.exponents) exponent += e;
    value = {make_scaled(total, exponent),
             gamma_bound(roundings) / (1 - gamma_bound(roundings)) * (1 + 0x1p-30)};
    return true;
}

} // namespace libperm
