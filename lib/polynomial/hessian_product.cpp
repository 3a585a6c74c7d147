#include "lib/polynomial/hessian_product.hpp"

#include "lib/base/error.hpp"
#include "lib/number/infinity.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
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

// The caller's numbers in the caller's order, next to doubles.
std::vector<Complex> numbers_given(const InputPattern &given, const void *numbers, const Poll &poll) {
    const Values values = read_values(given, numbers, poll);
    std::vector<Complex> out(at(value_count(given)));
    for (std::size_t k = 0; k < out.size(); ++k) {
        const std::size_t place = given.source.empty() ? k : at(given.source[k]);
        out[place] = values.wide.empty() ? Complex(values.real[k])
                                         : Complex(values.wide[k].re.get_d(), values.wide[k].im.get_d());
    }
    return out;
}

std::vector<Complex> direction_given(InputPattern given, const void *direction, const Poll &poll) {
    if (given.value_type == PERM_VALUE_PATTERN) given.value_type = PERM_VALUE_F64;
    if (!direction && value_count(given) > 0)
        throw Error(PERM_BAD_ARGUMENT, "the direction is a null pointer");
    try {
        return numbers_given(given, direction, poll);
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

HessianProduct::HessianProduct(const Plan &plan, RunControl &control)
    : complex_(make_plan(of_complex(plan.input), in_doubles(plan.options), {}, control)) {}

void HessianProduct::run(const Plan &plan, const void *values, const void *direction, double *product,
                         double *error_bounds, RunControl &control) const {
    const Poll poll = [&control] { control.poll(); };
    const InputPattern &given = as_given(plan.input);
    const std::vector<Complex> a = numbers_given(given, values, poll),
                               v = direction_given(given, direction, poll);
    const bool is_complex = plan.input.value_type == PERM_VALUE_C128;
    const int outer = outer_radius(given.pattern, a, v);
    const double far_radius = std::ldexp(1, outer), radius = std::ldexp(1, outer + inner);
    for (std::size_t k = 0; k < a.size(); ++k)
        if (!is_safe(a[k]) || !is_safe(v[k] * radius) || !is_safe(v[k] * far_radius))
            throw Error(PERM_UNSUPPORTED, "values and direction lie too far apart for doubles: scale them");

    const int turns = is_complex ? points : points / 2 + 1;
    const GradientWay way = gradient_.way(complex_, nullptr, control);
    control.begin(turns + 1, complex_.seconds * (turns + 1) * 4);
    const auto derive = [&](const auto &value_at) {
        std::vector<Complex> moved(a.size());
        for (std::size_t k = 0; k < a.size(); ++k) moved[k] = value_at(k);
        Derived found{std::vector<Complex>(a.size()), std::vector<double>(a.size())};
        RunControl part(control, 0, RunControl::OwnMemory());
        Outcome outcome;
        way.run(complex_, complex_.options.threads, moved.data(),
                reinterpret_cast<double *>(found.numbers.data()), found.bounds.data(), part, outcome);
        control.advance(1);
        return found;
    };
    std::vector<Derived> at_turn;
    for (int j = 0; j < turns; ++j)
        at_turn.push_back(derive([&](std::size_t k) { return a[k] + v[k] * radius * root_of_unity(j); }));
    Derived most = derive([&](std::size_t k) { return Complex(size_of(a[k]) + size_of(v[k]) * far_radius); });
    const Coefficients found(std::move(at_turn), std::move(most), outer, plan.n());
    for (std::size_t k = 0; k < a.size(); ++k) {
        const Complex number = found.number(k);
        product[is_complex ? 2 * k : k] = number.real();
        if (is_complex) product[2 * k + 1] = number.imag();
        if (error_bounds) error_bounds[k] = found.bound(k);
    }
    control.finish();
}

const HessianProduct &LazyHessianProduct::of(const Plan &plan, RunControl &control) const {
    const std::scoped_lock lock(mutex_);
    if (!made_) made_ = std::make_unique<const HessianProduct>(plan, control);
    return *made_;
}

} // namespace libperm
