#include "lib/polynomial/by_power_of_two.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/execute.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/polynomial/substitution.hpp"
#include "lib/run/placement.hpp"
#include "lib/saved/bytes.hpp"
#include "lib/structure/find_structure.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

constexpr std::int64_t least_order = 24, most_order = 1000;

std::vector<Gaussian> all_exact(const Values &values) {
    std::vector<Gaussian> all;
    for (const double x : values.real) all.push_back({mpq_class(x), 0});
    all.insert(all.end(), values.wide.begin(), values.wide.end());
    return all;
}

mpz_class denominator_of(const std::vector<Gaussian> &numbers) {
    mpz_class all = 1;
    for (const Gaussian &x : numbers)
        for (const mpq_class *part : {&x.re, &x.im}) all = lcm(all, part->get_den());
    return all;
}

void scale_all(std::vector<Gaussian> &numbers, const mpz_class &factor) {
    for (Gaussian &x : numbers) {
        x.re *= factor;
        x.im *= factor;
    }
}

mpz_class whole_size(const Gaussian &x) { return abs(x.re.get_num()) + abs(x.im.get_num()); } // of whole ones

double digits_in(const mpz_class &x) { return static_cast<double>(mpz_sizeinbase(x.get_mpz_t(), 2)); }

// A + t r c^T, with its numbers by row.
struct Sum {
    InputPattern input;
    Values values;
};

// Whole numbers: the square matrix by row, and the weights.
struct SquareEntries {
    std::size_t n = 0;
    std::vector<Gaussian> entries, row_weights, col_weights;
    mpz_class factor = 1; // that was multiplied into entries, and into products of two weights

    // A row's entries and its weight may have a factor, and a column's.
    SquareEntries(const InputPattern &given, const Values &values) {
        const Pattern &a = given.pattern;
        n = at(std::max(a.rows, a.cols));
        std::vector<Gaussian> numbers = all_exact(values);
        const auto weights = [&](bool are_given, std::size_t first, std::int32_t count) {
            std::vector<Gaussian> all(n, Gaussian{1, 0});
            for (std::size_t k = 0; are_given && k < at(count); ++k) all[k] = numbers[first + k];
            return all;
        };
        const std::size_t nnz = at(a.nnz());
        row_weights = weights(given.row_weights, nnz, a.rows);
        col_weights = weights(given.col_weights, nnz + (given.row_weights ? at(a.rows) : 0), a.cols);
        numbers.resize(nnz);
        const mpz_class of_rows = lcm(denominator_of(numbers), denominator_of(row_weights)),
                        of_cols = denominator_of(col_weights);
        factor = of_rows * of_cols;
        scale_all(numbers, factor);
        scale_all(row_weights, of_rows);
        scale_all(col_weights, of_cols);
        entries.resize(n * n);
        for (std::int32_t i = 0; i < a.rows; ++i)
            for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
                entries[at(i) * n + at(a.col[at(k)])] = std::move(numbers[at(k)]);
    }

    // That no M_k (n - k)! needs more of: each row is in one of its entries, or pays its weight.
    double bits() const {
        double bits = 4 + std::lgamma(static_cast<double>(n) + 1) / std::log(2.0);
        for (std::size_t i = 0; i < n; ++i) {
            mpz_class sum = whole_size(row_weights[i]);
            for (std::size_t j = 0; j < n; ++j) sum += whole_size(entries[i * n + j]);
            bits += digits_in(sum) + digits_in(whole_size(col_weights[i]));
        }
        return std::ceil(bits);
    }

    Sum with_weights(const mpz_class &t) const {
        Sum sum;
        sum.input.value_type = PERM_VALUE_TEXT;
        sum.input.pattern.rows = sum.input.pattern.cols = static_cast<std::int32_t>(n);
        for (std::size_t i = 0; i < n; ++i) {
            poll();
            for (std::size_t j = 0; j < n; ++j) {
                Gaussian x = row_weights[i] * col_weights[j];
                x.re *= t;
                x.im *= t;
                sum.values.wide.push_back(entries[i * n + j] + x);
                sum.input.pattern.col.push_back(static_cast<std::int32_t>(j));
            }
            sum.input.pattern.row_ptr.push_back(std::ssize(sum.input.pattern.col));
        }
        simplify(sum.input, sum.values);
        return sum;
    }

    // Before long numbers are made: with another t in place of 2^b, with which it has the same one but by
    // chance. What has zeros may have one when it is taken apart.
    bool may_have_structure() const {
        constexpr unsigned long some_prime = 1000003;
        Sum sum = with_weights(some_prime);
        if (sum.values.wide.size() < n * n) return true;
        const ExactBlock block{std::move(sum.input.pattern), std::move(sum.values.wide)};
        return !structure_of(block, &call().memory()).is_none();
    }
};

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
        task_.emplace(plan_made(), values());
    }

    const Plan &plan_made() const override { return matchings_ ? matchings_->plan() : plan_; }
    const Task &task() const override { return *task_; }
    double seconds() const override { return plan_made().seconds; }

    std::vector<Outcome> coefficients(PieceStore *store) const override {
        const Charge charge(&call().memory(), bytes_);
        Outcome sum = execute(plan_made(), values(), store);
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

bool RankOneAdded::may_serve(const InputPattern &given, bool multiplied, const Options &options) {
    const Pattern &a = given.pattern;
    const std::int64_t n = std::max(a.rows, a.cols);
    return options.function == MatrixFunction::permanent && !a.one_sided && given.row_weights &&
           given.col_weights && !multiplied && !options.names_engine() && options.device != Device::gpu &&
           options.passes.structure && least_order <= n && n <= most_order && 3 * a.nnz() >= n * n;
}

double RankOneAdded::seconds_beside(const Plan &plan) {
    constexpr double as_looking = 0.1;
    if (plan.refusal != PERM_OK) return any_seconds;
    return plan.seconds > as_looking ? plan.seconds : 0;
}

bool RankOneAdded::is_plan_of(const std::string &plan, const InputPattern &given) {
    return plan_of(plan, Options()).n() == std::max(given.pattern.rows, given.pattern.cols);
}

std::optional<RankOneAdded> RankOneAdded::of(const InputPattern &given, const Values &values,
                                             const Options &options, double seconds,
                                             const std::string *plan_bytes) {
    std::optional<RankOneAdded> found;
    const auto look = [&] {
        const double n = std::max(given.pattern.rows, given.pattern.cols);
        constexpr double of_entry = 400; // bytes, beside its digits
        Charge charge(&call().memory(), static_cast<std::int64_t>(of_entry * n * n));
        const SquareEntries square(given, values);
        if (!plan_bytes && !square.may_have_structure()) return;
        RankOneAdded made;
        made.bits_ = static_cast<unsigned long>(square.bits());
        mpz_pow_ui(made.denominator_.get_mpz_t(), square.factor.get_mpz_t(), square.n);
        charge.grow(static_cast<std::int64_t>(n * n * static_cast<double>(made.bits_) / 2));
        Sum sum = square.with_weights(mpz_class(1) << made.bits_);
        made.values_ = std::move(sum.values);
        Options exact = options;
        exact.precision = Precision::exact;
        exact.modulus = 0;
        made.plan_ = plan_for(std::move(sum.input), made.values_, exact, plan_bytes);
        const Plan &plan = made.plan_;
        const bool is_structured =
            plan.main_block() && !plan.block_plans[plan.costliest].lines.structure.is_none();
        if (plan.refusal == PERM_OK && is_structured && plan.seconds < seconds) found = std::move(made);
    };
    if (plan_bytes)
        look();
    else
        within_limits(look, true);
    return found;
}

std::vector<Gaussian> RankOneAdded::numbers(const Outcome &permanent) const {
    const std::size_t n = at(plan_.n());
    const Gaussian number = exact_number(permanent);
    const std::vector<mpz_class> re = digits_of(number.re.get_num(), n + 1, bits_),
                                 im = digits_of(number.im.get_num(), n + 1, bits_);
    std::vector<Gaussian> all(n + 1);
    mpz_class ways = denominator_;
    for (std::size_t left = 0; left <= n; ++left) {
        if (left > 0) ways *= static_cast<unsigned long>(left);
        Gaussian &x = all[n - left];
        x = {mpq_class(re[left], ways), mpq_class(im[left], ways)};
        x.re.canonicalize();
        x.im.canonicalize();
    }
    return all;
}

Gaussian RankOneAdded::sum(const Outcome &permanent) const {
    Gaussian sum;
    for (const Gaussian &x : numbers(permanent)) {
        sum.re += x.re;
        sum.im += x.im;
    }
    return sum;
}

std::unique_ptr<Substitution> by_power_of_two(const LinearEntries &entries, const Options &options,
                                              const std::string *plan) {
    return std::make_unique<PowerOfTwo>(entries, options, plan);
}

} // namespace libperm
