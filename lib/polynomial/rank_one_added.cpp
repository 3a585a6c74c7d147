#include "lib/polynomial/rank_one_added.hpp"

#include "lib/polynomial/kronecker.hpp"
#include "lib/polynomial/substitution.hpp"
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

// Whole numbers: the square matrix by row, and the weights.
struct SquareEntries {
    std::size_t n;
    std::vector<Gaussian> entries, row_weights, col_weights;

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
};

} // namespace

bool RankOneAdded::may_serve(const InputPattern &input, const Options &options) {
    const InputPattern &given = as_given(input);
    const Pattern &a = given.pattern;
    const std::int64_t n = std::max(a.rows, a.cols);
    return options.function == MatrixFunction::permanent && !a.one_sided && given.row_weights &&
           given.col_weights && !input.multiplied && !options.names_engine() &&
           options.device != Device::gpu && options.passes.structure && least_order <= n && n <= most_order &&
           3 * a.nnz() >= n * n;
}

std::optional<RankOneAdded> RankOneAdded::of(const InputPattern &given, const Values &values,
                                             const Options &options, double seconds, RunControl &control,
                                             const std::string *plan_bytes) {
    const Pattern &a = given.pattern;
    const std::size_t n = at(std::max(a.rows, a.cols));
    std::vector<Gaussian> numbers = all_exact(values);
    SquareEntries square{n, {}, {}, {}};
    const auto weights = [&](bool are_given, std::size_t first, std::int32_t count) {
        std::vector<Gaussian> all(n, Gaussian{1, 0});
        for (std::size_t k = 0; are_given && k < at(count); ++k) all[k] = numbers[first + k];
        return all;
    };
    const std::size_t nnz = at(a.nnz());
    square.row_weights = weights(given.row_weights, nnz, a.rows);
    square.col_weights = weights(given.col_weights, nnz + (given.row_weights ? at(a.rows) : 0), a.cols);
    numbers.resize(nnz);
    // A row's entries and its weight may have a factor, and a column's.
    const mpz_class of_rows = lcm(denominator_of(numbers), denominator_of(square.row_weights)),
                    of_cols = denominator_of(square.col_weights), of_both = of_rows * of_cols;
    scale_all(numbers, of_both);
    scale_all(square.row_weights, of_rows);
    scale_all(square.col_weights, of_cols);
    square.entries.resize(n * n);
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
            square.entries[at(i) * n + at(a.col[at(k)])] = std::move(numbers[at(k)]);
    RankOneAdded found;
    found.bits_ = static_cast<unsigned long>(square.bits());
    mpz_pow_ui(found.denominator_.get_mpz_t(), of_both.get_mpz_t(), static_cast<unsigned long>(n));
    constexpr double of_entry = 400; // bytes, beside its digits
    const double bytes = static_cast<double>(n * n) * (of_entry + static_cast<double>(found.bits_) / 2);
    const Charge charge(&control.memory(), static_cast<std::int64_t>(bytes));
    InputPattern input;
    input.value_type = PERM_VALUE_TEXT;
    input.pattern.rows = input.pattern.cols = static_cast<std::int32_t>(n);
    for (std::size_t i = 0; i < n; ++i) {
        control.poll();
        for (std::size_t j = 0; j < n; ++j) {
            const Gaussian &r = square.row_weights[i], &c = square.col_weights[j];
            Gaussian weight{r.re * c.re - r.im * c.im, r.re * c.im + r.im * c.re};
            weight.re <<= found.bits_;
            weight.im <<= found.bits_;
            const Gaussian &x = square.entries[i * n + j];
            found.values_.wide.push_back({x.re + weight.re, x.im + weight.im});
            input.pattern.col.push_back(static_cast<std::int32_t>(j));
        }
        input.pattern.row_ptr.push_back(std::ssize(input.pattern.col));
    }
    simplify(input, found.values_);
    Options exact = options;
    exact.precision = Precision::exact;
    found.plan_ = plan_for(std::move(input), found.values_, exact, control, plan_bytes);
    const Plan &plan = found.plan_;
    const bool is_structured =
        plan.main_block() && !plan.block_plans[plan.costliest].lines.structure.is_none();
    if (plan.refusal != PERM_OK || !is_structured || plan.seconds >= seconds) return {};
    return found;
}

std::vector<Gaussian> RankOneAdded::numbers(const Outcome &permanent, const Poll &poll) const {
    const std::size_t n = at(plan_.n());
    const Gaussian number = permanent.wide ? *permanent.wide : Gaussian{exact_number(permanent.value), 0};
    const std::vector<mpz_class> re = digits_of(number.re.get_num(), n + 1, bits_, poll),
                                 im = digits_of(number.im.get_num(), n + 1, bits_, poll);
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

Gaussian RankOneAdded::sum(const Outcome &permanent, const Poll &poll) const {
    Gaussian sum;
    for (const Gaussian &x : numbers(permanent, poll)) {
        sum.re += x.re;
        sum.im += x.im;
    }
    return sum;
}

} // namespace libperm
