#include "lib/marginals/marginals.hpp"

#include "lib/base/error.hpp"
#include "lib/run/call.hpp"
#include "lib/run/errors.hpp"
#include "lib/run/numbered_sum.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/parallel.hpp"

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
    return has_perfect_matching(input.pattern);
}

// Throws Error for the first that no probability can be made of.
void check_signs(const InputPattern &given, const void *values) {
    const Values read = read_values(given, values);
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

void require_values(const InputPattern &input, const void *values) {
    const InputPattern &given = as_given(input);
    if (!values && value_count(given) > 0 && given.value_type != PERM_VALUE_PATTERN)
        static_cast<void>(read_values(given, values)); // which says so
}

// Throws Error where there are no probabilities.
MatchingSum required(MatchingSum sum, const InputPattern &input, const void *values) {
    if (sum.value.re.mantissa != 0) return sum;
    if (sum.value.exact || !has_matching(input, values)) refuse_no_matching();
    throw Error(PERM_UNSUPPORTED,
                "the weights lie so far apart that doubles lose the sum over all matchings: scale rows "
                "and columns so that the largest weights of each are alike");
}

} // namespace

Marginals::Marginals(const InputPattern &input) {
    const InputPattern &given = as_given(input);
    count_ = given.pattern.nnz() + given.pattern.rows + given.pattern.cols;
    if (!input.pattern.one_sided && !input.multiplied && SetWalk::serves(given)) sets_.emplace(given);
}

bool Marginals::takes_much(const MarginalsPlan &of) const {
    if (sets_) return false;
    GradientWay way; // where there is none, each matrix says so
    const Options &options = of.plan.options;
    static_cast<void>(within_limits([&] { way = of.derivatives.way(of.plan, of.tape, Goal::marginals); }));
    return way.sets && way.sets->bytes() > options.memory_limit / (2 * options.threads);
}

double Marginals::operations() const { return sets_ ? sets_->operations() : 0; }

std::optional<MatchingSum> Marginals::run_by_sets(const InputPattern &given, const void *values, Work &work,
                                                  MarginalNumbers to) const {
    const double *plain = plain_weights(given, values, work.values);
    SetValue found;
    if (!plain || !sets_->run(plain, work.sets, to.marginals, to.bounds, found)) return {};
    MatchingSum sum{answer_of_sets(found), {}};
    auto &[value, outcome, threads] = sum;
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

MatchingSum Marginals::run_by_derivatives(const MarginalsPlan &of, const void *values,
                                          MarginalNumbers to) const {
    const Plan &plan = of.plan;
    const InputPattern &given = as_given(plan.input);
    check_signs(given, values);
    const GradientWay way = of.derivatives.way(plan, of.tape, Goal::marginals);
    if (plan.input.multiplied && !given.row_weights && !given.col_weights && plan.input.free_lines() > 0)
        throw Error(PERM_UNSUPPORTED,
                    "a rectangle with multiplicities: give the weights of its longer side's "
                    "lines (1 each), so that it is told how often they stay unmatched");
    MatchingSum sum;
    if (way.sets) {
        const auto found = marginals_by_sets(*way.sets, given, values, to, plan.options, sum.outcome);
        if (found) return {*found, sum.outcome, plan.options.threads};
    }
    sum.value = way.marginals(plan, values, to.marginals, to.bounds, sum.outcome);
    if (sum.value.re.mantissa != 0 && plan.input.free_lines() > 0) add_implied(given, to);
    return sum;
}

MatchingSum Marginals::run(const MarginalsPlan &of, const void *values, Work &work,
                           MarginalNumbers to) const {
    const Plan &plan = of.plan;
    require_values(plan.input, values);
    std::optional<MatchingSum> sum;
    if (sets_) sum = run_by_sets(as_given(plan.input), values, work, to);
    if (!sum) sum = run_by_derivatives(of, values, to);
    return required(*std::move(sum), plan.input, values);
}

std::optional<MatchingSum> Marginals::run_alone(const InputPattern &input, const Options &options,
                                                const void *values, Work &work, MarginalNumbers to) const {
    require_values(input, values);
    std::optional<MatchingSum> sum;
    if (sets_) {
        sum = run_by_sets(as_given(input), values, work, to);
    } else if (may_go_by_sets(input, options)) {
        const auto sets = SetGradient::of(as_given(input), options);
        if (sets && are_quickest(*sets, input.pattern, options)) {
            sum.emplace();
            sum->threads = options.threads;
            const auto found = marginals_by_sets(*sets, as_given(input), values, to, options, sum->outcome);
            if (found)
                sum->value = *found;
            else
                sum.reset();
        }
    }
    if (!sum) return {};
    return required(*std::move(sum), input, values);
}

void marginals_of_batch(const MarginalsPlan &of, const Marginals &marginals, const MarginalsBatch &batch,
                        MarginalNumbers to,
                        const std::function<void(std::int64_t k, const MatchingSum &)> &tell) {
    constexpr double of_a_piece = 1e6; // multiply-adds: about half a millisecond
    const std::int64_t count = batch.count;
    check_stride(of.plan.input, batch.stride, count);
    if (count == 0) return;
    const auto apart = batch.stride * static_cast<std::int64_t>(size_of(of.plan.input.value_type));
    call().begin(static_cast<double>(count), 0);
    const auto at_once = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(of_a_piece / (marginals.operations() + 1)), 1, count);
    const std::int64_t group = marginals.by_sets() ? at_once : 1;
    const auto one = [&](std::int64_t k, Marginals::Work &work) {
        CurrentCall part(0, Call::OwnMemory());
        const void *of_matrix = batch.values ? static_cast<const char *>(batch.values) + k * apart : nullptr;
        const std::int64_t place = k * marginals.count();
        tell(k, marginals.run(of, of_matrix, work,
                              {to.marginals + place, to.bounds ? to.bounds + place : nullptr}));
    };
    if (marginals.takes_much(of)) {
        Marginals::Work work;
        for (std::int64_t k = 0; k < count; ++k) {
            naming_matrix(k, true, [&] { one(k, work); });
            call().advance(1);
        }
        return;
    }
    const NumberedPieces pieces = NumberedPieces::of_length(at(count), at(group));
    parallel_for(pieces.count(), [&](std::uint64_t piece) {
        Marginals::Work work;
        const NumberRange some = pieces[piece];
        for (std::uint64_t m = some.first; m < some.last; ++m) {
            const auto k = static_cast<std::int64_t>(m);
            naming_matrix(k, true, [&] { one(k, work); });
        }
        call().advance(some.size());
    });
}

} // namespace libperm
