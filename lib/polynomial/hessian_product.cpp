#include "lib/polynomial/hessian_product.hpp"

#include "lib/base/error.hpp"
#include "lib/number/doubles.hpp"
#include "lib/tape/gradient_entries.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libperm {
namespace {

using Complex = std::complex<double>;

constexpr double far_away =
    0x1p900;              // beyond it, and below its inverse, products may leave the range of double
constexpr int points = 8; // on the circle
constexpr int inner = -7; // r = 2^inner R: what the other coefficients leave is 2^-56 of G / R

// w^turn
Complex root_of_unity(int turn) {
    constexpr double diagonal = 0x1.6a09e667f3bcdp-1; // 1 / sqrt 2, rounded
    constexpr double cosines[points] = {1, diagonal, 0, -diagonal, -1, -diagonal, 0, diagonal};
    return {cosines[turn], cosines[(turn + 6) % points]};
}

InputPattern of_complex(InputPattern input) {
    input.value_type = PERM_VALUE_C128;
    if (!input.written) return input;
    InputPattern written = *input.written;
    written.value_type = PERM_VALUE_C128;
    input.written = std::make_shared<const InputPattern>(std::move(written));
    return input;
}

Options in_doubles(Options options) {
    options.precision = Precision::double_;
    options.checkpoint.clear();
    return options;
}

[[noreturn]] void fail_too_far() {
    throw Error(PERM_UNSUPPORTED, "values and direction lie too far apart for doubles: scale them");
}

double near(const mpq_class &x) {
    const double y = x.get_d();
    if (!std::isfinite(y) || (y == 0 && x != 0)) fail_too_far();
    return y;
}

// The caller's numbers in the caller's order, next to doubles.
std::vector<Complex> numbers_given(const InputPattern &given, const void *numbers) {
    const Values values = values_for_derivatives(given, numbers);
    std::vector<Complex> out(at(value_count(given)));
    for (std::size_t k = 0; k < out.size(); ++k) {
        const std::size_t place = given.source.empty() ? k : at(given.source[k]);
        out[place] = values.wide.empty() ? Complex(values.real[k])
                                         : Complex(near(values.wide[k].re), near(values.wide[k].im));
    }
    return out;
}

std::vector<Complex> direction_given(InputPattern given, const void *direction) {
    if (given.value_type == PERM_VALUE_PATTERN) given.value_type = PERM_VALUE_F64;
    if (!direction && value_count(given) > 0)
        throw Error(PERM_BAD_ARGUMENT, "the direction is a null pointer");
    try {
        return numbers_given(given, direction);
    } catch (const Error &error) {
        if (error.status() != PERM_BAD_MATRIX) throw;
        throw Error(PERM_BAD_MATRIX, std::string("of the direction, ") + error.what());
    }
}

double size_of(const Complex &x) { return std::abs(x.real()) + std::abs(x.imag()); }

// R = 2^e: where |A| and n R |V| are about equal, G / R is least.
int outer_radius(const Pattern &a, const std::vector<Complex> &values,
                 const std::vector<Complex> &direction) {
    double sum = 0, rows = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double of_values = 0, of_direction = 0;
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
            of_values += size_of(values[at(k)]);
            of_direction += size_of(direction[at(k)]);
        }
        if (of_values == 0 || of_direction == 0) continue;
        sum += std::log2(of_values) - std::log2(of_direction);
        ++rows;
    }
    if (rows == 0 || !std::isfinite(sum)) return 0;
    return static_cast<int>(std::round(sum / rows - std::log2(rows)));
}

bool is_safe(const Complex &x) {
    const auto is_safe_part = [](double part) {
        return part == 0 || (std::abs(part) < far_away && std::abs(part) > 1 / far_away);
    };
    return is_safe_part(x.real()) && is_safe_part(x.imag());
}

// x 2^exp2, nothing of which may be lost. Throws Error.
Complex exactly_times_power(const Complex &x, int exp2) {
    const Complex y(std::ldexp(x.real(), exp2), std::ldexp(x.imag(), exp2));
    if ((y.real() == 0 && x.real() != 0) || (y.imag() == 0 && x.imag() != 0)) fail_too_far();
    return y;
}

// Rows divided by powers of two, so that their largest numbers are about 1: a derivative by one of row i has
// all rows' but that one's. Where rows may stay free without a weight, or count more than once, none are.
class RowScales {
  public:
    RowScales(const InputPattern &input, const std::vector<Complex> &values) : given_(as_given(input)) {
        const Pattern &a = given_.pattern;
        exponents_.assign(at(a.rows), 0);
        const bool has_weights = given_.row_weights || given_.col_weights;
        if (input.multiplied || (!has_weights && a.rows > a.cols)) return;
        std::vector<double> largest(at(a.rows));
        for (std::size_t k = 0; k < values.size(); ++k)
            if (const auto row = row_of(k)) largest[*row] = std::max(largest[*row], size_of(values[k]));
        for (std::size_t i = 0; i < largest.size(); ++i) {
            exponents_[i] = largest[i] == 0 ? 0 : std::ilogb(largest[i]) + 1;
            all_ += exponents_[i];
        }
    }

    // Throws Error where a number is lost.
    std::vector<Complex> divided(std::vector<Complex> numbers) const {
        for (std::size_t k = 0; k < numbers.size(); ++k)
            if (const auto row = row_of(k)) numbers[k] = exactly_times_power(numbers[k], -exponents_[*row]);
        return numbers;
    }
    // Of the derivative by number k.
    int exponent(std::size_t k) const {
        const std::int64_t exponent = all_ - (row_of(k) ? exponents_[*row_of(k)] : 0);
        return static_cast<int>(std::clamp<std::int64_t>(exponent, -10000, 10000)); // all beyond double
    }

  private:
    std::optional<std::size_t> row_of(std::size_t k) const { // none: a column's weight
        const Pattern &a = given_.pattern;
        const auto place = static_cast<std::int64_t>(k);
        if (place < a.nnz())
            return static_cast<std::size_t>(std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), place) -
                                            a.row_ptr.begin() - 1);
        if (given_.row_weights && place < a.nnz() + a.rows) return static_cast<std::size_t>(place - a.nnz());
        return {};
    }

    const InputPattern &given_;
    std::vector<int> exponents_;
    std::int64_t all_ = 0;
};

// A direction times a power of two, its largest number below 1; the exponent that was taken off.
int brought_near(std::vector<Complex> &direction) {
    double most = 0;
    for (const Complex &x : direction) most = std::max({most, std::abs(x.real()), std::abs(x.imag())});
    const int exponent = most == 0 ? 0 : std::ilogb(most) + 1;
    for (Complex &x : direction) x = exactly_times_power(x, -exponent);
    return exponent;
}

double times_power(double x, int exp2) { return x == 0 ? 0 : std::ldexp(x, exp2); }

struct Derived {
    std::vector<Complex> numbers;
    std::vector<double> bounds;
};

// A coefficient, from the gradients on the circle (of real matrices on its upper half: the others are
// conjugates) and at |A| + R |V|.
class Coefficients {
  public:
    Coefficients(std::vector<Derived> turns, Derived most, int outer, std::int32_t n)
        : turns_(std::move(turns)),
          most_(std::move(most)),
          far_radius_(std::ldexp(1, outer)),
          radius_(std::ldexp(1, outer + inner)),
          moved_(std::expm1(static_cast<double>(n) * 0x1p-49) * (1 + 0x1p-40)) {}

    Complex number(std::size_t k) const {
        Complex sum = 0;
        for (int j = 0; j < points; ++j) sum += at_turn(j, k) * root_of_unity((points - j) % points);
        return (is_real() ? sum.real() : sum) / (points * radius_);
    }

    double bound(std::size_t k) const {
        const double magnitude = (size_of(most_.numbers[k]) + most_.bounds[k]) * (1 + moved_);
        double error = points * moved_ * magnitude; // entries are rounded by 2^-49 of themselves
        for (int j = 0; j < points; ++j)
            error += turns_[held(j)].bounds[k] + 0x1p-49 * size_of(at_turn(j, k));
        error /= points * radius_;
        error +=
            magnitude / far_radius_ * std::ldexp(1, points * inner) * (1 + 0x1p-20); // other coefficients
        return std::isnan(error) ? infinity : error * (1 + 0x1p-40);
    }

  private:
    bool is_real() const { return turns_.size() < points; }
    bool is_mirrored(int turn) const { return is_real() && 2 * turn > points; }
    std::size_t held(int turn) const {
        return static_cast<std::size_t>(is_mirrored(turn) ? points - turn : turn);
    }
    Complex at_turn(int turn, std::size_t k) const {
        const Complex &number = turns_[held(turn)].numbers[k];
        return is_mirrored(turn) ? std::conj(number) : number;
    }

    const std::vector<Derived> turns_;
    const Derived most_;
    const double far_radius_, radius_, moved_; // moved: a derivative's share of G
};

} // namespace

HessianProduct::HessianProduct(const Plan &plan)
    : complex_(make_plan(of_complex(plan.input), in_doubles(plan.options), {})) {}

void HessianProduct::run(const Plan &plan, const void *values, const void *direction, double *product,
                         double *error_bounds) const {
    const InputPattern &given = as_given(plan.input);
    const std::vector<Complex> as_told = numbers_given(given, values),
                               along = direction_given(given, direction);
    const bool is_complex = plan.input.value_type == PERM_VALUE_C128;
    if (std::all_of(along.begin(), along.end(), [](const Complex &x) { return x == 0.0; })) {
        std::fill_n(product, along.size() * (is_complex ? 2 : 1), 0.0);
        if (error_bounds) std::fill_n(error_bounds, along.size(), 0.0);
        return call().finish();
    }
    const RowScales scales(plan.input, as_told);
    const std::vector<Complex> a = scales.divided(as_told);
    std::vector<Complex> v = scales.divided(along);
    const int of_direction = brought_near(v);
    const int outer = outer_radius(given.pattern, a, v);
    const double far_radius = std::ldexp(1, outer), radius = std::ldexp(1, outer + inner);
    for (std::size_t k = 0; k < a.size(); ++k)
        if (!is_safe(a[k]) || !is_safe(v[k] * radius) || !is_safe(v[k] * far_radius) || !is_safe(radius))
            fail_too_far();

    const int turns = is_complex ? points : points / 2 + 1;
    const GradientWay way = gradient_.way(complex_, nullptr);
    call().begin(turns + 1, complex_.seconds * (turns + 1) * 4);
    const auto derive = [&](const auto &value_at) {
        std::vector<Complex> moved(a.size());
        for (std::size_t k = 0; k < a.size(); ++k) moved[k] = value_at(k);
        Derived found{std::vector<Complex>(a.size()), std::vector<double>(a.size())};
        Call &all = call();
        const CurrentCall part(0, Call::OwnMemory());
        Outcome outcome;
        way.run(complex_, complex_.options.threads, moved.data(),
                reinterpret_cast<double *>(found.numbers.data()), found.bounds.data(), outcome);
        all.advance(1);
        return found;
    };
    std::vector<Derived> at_turn;
    for (int j = 0; j < turns; ++j)
        at_turn.push_back(derive([&](std::size_t k) { return a[k] + v[k] * radius * root_of_unity(j); }));
    Derived most = derive([&](std::size_t k) { return Complex(size_of(a[k]) + size_of(v[k]) * far_radius); });
    const Coefficients found(std::move(at_turn), std::move(most), outer, plan.n());
    for (std::size_t k = 0; k < a.size(); ++k) {
        const Complex number = found.number(k);
        const int exp2 = scales.exponent(k) + of_direction;
        const double re = times_power(number.real(), exp2), im = times_power(number.imag(), exp2);
        product[is_complex ? 2 * k : k] = re;
        if (is_complex) product[2 * k + 1] = im;
        if (!error_bounds) continue;
        const bool is_told = std::isfinite(re) && std::isfinite(im);
        const double bound = found.bound(k), underflow = bound == 0 && number == 0.0 ? 0 : 0x1p-1072;
        error_bounds[k] = is_told ? times_power(bound, exp2) + underflow : infinity;
    }
    call().finish();
}

} // namespace libperm
