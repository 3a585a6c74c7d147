#include "lib/tape/gradient.hpp"

#include "lib/base/error.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/state_number.hpp"
#include "lib/run/call.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/tape/tape_steps.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

constexpr double move_seconds = 1.5e-9;

// What magnitudes have at least: underflow loses less than a rounding of it.
constexpr double magnitude_floor = 0x1p-900;

// States of a list that go back together: no entry's sum has more terms, and then sums are added. Of a join
// they may be fewer, for it may have many moves from each.
constexpr std::uint32_t most_states_at_once = 512, most_moves_at_once = 1 << 18;

} // namespace

Gradient::Gradient(const Plan &plan, const TapePlan *direct, const GradientWish &wish) {
    own_.lists = {{}};
    own_.first_state = {0, 1};
    own_.first_move = {0, 0};
    if (direct) {
        tape_ = &direct->tape();
        numbers_ = plan.input.source; // its entries have the caller's numbers
    } else if (plan.n() > 0) {
        own_ = long_tape({plan.input.pattern, plan.input.free_rows, plan.input.free_columns}, plan.options,
                         wish.goal == Goal::marginals ? "a tape for marginals" : "a gradient",
                         {wish.most_moves});
    }
    describe(plan);
}

Gradient::Gradient(const Plan &plan, Tape tape) : own_(std::move(tape)) { describe(plan); }

void Gradient::describe(const Plan &plan) {
    describe_lists();
    find_places(plan);
}

void Gradient::find_places(const Plan &plan) {
    const Pattern &pattern = plan.input.pattern;
    places_ = caller_places(plan.input);
    copies_ = copies_of(plan.input, places_);
    for (std::int32_t i = 0; i < pattern.rows; ++i)
        for (const std::int32_t j : pattern.row(i)) {
            pattern_row_.push_back(i);
            pattern_col_.push_back(j);
        }
}

// One matrix's way forwards and back. Lists of numbers have powers of two of their own, that keep them
// near 1.
class Gradient::Walk {
  public:
    Walk(const Gradient &of, TapeLayout layout, const std::vector<double> &entries, MemoryBudget &memory)
        : of_(of),
          tape_(*of.tape_),
          layout_(layout),
          entries_(entries),
          states_(memory),
          slopes_(memory),
          exp2_(tape_.lists.size(), 0),
          exp2_of_slopes_(tape_.lists.size(), 0),
          gradient_((at(tape_.nnz) + 1) * layout.block(), 0.0),
          piece_(gradient_) {
        states_.grow(std::size_t{tape_.states()} * layout.block());
        slopes_.grow(of.most_slopes_ * layout.block());
    }

    // False: numbers without magnitudes are so small that underflow could matter.
    bool run() {
        for (std::int32_t l = 0; l <= last_list(); ++l)
            if (!forward(l)) return false;
        put_one(slopes(last_list()));
        for (std::int32_t l = last_list(); l >= 0; --l)
            if (!back(l)) return false;
        return true;
    }

    const double *last() { return states(last_list()); }
    std::int64_t exp2_of_last() const { return exp2_.back(); }

    double value(std::size_t number) const { return entries_[number * layout_.block()]; } // of an entry, real
    const double *entry(std::size_t number) const { return gradient_.data() + number * layout_.block(); }
    // The scale of the entries that list l takes.
    std::int64_t exp2_of_entry(std::int32_t l) const {
        return exp2_[at(tape_.lists[at(l)].before)] + exp2_of_slopes_[at(l)];
    }

    // No number has been multiplied by a power of two on the way.
    bool unscaled() const { return !scaled_; }

  private:
    std::int32_t last_list() const { return static_cast<std::int32_t>(tape_.lists.size()) - 1; }
    double *states(std::int32_t l) {
        return states_.data() + std::size_t{tape_.first_state[at(l)]} * layout_.block();
    }
    double *slopes(std::int32_t l) { return slopes_.data() + of_.lists_[at(l)].slopes * layout_.block(); }

    // What the states before are multiplied by.
    const double *factors(const TapeList &from) {
        return from.is_join() ? states(from.other) : entries_.data();
    }

    void put_one(double *block) const {
        std::fill_n(block, layout_.block(), 0.0);
        block[0] = block[magnitude()] = 1;
    }
    std::size_t magnitude() const { return layout_.magnitudes ? layout_.block() - 1 : 0; }

    // work(range) of the states of list l, `cost` for each of their moves along `way`.
    template <class Work> void in_pieces(const Tape &way, std::int32_t l, double cost, const Work &work) {
        constexpr double between_polls = 1 << 12;
        const std::uint32_t states = tape_.states_of(l), *const first_move =
                                                             way.first_move.data() + tape_.first_state[at(l)];
        for (std::uint32_t s = 0; s < states;) {
            std::uint32_t end = s + std::min(most_states_at_once, states - s);
            while (end > s + 1 && first_move[end] - first_move[s] > most_moves_at_once)
                end = s + (end - s) / 2;
            work({l, s, end});
            done_ += cost * (first_move[end] - first_move[s]);
            if (done_ > between_polls) call().advance(std::exchange(done_, 0));
            s = end;
        }
    }

    bool forward(std::int32_t l) {
        const TapeList &from = tape_.lists[at(l)];
        if (from.begins()) {
            put_one(states(l));
            return true;
        }
        in_pieces(tape_, l, 1, [&](TapeRange range) {
            run_tape_list(tape_, layout_, range, factors(from), states(from.before), states(l));
        });
        exp2_[at(l)] = exp2_[at(from.before)] + (from.is_join() ? exp2_[at(from.other)] : 0);
        return settle(states(l), tape_.states_of(l), exp2_[at(l)]);
    }

    // From the slopes of a list to those of the lists that it comes from, and of its entries.
    bool back(std::int32_t l) {
        const TapeList &from = tape_.lists[at(l)];
        if (from.begins()) return true;
        if (from.is_join())
            std::fill_n(slopes(from.other), tape_.states_of(from.other) * layout_.block(), 0.0);
        in_pieces(of_.way_back_, from.before, 2, [&](TapeRange range) {
            run_tape_list_back(of_.way_back_, layout_, range, factors(from), states(from.before),
                               {slopes(l), slopes(from.before)},
                               from.is_join() ? slopes(from.other) : piece_.data());
            add_piece(of_.lists_[at(l)].entries);
        });
        if (!from.is_join()) return settle_slopes(from.before, exp2_of_slopes_[at(l)]);
        return settle_slopes(from.before, exp2_of_slopes_[at(l)] + exp2_[at(from.other)]) &&
               settle_slopes(from.other, exp2_of_slopes_[at(l)] + exp2_[at(from.before)]);
    }

    void add_piece(const std::vector<std::uint32_t> &entries) {
        const std::size_t block = layout_.block();
        for (const std::uint32_t e : entries)
            for (std::size_t part = e * block; part < (e + 1) * block; ++part) {
                gradient_[part] += piece_[part];
                piece_[part] = 0;
            }
    }

    bool settle_slopes(std::int32_t l, std::int64_t exp2) {
        exp2_of_slopes_[at(l)] = exp2;
        return tape_.lists[at(l)].begins() || settle(slopes(l), tape_.states_of(l), exp2_of_slopes_[at(l)]);
    }

    // Raises the magnitudes by their floor, and brings the largest number near 1 where it has gone far from
    // it. False: numbers without magnitudes are too small.
    bool settle(double *numbers, std::uint32_t count, std::int64_t &exp2) {
        const std::size_t block = layout_.block(), size = std::size_t{count} * block;
        auto [least, most] = layout_.magnitudes
                                 ? raised_range(numbers + magnitude(), count, block, magnitude_floor)
                                 : range_of(numbers, count);
        // Below 2^-600 there is nothing but the floor.
        if (most > 0x1p200 || (most < 0x1p-200 && most > 0x1p-600)) {
            int shift = 0;
            std::frexp(most, &shift);
            const double factor = std::ldexp(1.0, -shift);
            for (std::size_t k = 0; k < size; ++k) numbers[k] *= factor;
            if (layout_.magnitudes)
                for (std::size_t k = magnitude(); k < size; k += block) numbers[k] += magnitude_floor;
            least *= factor;
            exp2 += shift;
            scaled_ = true;
        }
        return layout_.magnitudes || least >= GradientEntries::least_narrow;
    }

    const Gradient &of_;
    const Tape &tape_;
    const TapeLayout layout_;
    const std::vector<double> &entries_;
    Buffer<double> states_, slopes_;
    std::vector<std::int64_t> exp2_, exp2_of_slopes_; // of each list's numbers
    std::vector<double> gradient_, piece_;
    double done_ = 0; // moves that progress has not been told of
    bool scaled_ = false;
};

namespace {

// From a block to a number within a bound: the bookkeeping that permanent and derivatives share.
class Rounding {
  public:
    Rounding(TapeLayout layout, const Tape &tape) : layout_(layout) {
        // That of the entry of each row, and what underflow loses in each list.
        always_ = static_cast<double>(tape.n) + static_cast<double>(tape.lists.size()) + 1;
    }

    // `bits`: the numbers are multiples of 2^-bits, unless that is not known.
    double error(const double *block, double roundings, const std::optional<std::int64_t> &bits,
                 double copies = 1) const {
        const double size = block[layout_.magnitudes ? layout_.block() - 1 : 0] * copies;
        // Integers below 2^53 in that unit: whatever is multiplied by no 0 on its way is multiplied by one at
        // least.
        if (bits && std::ldexp(size, ldexp_exponent(*bits)) <= 0x1p53 * (1 - 0x1p-20)) return 0;
        const double moves = roundings + always_;
        const double gamma = gamma_bound(fused_roundings(layout_.arithmetic) * moves) /
                             (1 - gamma_bound(moves)) * (1 + 0x1p-40);
        return gamma >= 0 ? gamma * (size + (layout_.magnitudes ? copies * magnitude_floor : 0)) : infinity;
    }

  private:
    TapeLayout layout_;
    double always_;
};

} // namespace

// What a walk has found, in the caller's entries.
class Gradient::Reading {
  public:
    Reading(const Gradient &of, const GradientEntries &entries, Walk &walk, TapeLayout layout,
            std::size_t parts)
        : of_(of), tape_(*of.tape_), entries_(entries), walk_(walk), rounding_(layout, tape_), parts_(parts) {
        if (entries.units().empty() || !walk.unscaled()) return;
        bits_ = 0;
        for (const int unit : entries.units()) *bits_ -= unit;
    }

    TapeAnswer permanent() const {
        const double *last = walk_.last();
        const std::int64_t exp2 = walk_.exp2_of_last() - entries_.scaling().total;
        const double error = rounding_.error(last, tape_.roundings, bits_);
        TapeAnswer answer;
        answer.re = scaled(last[0], exp2, 1);
        if (parts_ == 2) answer.im = scaled(last[1], exp2, 1);
        answer.exact = error == 0;
        answer.set_error(scaled(parts_ == 2 ? std::hypot(last[0], last[1]) : last[0], exp2, 1),
                         scaled(error, exp2, 1 + 0x1p-40));
        return answer;
    }

    // By one of the caller's entries. Returns the bound of its error.
    double derivative(const EntryCopies &copies, double *to) const {
        std::fill_n(to, parts_, 0.0);
        if (copies.count == 0) return 0;
        const std::size_t k = at(copies.entry), number = of_.numbers_.empty() ? k : at(of_.numbers_[k]);
        const std::int32_t l = of_.list_of_[number];
        if (l <= 0) return 0; // the permanent does not depend on it
        const std::int64_t exp2 = walk_.exp2_of_entry(l) - entries_.scaling().total +
                                  entries_.scale_of(of_.pattern_row_[k], of_.pattern_col_[k]);
        const double count = static_cast<double>(copies.count); // below 2^31: times 2^22 exact
        const double *block = walk_.entry(number);
        const double error = error_of(block, l, k, count);
        if (exp2 == 0 && count == 1) {
            std::copy_n(block, parts_, to);
            return error;
        }
        double bound = to_double_up(scaled(error, exp2, 1 + 0x1p-40)); // and what rounding adds
        for (std::size_t part = 0; part < parts_; ++part)
            to[part] = rounded(scaled(block[part], exp2, count), bound);
        return bound;
    }

    // The entry times the derivative by it, over the permanent: all in scaled numbers, whose scales cancel.
    double share(const EntryCopies &copies, double &bound) const {
        bound = 0;
        if (copies.count == 0) return 0;
        const std::size_t k = at(copies.entry), number = of_.numbers_.empty() ? k : at(of_.numbers_[k]);
        const std::int32_t l = of_.list_of_[number];
        if (l <= 0) return 0;
        const double *last = walk_.last(), *block = walk_.entry(number);
        const double value = last[0], count = static_cast<double>(copies.count),
                     of_value = rounding_.error(last, tape_.roundings, bits_),
                     of_block = error_of(block, l, k, count);
        int of_entry = 0, of_last = 0;
        const double entry = std::frexp(walk_.value(number), &of_entry),
                     last_one = std::frexp(value, &of_last);
        const std::int64_t exp2 = walk_.exp2_of_entry(l) - walk_.exp2_of_last() - of_last;
        const auto product = [&](double factor, int of_factor, double x) { // over the permanent
            int of_x = 0;
            x = std::frexp(x, &of_x);
            return std::ldexp(factor * x / last_one, ldexp_exponent(exp2 + of_factor + of_x));
        };
        // What the entry has lost if scaling has made it subnormal.
        const double lost =
            walk_.value(number) < 0x1p-1022 ? product(0.5, -1073, block[0] * count + of_block) : 0;
        const double share = product(entry, of_entry, block[0] * count),
                     off = product(entry, of_entry, of_block);
        const double rest = value - of_value;
        bound = rest > 0
                    ? (off + lost + share * (of_value / value + 0x1p-48)) * (value / rest) * (1 + 0x1p-40) +
                          0x1p-1020
                    : infinity;
        return share;
    }

  private:
    static Scaled scaled(double x, std::int64_t exp2, double factor) { return make_scaled(x * factor, exp2); }

    // Bounds the error by an entry that list l takes.
    double error_of(const double *block, std::int32_t l, std::size_t entry, double count) const {
        const std::int32_t before = tape_.lists[at(l)].before;
        const double states = tape_.states_of(before), pieces = std::ceil(states / most_states_at_once),
                     sum = std::min(states, double{most_states_at_once}) + pieces;
        std::optional<std::int64_t> bits = bits_;
        if (bits) *bits += entries_.unit_of(of_.pattern_row_[entry], of_.pattern_col_[entry]);
        const double roundings =
            of_.lists_[at(before)].roundings + of_.lists_[at(l)].roundings_of_slopes + sum + 1;
        return rounding_.error(block, roundings, bits, count);
    }

    const Gradient &of_;
    const Tape &tape_;
    const GradientEntries &entries_;
    Walk &walk_;
    const Rounding rounding_;
    const std::size_t parts_;
    std::optional<std::int64_t> bits_; // all products of the entries are multiples of 2^-bits
};

TapeAnswer Gradient::walk(const Plan &plan, const void *values, Outcome &outcome,
                          const std::function<void(const Reading *)> &read) const {
    const Tape &tape = *tape_;
    MemoryBudget &memory = call().memory();
    memory.take(bytes_of(tape) + bytes_of(way_back_));
    const double work = 3 * static_cast<double>(tape.moves.size());
    const std::size_t parts = plan.input.value_type == PERM_VALUE_C128 ? 2 : 1;

    TapeAnswer answer;
    answer.exact = true;
    if (tape.moves.empty()) {                               // no perfect matching, or nothing to match
        static_cast<void>(read_values(plan.input, values)); // which checks them
        answer.re = make_scaled(plan.n() == 0 ? 1 : 0);
        read(nullptr);
        outcome = outcome_of(tape, answer);
        return answer;
    }
    const GradientEntries entries(plan.input, places_, values);
    call().begin(work, work * move_seconds);
    TapeLayout layout{entries.arithmetic(), !entries.narrow(), 1};
    std::vector<double> blocks = entries.blocks(layout, numbers_);
    auto walk = std::make_unique<Walk>(*this, layout, blocks, memory);
    if (!walk->run()) {
        layout.magnitudes = true;
        blocks = entries.blocks(layout, numbers_);
        walk.reset(); // before as much memory is taken again
        walk = std::make_unique<Walk>(*this, layout, blocks, memory);
        call().begin(work, work * move_seconds);
        walk->run();
    }

    const Reading reading(*this, entries, *walk, layout, parts);
    answer = reading.permanent();
    read(&reading);
    outcome = outcome_of(tape, answer);
    outcome.counts.operations = work;
    outcome.counts.peak_bytes = memory.peak();
    return answer;
}

TapeAnswer Gradient::run(const Plan &plan, const void *values, double *gradient, double *error_bounds,
                         Outcome &outcome) const {
    const std::size_t parts = plan.input.value_type == PERM_VALUE_C128 ? 2 : 1;
    return walk(plan, values, outcome, [&](const Reading *reading) {
        std::fill_n(gradient, copies_.size() * parts, 0.0);
        if (error_bounds) std::fill_n(error_bounds, copies_.size(), 0.0);
        for (std::size_t c = 0; reading && c < copies_.size(); ++c) {
            const double bound = reading->derivative(copies_[c], gradient + c * parts);
            if (error_bounds) error_bounds[c] = bound;
        }
    });
}

TapeAnswer Gradient::marginals(const Plan &plan, const void *values, double *marginals, double *error_bounds,
                               Outcome &outcome) const {
    const InputPattern &given = as_given(plan.input);
    return walk(plan, values, outcome, [&](const Reading *reading) {
        if (reading ? reading->permanent().re.mantissa == 0 : plan.n() > 0) return;
        std::vector<double> shares(copies_.size()), bounds(copies_.size());
        for (std::size_t c = 0; reading && c < copies_.size(); ++c)
            shares[c] = reading->share(copies_[c], bounds[c]);
        put_marginals(given, shares, marginals);
        if (error_bounds) put_marginals(given, bounds, error_bounds);
    });
}

} // namespace libperm
