#include "lib/marginals/marginals.hpp"

#include "lib/base/error.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

[[noreturn]] void refuse_no_matching() {
    throw Error(PERM_BAD_MATRIX,
                "there is no matching with a weight above 0, so no probabilities: let rows or "
                "columns stay unmatched (row_unmatched, col_unmatched), or add entries");
}

[[noreturn]] void refuse_sign(const InputPattern &given, std::int64_t value) {
    throw Error(PERM_BAD_MATRIX, place_of(given, value) +
                                     " is negative or not real: probabilities are of weights of 0 or more");
}

// Whether there is one among the entries that are not 0.
bool has_matching(InputPattern input, const void *values) {
    Values read = read_values(input, values);
    simplify(input, read);
    return maximum_matching(input.pattern).size == input.pattern.rows;
}

// The values as doubles, as they are; null if they are no doubles, or not all finite and real numbers of 0 or
// more.
const double *plain_values(const InputPattern &given, const void *values, std::vector<double> &own) {
    const std::int64_t count = value_count(given);
    own.resize(at(count) + 1);
    constexpr std::int64_t longest = std::int64_t{1} << 53;
    switch (given.value_type) {
    case PERM_VALUE_F64: {
        const auto *doubles = static_cast<const double *>(values);
        const bool are_fit =
            std::all_of(doubles, doubles + count, [](double x) { return x >= 0 && x < INFINITY; });
        return are_fit ? doubles : nullptr;
    }
    case PERM_VALUE_I64:
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t x = static_cast<const std::int64_t *>(values)[k];
            if (x < 0 || x > longest) return nullptr;
            own[at(k)] = static_cast<double>(x);
        }
        return own.data();
    case PERM_VALUE_PATTERN:
        std::fill(own.begin(), own.end(), 1.0);
        return own.data();
    default:
        return nullptr;
    }
}

// Throws Error for the first that no probability can be made of.
void check_signs(const InputPattern &given, const void *values, RunControl &control) {
    const Values read = read_values(given, values, [&control] { control.poll(); });
    for (std::size_t k = 0; k < read.real.size(); ++k)
        if (read.real[k] < 0) refuse_sign(given, static_cast<std::int64_t>(k));
    for (std::size_t k = 0; k < read.wide.size(); ++k)
        if (read.wide[k].re < 0 || !is_real(read.wide[k])) refuse_sign(given, static_cast<std::int64_t>(k));
}

// In a rectangle without weights the lines of the longer side stay unmatched when nothing else happens to
// them.
void add_implied(const InputPattern &given, MarginalNumbers to) {
    const auto [marginals, bounds] = to;
    const Pattern &a = given.pattern;
    if (given.row_weights || given.col_weights || a.rows == a.cols) return;
    const bool by_rows = a.rows > a.cols;
    const std::int64_t first = a.nnz() + (by_rows ? 0 : a.rows), count = by_rows ? a.rows : a.cols;
    std::fill_n(marginals + first, count, 1.0);
    if (bounds) std::fill_n(bounds + first, count, 0.0);
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
            const std::int64_t entry = given.source.empty() ? k : given.source[at(k)];
            const std::int64_t line = first + (by_rows ? i : a.col[at(k)]);
            marginals[line] = std::max(0.0, marginals[line] - marginals[entry]);
            if (bounds) bounds[line] = (bounds[line] + bounds[entry] + 0x1p-53) * (1 + 0x1p-50);
        }
}

} // namespace

Marginals::Marginals(const InputPattern &input) {
    const InputPattern &given = as_given(input);
    count_ = given.pattern.nnz() + given.pattern.rows + given.pattern.cols;
    if (!input.multiplied && SetWalk::serves(given)) sets_.emplace(given);
}

double Marginals::operations() const { return sets_ ? sets_->operations() : 0; }

std::optional<MatchingSum> Marginals::run_by_sets(const InputPattern &given, const void *values, Work &work,
                                                  MarginalNumbers to) const {
    const double *plain = plain_values(given, values, work.values);
    SetWalk::Value found;
    if (!plain || !sets_->run(plain, work.sets, to.marginals, to.bounds, found)) return {};
    MatchingSum sum;
    auto &[value, outcome] = sum;
    value.re = found.value;
    value.exact = found.value.mantissa == 0;
    Scaled error = found.value;
    error.mantissa *= found.rel_error_bound * (1 + 0x1p-40);
    value.set_error(found.value, make_scaled(error.mantissa, error.exp2));
    outcome.value = value.re;
    outcome.error = value.error;
    outcome.rel_error_bound = value.rel_error_bound;
    outcome.engine = engine_for(Goal::marginals);
    outcome.blocks = outcome.blocks_computed = 1;
    outcome.counts.peak_states = sets_->sets();
    outcome.counts.operations = sets_->operations();
    outcome.counts.peak_bytes = sets_->bytes();
    return sum;
}

MatchingSum Marginals::run_by_derivatives(const MarginalsPlan &of, const void *values, MarginalNumbers to,
                                          RunControl &control) const {
    const Plan &plan = of.plan;
    const InputPattern &given = as_given(plan.input);
    check_signs(given, values, control);
    const GradientWay way = of.derivatives.way(plan, of.tape, control, Goal::marginals);
    if (plan.input.multiplied && !given.row_weights && !given.col_weights && plan.input.free_lines() > 0)
        throw Error(PERM_UNSUPPORTED,
                    "a rectangle with multiplicities: give the weights of its longer side's "
                    "lines (1 each), so that it is told how often they stay unmatched");
    MatchingSum sum;
    sum.value = way.marginals(plan, values, to.marginals, to.bounds, control, sum.outcome);
    if (sum.value.re.mantissa != 0 && plan.input.free_lines() > 0) add_implied(given, to);
    return sum;
}

MatchingSum Marginals::run(const MarginalsPlan &of, const void *values, Work &work, MarginalNumbers to,
                           RunControl &control) const {
    const Plan &plan = of.plan;
    const InputPattern &given = as_given(plan.input);
    if (!values && value_count(given) > 0 && given.value_type != PERM_VALUE_PATTERN)
        static_cast<void>(read_values(given, values)); // which says so
    std::optional<MatchingSum> sum;
    if (sets_) sum = run_by_sets(given, values, work, to);
    if (!sum) sum = run_by_derivatives(of, values, to, control);
    if (sum->value.re.mantissa != 0) return *std::move(sum);
    if (sum->value.exact || !has_matching(plan.input, values)) refuse_no_matching();
    throw Error(PERM_UNSUPPORTED,
                "the weights lie so far apart that doubles lose the sum over all matchings: scale rows "
                "and columns so that the largest weights of each are alike");
}

} // namespace libperm
