#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/execute.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/polynomial/rank_one_added.hpp"
#include "lib/polynomial/substitution.hpp"
#include "lib/run/placement.hpp"
#include "lib/saved/bytes.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace libperm {
namespace {

class PowerOfTwo final : public Substitution {
  public:
    PowerOfTwo(const LinearEntries &entries, const Options &options, const std::string *plan)
        : count_(at(entries.degree + 1)) {
        CoefficientSize size = entries.coefficient_size();
        const double bytes = size.bits * static_cast<double>(count_) / 8;
        const double held =
            bytes * 4 + bytes / static_cast<double>(count_) * static_cast<double>(entries.entries()) * 2;
        if (held > static_cast<double>(options.memory_limit))
            throw refused_for_memory(formatted("exactly, the {} coefficients have up to {:.3g} bits each: {}",
                                               count_, size.bits, readable_bytes(held)),
                                     static_cast<double>(options.memory_limit),
                                     "raise the limit: memory_limit_bytes");
        bits_ = static_cast<unsigned long>(size.bits);
        denominator_ = std::move(size.denominator);
        bytes_ = static_cast<std::int64_t>(held);
        const Charge charge(&call().memory(), bytes_);
        Options exactly = options;
        exactly.precision = Precision::exact;
        exactly.modulus = 0;
        const Charge of_values(&call().memory(), bytes_written_out(entries, bits_));
        InputPattern input = entries.input_of(PERM_VALUE_TEXT);
        const Values written = values_at(entries, bits_);
        values_ = input.written ? spread(written, input.source) : written;
        simplify(input, values_);
        const InputPattern &given = as_given(entries.input);
        const bool may_lose_structure = RankOneAdded::may_serve(entries.input, exactly);
        const auto look_beside = [&](double seconds_otherwise) {
            const bool is_linear = has_no_constants(entries);
            matchings_ = RankOneAdded::of(given, is_linear ? values_at(entries, 0) : written, exactly,
                                          seconds_otherwise, plan);
            is_by_size_ = is_linear && matchings_;
        };
        if (may_lose_structure && plan && RankOneAdded::is_plan_of(*plan, given))
            look_beside(RankOneAdded::any_seconds);
        if (may_lose_structure && !plan && !options.checkpoint.empty())
            look_beside(RankOneAdded::before_a_search);
        if (!matchings_) plan_ = plan_for(std::move(input), values_, exactly, plan);
        const double otherwise = RankOneAdded::seconds_beside(plan_);
        if (may_lose_structure && !plan && !matchings_ && otherwise > 0) look_beside(otherwise);
        task_.emplace(this->plan(), values());
    }

    const Plan &plan() const override { return matchings_ ? matchings_->plan() : plan_; }
    const Task &task() const override { return *task_; }
    double seconds() const override { return plan().seconds; }

    std::vector<Outcome> coefficients(PieceStore *store) const override {
        const Charge charge(&call().memory(), bytes_);
        Outcome sum = execute(plan(), values(), store);
        if (!sum.exact) throw Error(PERM_INTERNAL, "a polynomial's value at a power of two is not exact");
        if (is_by_size_) return by_size(sum);
        Gaussian number = matchings_ ? matchings_->sum(sum)
                          : sum.wide ? *std::move(sum.wide)
                                     : Gaussian{exact_number(sum.value), 0};
        sum.wide.reset(); // each coefficient begins as a copy
        number.re *= denominator_;
        number.im *= denominator_;
        if (!is_integer(number))
            throw Error(PERM_INTERNAL, "a polynomial's value at a power of two is no whole number");
        const std::vector<mpz_class> re = digits_of(number.re.get_num(), count_, bits_),
                                     im = digits_of(number.im.get_num(), count_, bits_);
        std::vector<Outcome> out;
        for (std::size_t k = 0; k < count_; ++k) {
            Gaussian coefficient{mpq_class(re[k], denominator_), mpq_class(im[k], denominator_)};
            coefficient.re.canonicalize();
            coefficient.im.canonicalize();
            Outcome one = sum;
            set_value(one, WideBall{std::move(coefficient), {}});
            out.push_back(std::move(one));
        }
        return out;
    }

  private:
    const Values &values() const { return matchings_ ? matchings_->values() : values_; } // of the plan

    static bool has_no_constants(const LinearEntries &entries) {
        for (std::size_t k = 0; k < entries.entries(); ++k)
            if (!is_zero(entries.constant_at(k))) return false;
        return true;
    }

    // What the values come to where they are written out beside the entries: long numbers, each as often as
    // it stands there.
    static std::int64_t bytes_written_out(const LinearEntries &entries, unsigned long bits) {
        const InputPattern &input = entries.input;
        if (!input.written) return 0;
        constexpr std::int64_t of_number = sizeof(Gaussian) + 4 * 32; // with four short numbers
        const auto own = static_cast<std::int64_t>(entries.entries());
        PolledSteps steps;
        std::int64_t times = own;
        for (const std::int64_t k : input.source) {
            steps.take();
            times += k >= 0 && k < own;
        }
        return of_number * std::ssize(input.source) + static_cast<std::int64_t>(bits / 8) * times;
    }

    // At x = 2^bits.
    static Values values_at(const LinearEntries &entries, unsigned long bits) {
        Values values;
        PolledSteps steps;
        for (std::size_t k = 0; k < entries.values(); ++k) {
            steps.take(64 + static_cast<std::int64_t>(bits / 32));
            Gaussian x = entries.linear_at(k);
            x.re <<= bits;
            x.im <<= bits;
            values.wide.push_back(entries.constant_at(k) + x);
        }
        return values;
    }

    // Of x L: x^k stands with the sum over the matchings of k entries.
    std::vector<Outcome> by_size(const Outcome &sum) const {
        std::vector<Gaussian> numbers = matchings_->numbers(sum);
        numbers.resize(count_);
        std::vector<Outcome> out(count_, sum);
        for (std::size_t k = 0; k < count_; ++k) set_value(out[k], WideBall{std::move(numbers[k]), {}});
        return out;
    }

    const std::size_t count_;
    unsigned long bits_ = 0;
    mpz_class denominator_ = 1;
    std::int64_t bytes_ = 0; // of the value and its digits
    Values values_;
    Plan plan_;
    std::optional<RankOneAdded>
        matchings_;           // in place of these, where lines may stay unmatched beside structure
    bool is_by_size_ = false; // and their numbers are the coefficients
    std::optional<PlanTask> task_;
};

} // namespace

std::unique_ptr<Substitution> by_power_of_two(const LinearEntries &entries, const Options &options,
                                              const std::string *plan) {
    return std::make_unique<PowerOfTwo>(entries, options, plan);
}

} // namespace libperm
