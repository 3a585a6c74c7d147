#include "lib/execute/planar_gradient.hpp"

#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/planar/fields.hpp"
#include "lib/run/call.hpp"
#include "lib/run/placement.hpp"
#include "lib/tape/gradient_entries.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/index.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/numbers.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

constexpr std::int32_t least_order = 32; // along a tape smaller ones take no time
constexpr int fewest_bits = 192;

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

// The largest power of two that the number is a multiple of; `none` of 0, nothing where there is no such.
std::optional<std::int64_t> unit_of(double x) { return x == 0 ? none : unit_exponent(x); }
std::optional<std::int64_t> unit_of(const mpq_class &x) {
    if (x == 0) return none;
    const auto twos = static_cast<std::int64_t>(mpz_scan1(x.get_den_mpz_t(), 0));
    if (static_cast<std::size_t>(twos) + 1 != mpz_sizeinbase(x.get_den_mpz_t(), 2)) return {};
    return static_cast<std::int64_t>(mpz_scan1(x.get_num_mpz_t(), 0)) - twos;
}

// A planar matrix's values as its inverse takes them, exactly.
class PlanarValues {
  public:
    // Of some of the read entries, real ones all. All outlive it.
    PlanarValues(const Pattern &pattern, const std::vector<std::int64_t> &entries, const Values &read)
        : pattern_(pattern), entries_(entries), read_(read), are_nonnegative_(!some_negative(read)) {
        constexpr std::int64_t alike = 60; // bits
        std::int64_t lowest = none, highest = -none;
        are_alike_ = true;
        for (std::size_t k = 0; k < entries.size(); ++k) {
            const Tracked x = magnitude(k);
            are_alike_ = are_alike_ && !is_zero(x);
            if (is_zero(x)) continue;
            lowest = std::min(lowest, x.exp2);
            highest = std::max(highest, x.exp2);
        }
        are_alike_ = are_alike_ && highest - lowest <= alike;
        if (!find_units()) units_.clear();
    }

    BallField::Number number(std::size_t k, const BallField &field) const {
        const std::size_t entry = at(entries_[k]);
        return read_.wide.empty() ? field.number(read_.real[entry]) : field.number(read_.wide[entry].re);
    }
    mpq_class exactly(std::size_t k) const {
        const std::size_t entry = at(entries_[k]);
        return read_.wide.empty() ? mpq_class(read_.real[entry]) : read_.wide[entry].re;
    }
    // 0: the entry is.
    Tracked magnitude(std::size_t k) const {
        const std::size_t entry = at(entries_[k]);
        return read_.wide.empty() ? tracked(std::fabs(read_.real[entry]))
                                  : tracked_of(abs(read_.wide[entry].re));
    }

    bool are_nonnegative() const { return are_nonnegative_; }
    // None is 0, and all are of sizes that any pairs do for.
    bool are_alike() const { return are_alike_; }

    // As many pairs as there can be of entries that are not 0; where that is all lines, large entries where
    // others are small.
    Matching matching() const {
        Block sizes; // of what is not 0
        sizes.pattern.rows = pattern_.rows;
        sizes.pattern.cols = pattern_.cols;
        std::size_t k = 0;
        for (std::int32_t i = 0; i < pattern_.rows; ++i) {
            for (const std::int32_t j : pattern_.row(i))
                if (const Tracked x = magnitude(k++); !is_zero(x)) {
                    sizes.pattern.col.push_back(j);
                    sizes.values.push_back(x);
                }
            sizes.pattern.row_ptr.push_back(std::ssize(sizes.pattern.col));
        }
        Matching found = maximum_matching(sizes.pattern);
        if (found.size < pattern_.rows) return found;
        // Scaled so that all are below 1 the matching of the greatest product has the entries of 1/2 and
        // more.
        const PowerScaling scaling = power_scaling(sizes);
        Pattern large;
        large.rows = pattern_.rows;
        large.cols = pattern_.cols;
        k = 0;
        for (std::int32_t i = 0; i < pattern_.rows; ++i) {
            for (const std::int32_t j : sizes.pattern.row(i))
                if (sizes.values[k++].exp2 + scaling.row[at(i)] + scaling.col[at(j)] == 0)
                    large.col.push_back(j);
            large.row_ptr.push_back(std::ssize(large.col));
        }
        Matching better = maximum_matching(large);
        return better.size == pattern_.rows ? better : found;
    }

    // Row i's entries are multiples of 2^units()[i]; none: not of any.
    const std::vector<std::int64_t> &units() const { return units_; }

  private:
    bool find_units() {
        std::size_t k = 0;
        for (std::int32_t i = 0; i < pattern_.rows; ++i) {
            std::int64_t unit = none;
            for ([[maybe_unused]] const std::int32_t j : pattern_.row(i)) {
                const std::size_t entry = at(entries_[k++]);
                const auto own =
                    read_.wide.empty() ? unit_of(read_.real[entry]) : unit_of(read_.wide[entry].re);
                if (!own) return false;
                unit = std::min(unit, *own);
            }
            units_.push_back(unit == none ? 0 : unit);
        }
        return true;
    }

    const Pattern &pattern_;
    const std::vector<std::int64_t> &entries_;
    const Values &read_;
    bool are_nonnegative_, are_alike_;
    std::vector<std::int64_t> units_;
};

bool is_asked_for(const Options &options) { return options.engine == engine_for(Goal::inverse); }

// A radius beside which nothing of the number is lost.
Radius enough(const BallField::Number &x) { return BallField::at_least(x.middle) * Radius(1, -53); }

// The largest of a row's entries.
Radius largest(const PlanarValues &values, std::int64_t first, std::int64_t last) {
    Radius most;
    for (std::int64_t k = first; k < last; ++k) {
        const Tracked x = values.magnitude(at(k));
        if (const Radius size(x.value, x.exp2); most < size) most = size;
    }
    return most;
}

// Whether no more bits are needed. Where no number is negative a derivative is not 0, or exactly: by pairs of
// numbers that are not 0 each pivot is a quotient of permanents of planar parts, none is delayed, and what
// has no term stays without one. Others may cancel, and then what they are known to, beside those of their
// row, is enough.
bool is_good(const PlanarDerivatives &found, const Pattern &pattern, const PlanarValues &values) {
    const Radius beside_row(1, -80);
    if (enough(found.permanent) < found.permanent.radius) return false;
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
        const std::int64_t first = pattern.row_begin(i), last = pattern.row_begin(i + 1);
        const Radius size = largest(values, first, last);
        for (std::int64_t k = first; k < last; ++k) {
            const BallField::Number &x = found.over_permanent[at(k)];
            if (!(enough(x) < x.radius)) continue;
            const bool may_be_zero = !values.are_nonnegative() && BallField::may_be_zero(x);
            if (!may_be_zero || beside_row < x.radius * size) return false;
        }
    }
    return true;
}

Outcome planar_outcome(const TapeAnswer &answer, const PlanarPlan &planar) {
    Outcome outcome;
    outcome.value = answer.re;
    outcome.error = answer.error;
    outcome.rel_error_bound = answer.rel_error_bound;
    outcome.exact = answer.exact;
    outcome.counts.operations = products_of_derivatives(planar);
    outcome.counts.peak_bytes = call().memory().peak();
    outcome.blocks = outcome.blocks_computed = 1;
    outcome.engine = engine_for(Goal::inverse);
    return outcome;
}

TapeAnswer zero_answer(const PlanarPlan &planar, Outcome &outcome) {
    TapeAnswer zero;
    zero.exact = true;
    outcome = planar_outcome(zero, planar);
    return zero;
}

} // namespace

bool PlanarGradient::may_serve(const Plan &plan) {
    const Options &options = plan.options;
    return !plan.input.pattern.one_sided && plan.input.value_type != PERM_VALUE_C128 &&
           plan.input.free_lines() == 0 && options.engine != engine_for(Goal::gradient) && plan.n() > 0 &&
           (is_asked_for(options) || (plan.n() >= least_order && options.device != Device::gpu));
}

std::unique_ptr<const PlanarGradient> PlanarGradient::of(const Plan &plan) {
    if (!may_serve(plan)) return {};
    constexpr std::int64_t of_entry = 1200; // bytes, mostly of the graph that is drawn
    const Pattern &pattern = plan.input.pattern;
    const Charge charge(&call().memory(), of_entry * pattern.nnz());
    const Matching perfect = maximum_matching(pattern);
    if (perfect.size < pattern.rows) return {};
    const std::vector<std::int32_t> block = triangular_blocks(pattern, perfect);
    const std::vector<std::int64_t> places = caller_places(plan.input);
    PlanarGradient found;
    found.pattern_.rows = pattern.rows;
    found.pattern_.cols = pattern.cols;
    std::int64_t k = 0;
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
        for (const std::int32_t j : pattern.row(i)) {
            const std::int64_t own = k++;
            if (block[at(i)] != block[at(perfect.row_of_col[at(j)])]) continue;
            const std::int64_t place = places.empty() ? own : places[at(own)];
            if (place >= 0) found.places_.push_back({place, found.entries_.size(), i});
            found.entries_.push_back(own);
            found.pattern_.col.push_back(j);
        }
        found.pattern_.row_ptr.push_back(std::ssize(found.pattern_.col));
    }
    std::sort(found.places_.begin(), found.places_.end(), [](const Place &x, const Place &y) {
        return std::pair(x.place, x.entry) < std::pair(y.place, y.entry);
    });
    std::optional<PlanarPlan> planar = plan_planar(found.pattern_);
    if (!planar) return {};
    found.planar_ = std::move(*planar);
    return std::make_unique<const PlanarGradient>(std::move(found));
}

double PlanarGradient::seconds() const { return seconds_of_derivatives(planar_); }

void PlanarGradient::require_time(const Options &options) const {
    if (seconds() > options.refuse_seconds)
        throw refused_for_time("the derivatives by an inverse at the entries are", seconds(), options);
}

// Of one matrix.
class PlanarGradient::Run {
  public:
    Run(const PlanarGradient &of, const Plan &plan, const void *values)
        : of_(of),
          read_(values_for_derivatives(plan.input, values)),
          values_(of.pattern_, of.entries_, read_) {
        if (values_.are_alike()) return;
        const Matching matching = values_.matching();
        unmatched_ = of.pattern_.rows - matching.size;
        if (unmatched_ > 0) return;
        own_.sum = of.planar_.sum;
        pair_lines(own_, of.pattern_, matching);
        planar_ = &own_;
    }

    bool has_terms() const { return unmatched_ == 0; }             // the permanent, that are not 0
    bool derivatives_have_terms() const { return unmatched_ < 2; } // each has one row and column less

    // In as many bits as it takes; false: the permanent may be 0.
    bool find() {
        const double work = products_of_derivatives(*planar_);
        call().begin(work, seconds_of_derivatives(*planar_));
        for (int bits = fewest_bits;;) {
            const BallField field(bits);
            const auto entry = [&](std::size_t k) { return values_.number(k, field); };
            auto [found, next_bits] = planar_derivatives(*planar_, bits, entry);
            const bool is_last = bits == most_ball_bits;
            if (found && (is_last || is_good(*found, of_.pattern_, values_))) {
                found_ = std::move(found);
                bits_ = bits;
                return true;
            }
            const bool is_first = bits == fewest_bits;
            if (is_last || (!found && is_first && may_be_singular())) return false;
            call().expect_more(work);
            bits = next_bits;
        }
    }

    TapeAnswer permanent(Outcome &outcome) const {
        BallField::Number x = found_->permanent;
        if (has_units()) round_to_multiple(x, unit());
        const ScaledBall ball = in_double(x);
        TapeAnswer answer;
        answer.re = ball.value;
        answer.exact = ball.error.mantissa == 0;
        answer.set_error(ball.value, ball.error);
        outcome = planar_outcome(answer, *planar_);
        return answer;
    }

    // Puts a number at each place among the caller's values, and its bound; number_of(field, place): what is
    // added there.
    template <class NumberOf>
    void tell(const NumberOf &number_of, double *numbers, double *error_bounds) const {
        BallField field(bits_);
        for (auto next = of_.places_.begin(); next != of_.places_.end();) {
            const std::int64_t place = next->place;
            BallField::Number x = number_of(field, *next++);
            for (; next != of_.places_.end() && next->place == place; ++next)
                field.add(x, number_of(field, *next));
            const ScaledBall ball = in_double(x);
            double bound = to_double_up(ball.error);
            numbers[place] = rounded(ball.value, bound);
            if (error_bounds) error_bounds[place] = bound;
        }
    }

    BallField::Number derivative(BallField &field, const Place &of) const {
        BallField::Number x = found_->over_permanent[of.entry];
        field.multiply(x, found_->permanent);
        if (has_units()) round_to_multiple(x, unit() - values_.units()[at(of.row)]);
        return x;
    }
    BallField::Number share(BallField &field, const Place &of) const {
        BallField::Number x = values_.number(of.entry, field);
        field.multiply(x, found_->over_permanent[of.entry]);
        return x;
    }

  private:
    bool may_be_singular() const {
        return is_singular(*planar_, [this](std::size_t k) { return values_.exactly(k); });
    }
    bool has_units() const { return !values_.units().empty(); }
    std::int64_t unit() const { // of all terms of the permanent
        return std::accumulate(values_.units().begin(), values_.units().end(), std::int64_t{0});
    }

    const PlanarGradient &of_;
    const Values read_;
    const PlanarValues values_;
    std::int32_t unmatched_ = 0; // rows, by entries that are not 0
    PlanarPlan own_;
    const PlanarPlan *planar_ = &of_.planar_;
    int bits_ = fewest_bits;
    std::optional<PlanarDerivatives> found_;
};

std::optional<TapeAnswer> PlanarGradient::run(const Plan &plan, const void *values, double *gradient,
                                              double *error_bounds, Outcome &outcome) const {
    require_time(plan.options);
    Run run(*this, plan, values);
    const bool is_zero = !run.derivatives_have_terms();
    if (!is_zero && (!run.has_terms() || !run.find())) return {};
    const auto count = values_given(plan.input);
    std::fill_n(gradient, count, 0.0);
    if (error_bounds) std::fill_n(error_bounds, count, 0.0);
    if (is_zero) return zero_answer(planar_, outcome);
    const TapeAnswer answer = run.permanent(outcome);
    run.tell([&](BallField &field, const Place &of) { return run.derivative(field, of); }, gradient,
             error_bounds);
    return answer;
}

std::optional<TapeAnswer> PlanarGradient::marginals(const Plan &plan, const void *values, double *marginals,
                                                    double *error_bounds, Outcome &outcome) const {
    require_time(plan.options);
    Run run(*this, plan, values);
    if (!run.has_terms()) return zero_answer(planar_, outcome);
    if (!run.find()) return {};
    const TapeAnswer answer = run.permanent(outcome);
    const Pattern &given = as_given(plan.input).pattern;
    const std::int64_t all = given.nnz() + given.rows + given.cols; // no line may stay unmatched
    std::fill_n(marginals, all, 0.0);
    if (error_bounds) std::fill_n(error_bounds, all, 0.0);
    run.tell([&](BallField &field, const Place &of) { return run.share(field, of); }, marginals,
             error_bounds);
    return answer;
}

} // namespace libperm
