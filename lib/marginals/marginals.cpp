#include "lib/marginals/marginals.hpp"

#include "lib/base/error.hpp"
#include "lib/number/ball.hpp"
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

constexpr std::int32_t most_short_lines = 12;
constexpr std::int64_t most_numbers = 1 << 16; // of all sets after all lines: beyond, lib/sets is quicker

// Factors of a term multiply to no less than 2^-range and no more than 2^range, and so does what they are
// summed to.
constexpr int range = 900;

constexpr std::int64_t side_by_side = 8; // sums that are added up in the end

double sum_of(const double *x, std::int64_t count) {
    double sums[side_by_side] = {};
    std::int64_t k = 0;
    for (; k + side_by_side <= count; k += side_by_side)
        for (std::int64_t s = 0; s < side_by_side; ++s) sums[s] += x[k + s];
    for (std::int64_t s = 0; k < count; ++k, ++s) sums[s] += x[k];
    for (std::int64_t half = side_by_side / 2; half > 0; half /= 2)
        for (std::int64_t s = 0; s < half; ++s) sums[s] += sums[s + half];
    return sums[0];
}
double roundings_of_sum(std::int64_t count) {
    const std::int64_t longest = count / side_by_side + 1;
    return static_cast<double>(longest) + 3; // log2 of the sums side by side
}

// work(first, run): `run` sets that follow each other from `first` on lack the bit.
template <class Work> void for_sets_without(std::int32_t bit, std::int64_t sets, const Work &work) {
    const std::int64_t run = std::int64_t{1} << bit;
    for (std::int64_t first = 0; first < sets; first += 2 * run) work(first, run);
}

} // namespace

bool SetWalk::serves(const InputPattern &given) {
    const std::int64_t m = given.pattern.rows, n = given.pattern.cols, sets = std::min(m, n);
    return sets <= most_short_lines && ((std::max(m, n) + 1) << sets) <= most_numbers;
}

SetWalk::SetWalk(const InputPattern &given)
    : layers_(SetLayers::all_waiting(given)),
      value_count_(libperm::value_count(given)),
      marginal_count_(given.pattern.nnz() + given.pattern.rows + given.pattern.cols),
      sets_(std::int64_t{1} << layers_.lines()),
      operations_(
          3 * static_cast<double>(sets_) *
          (0.5 * static_cast<double>(given.pattern.nnz()) + static_cast<double>(layers_.layers().size()))),
      bytes_(8 * ((std::ssize(layers_.layers()) + 3) * sets_ + value_count_ + 2 * given.pattern.nnz())) {}

// Multiplies each long line by the power of two that brings its largest number into [1/2, 1).
bool SetWalk::load(const double *values, Workspace &work) const {
    work.values.resize(at(value_count_));
    const std::vector<SetLayer> &lines = layers_.layers();
    work.exponents.assign(lines.size(), 0);
    double lost = 0, grown = 0; // exponents of products, at most
    const auto least_exponent = [](double x) { return x == 0 ? 0.0 : std::ilogb(x); };
    for (std::size_t l = 0; l < lines.size(); ++l) {
        const SetLayer &line = lines[l];
        double most = number(values, line.unmatched), least = most == 0 ? INFINITY : most;
        for (const SetMove &move : line.moves) {
            const double x = values[move.place];
            most = std::max(most, x);
            if (x != 0) least = std::min(least, x);
        }
        const int exponent = most == 0 ? 0 : std::ilogb(most) + 1;
        work.exponents[l] = exponent;
        if (most != 0) lost += exponent - std::ilogb(least);
        grown += std::log2(static_cast<double>(line.moves.size()) + 1);
        if (lost > range || std::abs(exponent) > 1000) return false;
        const double scale = std::ldexp(1.0, -exponent);
        for (const SetMove &move : line.moves) work.values[at(move.place)] = values[move.place] * scale;
        if (line.unmatched >= 0) work.values[at(line.unmatched)] = values[line.unmatched] * scale;
    }
    for (const SetClosing &line : layers_.alone()) {
        const double x = number(values, line.unmatched), exponent = least_exponent(x);
        (exponent < 0 ? lost : grown) += std::fabs(exponent) + 1;
        if (line.unmatched >= 0) work.values[at(line.unmatched)] = x;
    }
    return lost <= range && grown <= range;
}

double SetWalk::stays_unmatched(std::size_t l, const Workspace &work) const {
    const std::int64_t place = layers_.layers()[l].unmatched;
    if (place == weight_one) return std::ldexp(1.0, -work.exponents[l]);
    return place == absent_weight ? 0 : work.values[at(place)];
}

std::int64_t SetWalk::go_forward(std::size_t l, const Workspace &work, const double *from, double *to) const {
    const double stays = stays_unmatched(l, work);
    for (std::int64_t set = 0; set < sets_; ++set) to[set] = stays * from[set];
    std::int64_t added = 0;
    for (const SetMove &move : layers_.layers()[l].moves) {
        const double a = work.values[at(move.place)];
        if (a == 0) continue;
        ++added;
        for_sets_without(move.bit, sets_, [&](std::int64_t first, std::int64_t run) {
            for (std::int64_t k = 0; k < run; ++k) to[first + run + k] += a * from[first + k];
        });
    }
    return added;
}

// F after each long line; returns the roundings on the way of a term.
double SetWalk::walk_forward(Workspace &work) const {
    const auto lines = std::ssize(layers_.layers());
    work.forward.resize(at((lines + 1) * sets_));
    double *const forward = work.forward.data();
    std::fill_n(forward, sets_, 0.0);
    forward[0] = 1;
    double roundings = 0; // a product, and a sum of so many, for each line
    for (std::int64_t l = 0; l < lines; ++l) {
        const std::int64_t added = go_forward(at(l), work, forward + l * sets_, forward + (l + 1) * sets_);
        roundings += static_cast<double>(added) + 2;
    }
    return roundings;
}

// G behind the last long line: the short lines that are not in the set stay unmatched.
void SetWalk::begin_back(Workspace &work) const {
    work.back.resize(at(sets_));
    work.next.resize(at(sets_));
    work.products.resize(at(sets_));
    double *const back = work.back.data();
    back[sets_ - 1] = 1;
    for (std::int64_t set = sets_ - 2; set >= 0; --set) { // the last line that is not in it
        const auto line = at(std::countr_one(static_cast<std::uint64_t>(set)));
        back[set] =
            back[set | std::int64_t{1} << line] * number(work.values.data(), layers_.alone()[line].unmatched);
    }
}

double SetWalk::sum_of_products(const double *x, const double *y, Workspace &work) const {
    for (std::int64_t set = 0; set < sets_; ++set) work.products[at(set)] = x[set] * y[set];
    return sum_of(work.products.data(), sets_);
}

// Where probabilities go, as shares of the sum over all matchings.
struct SetWalk::Shares {
    double *marginals, *bounds;
    double total, error;

    void put(std::int64_t place, double part) const {
        const double probability = part / total;
        marginals[place] = probability;
        if (bounds) bounds[place] = probability * error + (probability < 0x1p-900 ? 0x1p-1022 : 0);
    }
};

void SetWalk::put_short_lines(Workspace &work, const Shares &shares) const {
    const double *const last = work.forward.data() + std::ssize(layers_.layers()) * sets_;
    const double *const back = work.back.data();
    double *const products = work.products.data();
    for (const SetClosing &line : layers_.alone()) {
        if (line.unmatched == absent_weight) continue;
        std::int64_t count = 0;
        for_sets_without(line.bit, sets_, [&](std::int64_t first, std::int64_t run) {
            for (std::int64_t k = first; k < first + run; ++k) products[count++] = last[k] * back[k];
        });
        shares.put(line.told, sum_of(products, count));
    }
}

// Goes back over long line l: G before it is left in `work.back`.
void SetWalk::put_long_line(std::int64_t l, Workspace &work, const Shares &shares) const {
    const SetLayer &line = layers_.layers()[at(l)];
    const double *const before = work.forward.data() + l * sets_, *const back = work.back.data();
    double *const next = work.next.data(), *const products = work.products.data();
    const double stays = stays_unmatched(at(l), work);
    if (stays != 0) shares.put(line.told, stays * sum_of_products(before, back, work));
    for (std::int64_t set = 0; set < sets_; ++set) next[set] = stays * back[set];
    for (const SetMove &move : line.moves) {
        const double a = work.values[at(move.place)];
        if (a == 0) continue;
        std::int64_t count = 0;
        for_sets_without(move.bit, sets_, [&](std::int64_t first, std::int64_t run) {
            for (std::int64_t k = first; k < first + run; ++k) {
                next[k] += a * back[k + run];
                products[count + k - first] = before[k] * back[k + run];
            }
            count += run;
        });
        shares.put(move.place, a * sum_of(products, count));
    }
    work.back.swap(work.next);
}

bool SetWalk::run(const double *values, Workspace &work, double *marginals, double *bounds,
                  SetValue &value) const {
    if (!load(values, work)) return false;
    double roundings = walk_forward(work);
    begin_back(work);
    const auto lines = std::ssize(layers_.layers());
    const double total = sum_of_products(work.forward.data() + lines * sets_, work.back.data(), work);
    if (!(total > 0)) {
        value = {};
        return true;
    }
    roundings += static_cast<double>(layers_.lines()) + roundings_of_sum(sets_) + 1;
    // Of the numerator, of the value, of their quotient and of what is done beside.
    const Shares shares{marginals, bounds, total, gamma_bound(2 * roundings + 8) * (1 + 0x1p-30)};
    std::fill_n(marginals, marginal_count_, 0.0);
    if (bounds) std::fill_n(bounds, marginal_count_, 0.0);
    put_short_lines(work, shares);
    for (std::int64_t l = lines; l-- > 0;) put_long_line(l, work, shares);
    std::int64_t exponent = 0;
    for (const int e : work.exponents) exponent += e;
    value = {make_scaled(total, exponent),
             gamma_bound(roundings) / (1 - gamma_bound(roundings)) * (1 + 0x1p-30)};
    return true;
}

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
