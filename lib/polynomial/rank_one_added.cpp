#include "lib/polynomial/rank_one_added.hpp"

#include "lib/base/error.hpp"
#include "lib/polynomial/substitution.hpp"
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

} // namespace libperm
