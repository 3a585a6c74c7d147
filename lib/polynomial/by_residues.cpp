#include "lib/number/montgomery.hpp"
#include "lib/polynomial/at_points.hpp"
#include "lib/polynomial/substitution.hpp"
#include "preprocess/index.hpp"

#include <utility>

namespace libperm {
namespace {

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

std::string text_of(const Gaussian &x) {
    return is_real(x) ? x.re.get_str() : x.re.get_str() + ' ' + x.im.get_str();
}

class ByResidues final : public AtPoints {
  public:
    ByResidues(const LinearEntries &entries, const Options &options, const std::string *plan)
        : field_(options.modulus) {
        const auto points = static_cast<std::int64_t>(entries.degree + 1);
        constexpr std::int64_t of_text = sizeof(std::string) + sizeof(const char *) + 32;
        const std::int64_t bytes = of_text * points * static_cast<std::int64_t>(entries.values());
        take_texts(entries, points, bytes);
        put(entries.input_of(PERM_VALUE_TEXT), values_.data(), points, bytes, options, plan);
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
    void take_texts(const LinearEntries &entries, std::int64_t points, std::int64_t bytes) {
        const Charge charge(&call().memory(), bytes);
        PolledSteps steps;
        for (std::int64_t x = 0; x < points; ++x)
            for (std::size_t k = 0; k < entries.values(); ++k) {
                steps.take(256);
                texts_.push_back(
                    text_of(entries.constant_at(k) + Gaussian{mpq_class(x), 0} * entries.linear_at(k)));
            }
        for (const std::string &text : texts_) values_.push_back(text.c_str());
    }

    const Montgomery field_;
    std::vector<std::string> texts_;
    std::vector<const char *> values_;
};

} // namespace

std::unique_ptr<Substitution> by_residues(const LinearEntries &entries, const Options &options,
                                          const std::string *plan) {
    if (static_cast<std::uint64_t>(entries.degree) >= options.modulus) return nullptr;
    return std::make_unique<ByResidues>(entries, options, plan);
}

} // namespace libperm
