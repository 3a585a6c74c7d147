#include "jit/text/text.hpp"
#include "lib/polynomial/at_points.hpp"
#include "lib/polynomial/circle.hpp"
#include "lib/polynomial/kronecker.hpp"
#include "lib/polynomial/substitution.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr double far = 0x1p900; // beyond it, and below its inverse, products may leave the range of double

// c and l r as doubles; none: one lies beyond what is safe.
struct Doubles {
    double re, im;
};
std::optional<Doubles> as_doubles(const Gaussian &x, std::int64_t exp2) {
    const auto part = [exp2](const mpq_class &y) { return shifted(y, exp2).get_d(); };
    const Doubles out{part(x.re), part(x.im)};
    for (const auto &[y, exact] : {std::pair(out.re, &x.re), std::pair(out.im, &x.im)})
        if (*exact != 0 && !(std::abs(y) < far && std::abs(y) > 1 / far)) return {};
    return out;
}

mpq_class exact_size(const Gaussian &x) { return abs(x.re) + abs(x.im); }

class OnCircle final : public AtPoints {
  public:
    OnCircle(const LinearEntries &entries, const Options &options, RunControl &control,
             const std::string *plan, bool real)
        : lines_(static_cast<double>(entries.input.pattern.rows)),
          degree_(at(entries.degree)),
          circle_(circle_for(entries, options, control, real)) {
        const auto points = static_cast<std::int64_t>(circle_.values() + 1);
        const std::int64_t bytes = bytes_of_values(entries, options, circle_.values());
        if (options.precision == Precision::dd) {
            take_texts(entries, control, bytes);
            put(entries.input_of(PERM_VALUE_TEXT), pointers_.data(), points, bytes, options, control, plan);
            return;
        }
        if (!take_values(entries, control, bytes)) return;
        Options doubles = options;
        doubles.precision = Precision::double_;
        put(entries.input_of(PERM_VALUE_C128), values_.data(), points, bytes, doubles, control, plan);
    }

    std::vector<Outcome> coefficients(PieceStore *store, RunControl &control) const override {
        const std::vector<Outcome> found = outcomes(store, control);
        if (found.empty()) return {};
        const Scaled moved = moved_by_rounding(found[0]);
        std::vector<WideBall> values;
        for (std::size_t j = 0; j < circle_.values(); ++j) {
            const Outcome &one = found[j + 1];
            const Gaussian number = one.wide ? *one.wide : Gaussian{exact_number(one.value), 0};
            values.push_back({number, (Ball{{}, one.error} + Ball{{}, moved}).error});
        }
        const std::vector<WideBall> coefficients =
            circle_.coefficients(values, [&control] { control.poll(); });
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
    static Circle circle_for(const LinearEntries &entries, const Options &options, RunControl &control,
                             bool real) {
        const Poll poll = [&control] { control.poll(); };
        const std::size_t points = at(entries.degree) + 1;
        control.memory().require(
            bytes_of_values(entries, options, Circle::values_at(points, real)),
            formatted("a polynomial of degree {} from its values at as many points", entries.degree));
        return {points, entries.balanced_radius(poll), real, poll};
    }

    // Those of |C| + r |L| first. False: entries lie too far apart.
    bool take_values(const LinearEntries &entries, RunControl &control, std::int64_t bytes) {
        const Charge charge(&control.memory(), bytes);
        const std::size_t each = entries.values();
        std::vector<Doubles> constant, linear;
        const Poll poll = [&control] { control.poll(); };
        PolledSteps steps(poll);
        for (std::size_t k = 0; k < each; ++k) {
            steps.take(64);
            const auto c = as_doubles(entries.constant_at(k), 0),
                       l = as_doubles(entries.linear_at(k), circle_.exp2());
            if (!c || !l) return false;
            constant.push_back(*c);
            linear.push_back(*l);
        }
        const auto size = [](const Doubles &x) { return std::abs(x.re) + std::abs(x.im); };
        for (std::size_t k = 0; k < each; ++k) {
            values_.push_back(size(constant[k]) + size(linear[k]));
            values_.push_back(0);
        }
        for (std::size_t j = 0; j < circle_.values(); ++j) {
            const double re = circle_.cosine(j), im = circle_.sine(j);
            for (std::size_t k = 0; k < each; ++k) {
                steps.take(8);
                const Doubles &c = constant[k], &l = linear[k];
                values_.push_back(c.re + (l.re * re - l.im * im));
                values_.push_back(c.im + (l.re * im + l.im * re));
            }
        }
        return true;
    }

    // The same exactly, but for the roots of unity.
    void take_texts(const LinearEntries &entries, RunControl &control, std::int64_t bytes) {
        const Charge charge(&control.memory(), bytes);
        const std::size_t each = entries.values();
        const Poll poll = [&control] { control.poll(); };
        PolledSteps steps(poll);
        std::vector<Gaussian> linear;
        for (std::size_t k = 0; k < each; ++k) {
            const Gaussian l = entries.linear_at(k);
            linear.push_back({shifted(l.re, circle_.exp2()), shifted(l.im, circle_.exp2())});
            const mpq_class size = exact_size(entries.constant_at(k)) + exact_size(linear.back());
            texts_.push_back(size.get_str());
        }
        for (std::size_t j = 0; j < circle_.values(); ++j) {
            const Gaussian root = circle_.root(j);
            for (std::size_t k = 0; k < each; ++k) {
                steps.take(1024);
                const Gaussian x = entries.constant_at(k) + linear[k] * root;
                texts_.push_back(x.re.get_str() + ' ' + x.im.get_str());
            }
        }
        for (const std::string &text : texts_) pointers_.push_back(text.c_str());
    }

    // Each entry that is computed with is within 2^-49 of what stands for it in |C| + r |L|: its numbers are
    // made doubles, multiplied, added; of texts within 2^-127. So the permanent moves by
    // ((1 + 2^-49)^n - 1) perm(|C| + r |L|), whose entries are rounded less than that.
    Scaled moved_by_rounding(const Outcome &magnitude) const {
        const double share = std::expm1(lines_ * (texts_.empty() ? 0x1p-48 : 0x1p-126)) * (1 + 0x1p-40);
        const Ball most =
            Ball{{}, size_of(magnitude.wide ? *magnitude.wide : Gaussian{exact_number(magnitude.value), 0})} +
            Ball{{}, magnitude.error};
        return (Ball{make_scaled(share), {}} * Ball{{}, most.error}).error;
    }

    const double lines_;
    const std::size_t degree_;
    const Circle circle_;
    std::vector<double> values_;
    std::vector<std::string> texts_; // instead
    std::vector<const char *> pointers_;
};

bool is_real_matrix(const LinearEntries &entries) {
    return !some_complex(entries.constant) && !some_complex(entries.linear);
}

} // namespace

std::unique_ptr<Substitution> on_circle(const LinearEntries &entries, const Options &options,
                                        RunControl &control, const std::string *plan) {
    auto circle = std::make_unique<OnCircle>(entries, options, control, plan, is_real_matrix(entries));
    if (!circle->is_possible()) return nullptr;
    return circle;
}

} // namespace libperm
