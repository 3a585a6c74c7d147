#include "lib/polynomial/at_points.hpp"

#include "jit/text/text.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/mpfr_number.hpp"
#include "lib/number/residues.hpp"
#include "preprocess/index.hpp"
#include "preprocess/limits.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

namespace libperm {

namespace {

// What a plan is to be told, so that it is for all points: complex values where some are, else negative ones;
// not of the first point, where something may be equal by chance.
Values typical_values(const InputPattern &input, const void *values, std::int64_t points) {
    const std::int64_t bytes =
        value_count(as_given(input)) * static_cast<std::int64_t>(size_of(input.value_type));
    Values typical;
    int most = -1;
    for (std::int64_t k = points > 1 ? 1 : 0; k < points; ++k) {
        const void *own = values ? static_cast<const char *>(values) + k * bytes : nullptr;
        Values of_point = read_values(input, own, &call().memory());
        const int kind = some_complex(of_point) ? 2 : some_negative(of_point) ? 1 : 0;
        if (kind <= most) continue;
        most = kind;
        typical = std::move(of_point);
        if (kind == 2) break;
    }
    return typical;
}

// Newton's divided differences at 0, 1, 2, ..., multiplied out.
std::vector<std::uint64_t> interpolated(const Montgomery &field, std::vector<std::uint64_t> values) {
    PolledSteps steps;
    const std::size_t n = values.size();
    for (std::size_t order = 1; order < n; ++order) {
        const std::uint64_t inverse = field.power(field.to(order), field.prime() - 2);
        for (std::size_t k = n - 1; k >= order; --k) {
            steps.take(8);
            values[k] = field.multiply(field.subtract(values[k], values[k - 1]), inverse);
        }
    }
    std::vector<std::uint64_t> coefficients(n); // Horner's rule: times (x - k), plus the next
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t power = n - 1; power > 0; --power) {
            steps.take(8);
            coefficients[power] =
                field.subtract(coefficients[power - 1], field.multiply(field.to(k), coefficients[power]));
        }
        coefficients[0] = field.subtract(values[k], field.multiply(field.to(k), coefficients[0]));
    }
    return coefficients;
}

class ByResidues final : public AtPoints {
  public:
    ByResidues(const LinearEntries &entries, const Options &options, const std::string *plan)
        : field_(options.modulus) {
        const auto points = static_cast<std::int64_t>(entries.degree + 1);
        constexpr std::int64_t of_text = sizeof(std::string) + sizeof(const char *) + 32;
        const std::int64_t bytes = of_text * points * static_cast<std::int64_t>(entries.values());
        put_texts(entries, points, bytes, options, plan, [&](std::size_t x, std::size_t k) {
            return entries.constant_at(k) + Gaussian{mpq_class(x), 0} * entries.linear_at(k);
        });
    }

    std::vector<Outcome> coefficients(PieceStore *store) const override {
        const std::vector<Outcome> found = outcomes(store);
        if (found.empty()) return {};
        std::vector<std::uint64_t> values;
        for (const Outcome &one : found) values.push_back(field_.to(exact_number(one).re.get_num().get_ui()));
        std::vector<Outcome> out;
        for (const std::uint64_t x : interpolated(field_, std::move(values))) {
            Outcome one = found[0];
            set_value(one, WideBall{{mpq_class(field_.from(x)), 0}, {}});
            out.push_back(std::move(one));
        }
        return out;
    }

  private:
    const Montgomery field_;
};

struct Whole {
    mpz_class re, im;
};

// x 2^shift, cut off.
mpz_class cut(const mpq_class &x, std::int64_t shift) {
    const mpq_class y = shifted(x, shift);
    mpz_class whole;
    mpz_tdiv_q(whole.get_mpz_t(), y.get_num_mpz_t(), y.get_den_mpz_t());
    return whole;
}

double as_double(const mpz_class &x, unsigned long bits) { // of x 2^-bits, cut off
    signed long exp2 = 0;
    const double mantissa = mpz_get_d_2exp(&exp2, x.get_mpz_t());
    return std::ldexp(mantissa, static_cast<int>(exp2) - static_cast<int>(bits));
}

// Cauchy's formula: the coefficients of a polynomial from its values at the N-th roots of unity, times a
// radius r = 2^e,
//
//     c_k = r^-k / N  sum_j P(r w^j) w^(-j k),   w = exp(2 pi i / N),   N > degree.
class Circle {
  public:
    // real: P(conj x) = conj P(x), so that half of the points are enough.
    Circle(std::size_t points, std::int64_t exp2, bool real)
        : cosines_(points), sines_(points), points_(points), exp2_(exp2), real_(real) {
        MpfrNumber angle(bits + 64), x(bits + 64);
        PolledSteps steps;
        constexpr std::int64_t of_a_point = 8192;
        for (std::size_t j = 0; j < points; ++j) {
            steps.take(of_a_point);
            mpfr_const_pi(angle, MPFR_RNDN);
            mpfr_mul_ui(angle, angle, 2 * j, MPFR_RNDN);
            mpfr_div_ui(angle, angle, points, MPFR_RNDN);
            const auto fixed = [&](mpz_class &to) {
                mpfr_mul_2ui(x, x, bits, MPFR_RNDN);
                mpfr_get_z(to.get_mpz_t(), x, MPFR_RNDN);
            };
            mpfr_cos(x, angle, MPFR_RNDN);
            fixed(cosines_[j]);
            mpfr_sin(x, angle, MPFR_RNDN);
            fixed(sines_[j]);
        }
    }

    // Of the first so many points.
    static std::size_t values_at(std::size_t points, bool real) { return real ? points / 2 + 1 : points; }
    std::size_t values() const { return values_at(points_, real_); }
    std::int64_t exp2() const { return exp2_; }

    // Of w^j, to 2^-52 of themselves.
    double cosine(std::size_t j) const { return as_double(cosines_[j], bits); }
    double sine(std::size_t j) const { return as_double(sines_[j], bits); }
    // w^j, each part within 2^-128 of it.
    Gaussian root(std::size_t j) const {
        constexpr unsigned long kept = 129;
        const auto part = [](const mpz_class &x) {
            return shifted(mpq_class(mpz_class(x >> (bits - kept))), -static_cast<std::int64_t>(kept));
        };
        return {part(cosines_[j]), part(sines_[j])};
    }

    // All N of them from values(), each of which is within its error of P. In fixed point, the largest value
    // having twice as many bits as the roots: what is cut off, and what these are rounded by, is less than
    // 2^(8 - bits) of the sum of the absolute values.
    std::vector<WideBall> coefficients(const std::vector<WideBall> &values) const {
        const auto mirrored = [&](std::size_t j) { return real_ && j != 0 && 2 * j != points_; };
        WideBall all; // the sum of the sizes, and of the errors
        std::int64_t highest = 0;
        bool is_zero_all = true;
        for (std::size_t j = 0; j < values.size(); ++j) {
            const Scaled size = size_of(values[j].value);
            const Gaussian wide_size{shifted(mpq_class(size.mantissa), size.exp2), 0};
            for (int times = mirrored(j) ? 2 : 1; times > 0; --times)
                all = all + WideBall{wide_size, values[j].error};
            if (size.mantissa == 0) continue;
            highest = is_zero_all ? size.exp2 : std::max(highest, size.exp2);
            is_zero_all = false;
        }
        const std::int64_t shift = static_cast<std::int64_t>(2 * bits) - highest;
        std::vector<Whole> whole;
        for (const WideBall &x : values) whole.push_back({cut(x.value.re, shift), cut(x.value.im, shift)});
        const Gaussian share{shifted(all.value.re, 8 - static_cast<std::int64_t>(bits)), 0};
        const Scaled cut_off = size_of(share);
        const Scaled error = (Ball{{}, all.error} + Ball{{}, cut_off}).error;

        std::vector<WideBall> out;
        PolledSteps steps;
        for (std::size_t k = 0; k < points_; ++k) {
            Whole sum;
            for (std::size_t j = 0; j < whole.size(); ++j) {
                steps.take(64);
                const std::size_t angle = j * k % points_;
                const mpz_class &c = cosines_[angle], &s = sines_[angle]; // of w^(-j k): c - i s
                const mpz_class re = whole[j].re * c + whole[j].im * s;
                sum.re += mirrored(j) ? mpz_class(2 * re) : re;
                if (!real_) sum.im += whole[j].im * c - whole[j].re * s;
            }
            const std::int64_t back =
                -shift - static_cast<std::int64_t>(bits) - static_cast<std::int64_t>(k) * exp2_;
            const Gaussian value{shifted(mpq_class(sum.re), back), shifted(mpq_class(sum.im), back)};
            const Scaled scaled{error.mantissa, error.exp2 - static_cast<std::int64_t>(k) * exp2_};
            out.push_back(WideBall{value, scaled} / mpz_class(static_cast<unsigned long>(points_)));
        }
        return out;
    }

  private:
    // Times 2^bits, next to the true ones.
    static constexpr unsigned long bits = 256;
    std::vector<mpz_class> cosines_, sines_;
    std::size_t points_;
    std::int64_t exp2_;
    bool real_;
};

constexpr double far = 0x1p900; // beyond it, and below its inverse, products may leave the range of double

// c and l r as doubles; none: one lies beyond what is safe.
std::optional<std::complex<double>> as_doubles(const Gaussian &x, std::int64_t exp2) {
    const auto part = [exp2](const mpq_class &y) { return shifted(y, exp2).get_d(); };
    const std::complex<double> out(part(x.re), part(x.im));
    for (const auto &[y, exact] : {std::pair(out.real(), &x.re), std::pair(out.imag(), &x.im)})
        if (*exact != 0 && !(std::abs(y) < far && std::abs(y) > 1 / far)) return {};
    return out;
}

mpq_class exact_size(const Gaussian &x) { return abs(x.re) + abs(x.im); }

class OnCircle final : public AtPoints {
  public:
    OnCircle(const LinearEntries &entries, const Options &options, const std::string *plan, bool real)
        : lines_(static_cast<double>(entries.input.pattern.rows)),
          degree_(at(entries.degree)),
          circle_(circle_for(entries, options, real)) {
        const auto points = static_cast<std::int64_t>(circle_.values() + 1);
        const std::int64_t bytes = bytes_of_values(entries, options, circle_.values());
        if (options.precision == Precision::dd) {
            put_texts(entries, points, bytes, options, plan, exact_numbers(entries));
            return;
        }
        if (!take_values(entries, bytes)) return;
        Options doubles = options;
        doubles.precision = Precision::double_;
        put(entries.input_of(PERM_VALUE_C128), values_.data(), points, bytes, doubles, plan);
    }

    std::vector<Outcome> coefficients(PieceStore *store) const override {
        const std::vector<Outcome> found = outcomes(store);
        if (found.empty()) return {};
        const Scaled moved = moved_by_rounding(found[0]);
        std::vector<WideBall> values;
        for (std::size_t j = 0; j < circle_.values(); ++j) {
            const Outcome &one = found[j + 1];
            const Gaussian number = exact_number(one);
            values.push_back({number, (Ball{{}, one.error} + Ball{{}, moved}).error});
        }
        const std::vector<WideBall> coefficients = circle_.coefficients(values);
        std::vector<Outcome> out;
        for (const WideBall &coefficient : coefficients) {
            Outcome one = found[0];
            set_value(one, coefficient);
            out.push_back(std::move(one));
        }
        return out;
    }

  private:
    static std::int64_t bytes_of_values(const LinearEntries &entries, const Options &options,
                                        std::size_t values) {
        constexpr std::int64_t of_text = 400, of_doubles = 2 * sizeof(double);
        return static_cast<std::int64_t>((values + 1) * entries.values()) *
               (options.precision == Precision::dd ? of_text : of_doubles);
    }

    // Once there is room for the values at its points.
    static Circle circle_for(const LinearEntries &entries, const Options &options, bool real) {
        const std::size_t points = at(entries.degree) + 1;
        call().memory().require(
            bytes_of_values(entries, options, Circle::values_at(points, real)),
            formatted("a polynomial of degree {} from its values at as many points", entries.degree));
        return {points, entries.balanced_radius(), real};
    }

    // Those of |C| + r |L| first. False: entries lie too far apart.
    bool take_values(const LinearEntries &entries, std::int64_t bytes) {
        const Charge charge(&call().memory(), bytes);
        const std::size_t each = entries.values();
        std::vector<std::complex<double>> constant, linear;
        PolledSteps steps;
        for (std::size_t k = 0; k < each; ++k) {
            steps.take(64);
            const auto c = as_doubles(entries.constant_at(k), 0),
                       l = as_doubles(entries.linear_at(k), circle_.exp2());
            if (!c || !l) return false;
            constant.push_back(*c);
            linear.push_back(*l);
        }
        const auto size = [](const auto &x) { return std::abs(x.real()) + std::abs(x.imag()); };
        for (std::size_t k = 0; k < each; ++k) values_.emplace_back(size(constant[k]) + size(linear[k]));
        for (std::size_t j = 0; j < circle_.values(); ++j) {
            const std::complex<double> root(circle_.cosine(j), circle_.sine(j));
            for (std::size_t k = 0; k < each; ++k) {
                steps.take(8);
                values_.push_back(constant[k] + linear[k] * root);
            }
        }
        return true;
    }

    // The same exactly, but for the roots of unity.
    NumberAt exact_numbers(const LinearEntries &entries) const {
        std::vector<Gaussian> linear;
        for (std::size_t k = 0; k < entries.values(); ++k) {
            const Gaussian l = entries.linear_at(k);
            linear.push_back({shifted(l.re, circle_.exp2()), shifted(l.im, circle_.exp2())});
        }
        return [this, &entries, linear, root = Gaussian()](std::size_t point, std::size_t k) mutable {
            const Gaussian constant = entries.constant_at(k);
            if (point == 0) return Gaussian{exact_size(constant) + exact_size(linear[k]), 0};
            if (k == 0) root = circle_.root(point - 1);
            return constant + linear[k] * root;
        };
    }

    // Each entry that is computed with is within 2^-49 of what stands for it in |C| + r |L|: its numbers are
    // made doubles, multiplied, added; of texts within 2^-127. So the permanent moves by
    // ((1 + 2^-49)^n - 1) perm(|C| + r |L|), whose entries are rounded less than that.
    Scaled moved_by_rounding(const Outcome &magnitude) const {
        const double share = std::expm1(lines_ * (has_texts() ? 0x1p-126 : 0x1p-48)) * (1 + 0x1p-40);
        const Ball most = Ball{{}, size_of(exact_number(magnitude))} + Ball{{}, magnitude.error};
        return (Ball{make_scaled(share), {}} * Ball{{}, most.error}).error;
    }

    const double lines_;
    const std::size_t degree_;
    const Circle circle_;
    std::vector<std::complex<double>> values_; // or texts instead
};

} // namespace

void AtPoints::put(InputPattern input, const void *values, std::int64_t points, std::int64_t bytes,
                   Options options, const std::string *plan) {
    points_ = points;
    bytes_ = bytes;
    options.checkpoint.clear(); // the polynomial's
    const Charge charge(&call().memory(), bytes_);
    const std::int64_t stride = value_count(as_given(input));
    const Values known = typical_values(input, values, points);
    plan_ = plan_for(std::move(input), known, options, plan);
    const BatchWays by_plan{nullptr, nullptr, idle_tapes_, false};
    task_.emplace(BatchOf{plan_in_blocks(plan_), by_plan, values, stride, points});
}

void AtPoints::put_texts(const LinearEntries &entries, std::int64_t points, std::int64_t bytes,
                         const Options &options, const std::string *plan, const NumberAt &number) {
    Charge charge(&call().memory(), bytes);
    PolledSteps steps;
    for (std::size_t point = 0; point < at(points); ++point)
        for (std::size_t k = 0; k < entries.values(); ++k) {
            steps.take(1024);
            const Gaussian x = number(point, k);
            texts_.push_back(is_real(x) ? x.re.get_str() : x.re.get_str() + ' ' + x.im.get_str());
        }
    for (const std::string &text : texts_) pointers_.push_back(text.c_str());
    charge.resize(0);
    put(entries.input_of(PERM_VALUE_TEXT), pointers_.data(), points, bytes, options, plan);
}

std::vector<Outcome> AtPoints::outcomes(PieceStore *store) const {
    const Charge charge(&call().memory(), bytes_);
    std::vector<Outcome> out;
    for (BatchAnswer &answer : task_->run(store, {})) out.push_back(std::get<Outcome>(std::move(answer)));
    return out;
}

std::unique_ptr<Substitution> by_residues(const LinearEntries &entries, const Options &options,
                                          const std::string *plan) {
    if (static_cast<std::uint64_t>(entries.degree) >= options.modulus) return nullptr;
    return std::make_unique<ByResidues>(entries, options, plan);
}

std::unique_ptr<Substitution> on_circle(const LinearEntries &entries, const Options &options,
                                        const std::string *plan) {
    const bool real = !some_complex(entries.constant) && !some_complex(entries.linear);
    auto circle = std::make_unique<OnCircle>(entries, options, plan, real);
    if (!circle->is_possible()) return nullptr;
    return circle;
}

} // namespace libperm
