#include "lib/samples/part_shots.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/bjorklund/bjorklund.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/tape/gradient_entries.hpp"
#include "lib/tape/tape_steps.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/parallel.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <variant>

namespace libperm {
namespace {

struct Place {
    std::int32_t row, column;
};

// Where each of the caller's entries stands, by its number.
std::vector<Place> places_of(const InputPattern &given, PolledSteps &steps) {
    std::vector<Place> places(at(given.pattern.nnz()));
    for (std::int32_t i = 0; i < given.pattern.rows; ++i) {
        steps.take(given.pattern.row_begin(i + 1) - given.pattern.row_begin(i));
        for (std::int64_t k = given.pattern.row_begin(i); k < given.pattern.row_begin(i + 1); ++k)
            places[at(given.source.empty() ? k : given.source[at(k)])] = {i, given.pattern.col[at(k)]};
    }
    return places;
}

// What is left of the matrix without its zeros, and where each entry stood in the caller's: nowhere that of a
// line that stays unmatched, or a 1 that was added.
SampledPart weighted(const InputPattern &input, const Values &values, Charge &charge) {
    const auto entries = at(input.pattern.nnz());
    const Charge finding(&call().memory(), as_given(input).pattern.nnz() * std::int64_t{sizeof(Place)} +
                                               input.pattern.nnz() * std::int64_t{sizeof(std::int64_t)});
    charge = Charge(&call().memory(), input.pattern.nnz() * SampledPart::entry_bytes);
    PolledSteps steps;
    const std::vector<Place> places = places_of(as_given(input), steps);
    const std::vector<std::int64_t> numbers = caller_places(input);
    SampledPart out;
    out.pattern.rows = input.pattern.rows;
    out.pattern.cols = input.pattern.cols;
    out.pattern.one_sided = input.pattern.one_sided;
    out.pattern.col.reserve(entries);
    out.entries.reserve(entries);
    out.row.reserve(entries);
    out.column.reserve(entries);
    for (std::int32_t i = 0; i < input.pattern.rows; ++i) {
        steps.take(8 * (input.pattern.row_begin(i + 1) - input.pattern.row_begin(i)));
        for (std::int64_t k = input.pattern.row_begin(i); k < input.pattern.row_begin(i + 1); ++k) {
            const Tracked x =
                values.wide.empty() ? tracked(values.real[at(k)]) : tracked_of(values.wide[at(k)].re);
            if (is_zero(x)) continue;
            const std::int64_t number = numbers.empty() ? k : numbers[at(k)];
            const bool is_entry = number >= 0 && number < std::ssize(places);
            out.pattern.col.push_back(input.pattern.col[at(k)]);
            out.entries.push_back(x);
            out.row.push_back(is_entry ? places[at(number)].row : SampledPart::no_row);
            out.column.push_back(is_entry ? places[at(number)].column : SampledPart::no_row);
        }
        out.pattern.row_ptr.push_back(std::ssize(out.pattern.col));
    }
    return out;
}

void check(const InputPattern &input, const Values &values) {
    if (input.multiplied)
        throw Error(PERM_UNSUPPORTED,
                    "matchings of lines with multiplicities are not sampled: write repeated lines out");
    if (some_negative(values))
        throw Error(
            PERM_BAD_MATRIX,
            "some entry or weight is negative or not real: probabilities are of weights of 0 or more");
}

Error nothing_to_sample() {
    return {PERM_BAD_MATRIX,
            "there is no matching with a weight above 0, so nothing to be sampled: let rows or "
            "columns stay unmatched (row_unmatched, col_unmatched), or add entries"};
}

// Lines keep their order, so that free ones are the last of their block; being equal they are all in one.
std::vector<SampledPart> parts_of(const SampledPart &a, const Matching &perfect, const InputPattern &input) {
    const Pattern &p = a.pattern;
    const std::vector<std::int32_t> block = triangular_blocks(p, perfect);
    if (block.empty()) return {};
    std::vector<SampledPart> parts(at(*std::max_element(block.begin(), block.end()) + 1));
    std::vector<std::int32_t> place(at(p.cols)); // of a column in its block
    PolledSteps steps;
    const auto of_column = [&](std::int32_t j) { return block[at(perfect.row_of_col[at(j)])]; };
    for (std::int32_t j = 0; j < p.cols; ++j) {
        SampledPart &part = parts[at(of_column(j))];
        place[at(j)] = part.pattern.cols++;
        part.free_columns += j >= p.cols - input.free_columns;
    }
    for (std::int32_t i = 0; i < p.rows; ++i) {
        SampledPart &part = parts[at(block[at(i)])];
        part.free_rows += i >= p.rows - input.free_rows;
        auto k = at(p.row_begin(i));
        steps.take(4 * std::ssize(p.row(i)));
        for (const std::int32_t j : p.row(i)) {
            if (of_column(j) == block[at(i)]) {
                part.pattern.col.push_back(place[at(j)]);
                part.entries.push_back(a.entries[k]);
                part.row.push_back(a.row[k]);
                part.column.push_back(a.column[k]);
            }
            ++k;
        }
        part.pattern.row_ptr.push_back(std::ssize(part.pattern.col));
        ++part.pattern.rows;
    }
    return parts;
}

// x * 2^(exp2 - unit), 0 far below.
double in_units(double x, std::int64_t exp2, std::int64_t unit) {
    return exp2 - unit < -1000 ? 0 : x * power_of_two(static_cast<int>(exp2 - unit));
}

template <class T> std::string digest_of(const std::vector<T> &all) {
    return digest_of_bytes(
        std::string_view(reinterpret_cast<const char *>(all.data()), all.size() * sizeof(T)));
}

std::uint64_t bit(std::int32_t line) { return std::uint64_t{1} << line; }

// Of these lines, by their order.
Block block_of_lines(const SampledPart &part, std::uint64_t lines) {
    Block block;
    const auto place = [lines](std::int32_t line) { return std::popcount(lines & (bit(line) - 1)); };
    block.pattern.one_sided = true;
    block.pattern.rows = block.pattern.cols = std::popcount(lines);
    for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
        const std::int32_t i = std::countr_zero(rest);
        std::int64_t entry = part.pattern.row_begin(i);
        for (const std::int32_t j : part.pattern.row(i)) {
            if ((lines & bit(j)) != 0) {
                block.pattern.col.push_back(place(j));
                block.values.push_back(part.entries[at(entry)]);
            }
            ++entry;
        }
        block.pattern.row_ptr.push_back(std::ssize(block.pattern.col));
    }
    return block;
}

// Exactly 0 where nothing matches the lines.
Ball hafnian_of(const SampledPart &part, std::uint64_t lines) {
    if (lines == 0) return ball_of(tracked(1));
    const Block block = block_of_lines(part, lines);
    if (!has_perfect_matching(block.pattern)) return {};
    return uncounted(
        [&] { return std::get<Ball>(run_bjorklund(BjorklundPlan(block.pattern), block).value); });
}

} // namespace

std::vector<SampledPart> sampled_parts(const InputPattern &input, const Values &values) {
    check(input, values);
    Charge charge;
    SampledPart a = weighted(input, values, charge);
    if (a.pattern.one_sided) {
        if (!has_perfect_matching(a.pattern)) throw nothing_to_sample();
        if (a.pattern.rows == 0) return {};
        std::vector<SampledPart> whole; // whose parts hang together in the tape's tree alone
        whole.push_back(std::move(a));
        return whole;
    }
    const Matching perfect = maximum_matching(a.pattern);
    if (perfect.size < a.pattern.rows) throw nothing_to_sample();
    const Charge of_parts(&call().memory(), a.pattern.nnz() * SampledPart::entry_bytes);
    return parts_of(a, perfect, input);
}

TapeSampler::TapeSampler(Tape tape, const std::vector<Tracked> &entries, std::uint64_t seed)
    : tape_(std::move(tape)), seed_(seed), up_to_(tape_.moves.size()) {
    PolledSteps steps;
    std::vector<Numbers> of(tape_.lists.size()); // while they are needed
    for (std::size_t l = 0; l < of.size(); ++l) {
        const TapeList &from = tape_.lists[l];
        if (from.begins()) {
            of[l] = {{1, 0}};
            continue;
        }
        const Numbers before = std::exchange(of[at(from.before)], {});
        if (!from.is_join()) {
            of[l] = sums_of(l, before, steps, [&](std::uint32_t entry) -> Number {
                if (entry == tape_.nnz) return {1, 0};
                return {entries[entry].value, entries[entry].exp2};
            });
        } else {
            const Numbers other = std::exchange(of[at(from.other)], {});
            of[l] = sums_of(l, before, steps, [&](std::uint32_t state) { return other[state]; });
        }
    }
}

template <class Factor>
TapeSampler::Numbers TapeSampler::sums_of(std::size_t list, const Numbers &before, PolledSteps &steps,
                                          const Factor &factor) {
    Numbers sums;
    for (std::uint32_t t = tape_.first_state[list]; t < tape_.first_state[list + 1]; ++t) {
        const std::uint32_t first = tape_.first_move[t], last = tape_.first_move[t + 1];
        steps.take(8 * (std::int64_t{last} - first));
        const auto number_of = [&](std::uint32_t k) -> Number {
            const Number a = factor(tape_.moves[k].entry), &s = before[tape_.moves[k].source];
            return {a.mantissa * s.mantissa, a.exp2 + s.exp2};
        };
        std::int64_t unit = std::numeric_limits<std::int64_t>::min();
        for (std::uint32_t k = first; k < last; ++k) unit = std::max(unit, number_of(k).exp2);
        double sum = 0;
        for (std::uint32_t k = first; k < last; ++k) {
            const Number x = number_of(k);
            up_to_[k] = sum += in_units(x.mantissa, x.exp2, unit);
        }
        for (std::uint32_t k = first; k < last; ++k) up_to_[k] /= sum;
        up_to_[last - 1] = 1;
        int exponent = 0;
        const double mantissa = std::frexp(sum, &exponent);
        sums.push_back({mantissa, unit + exponent});
    }
    return sums;
}

// The first of moves first to last - 1 whose shares come to more than x.
std::uint32_t TapeSampler::drawn(std::uint32_t first, std::uint32_t last, double x) const {
    constexpr std::uint32_t few = 16;
    if (last - first > few) {
        const auto begin = up_to_.begin();
        return static_cast<std::uint32_t>(std::upper_bound(begin + first, begin + last, x) - begin);
    }
    while (!(x < up_to_[first])) ++first;
    return first;
}

void TapeSampler::draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const {
    struct Shot {
        Randomness random;
        std::size_t taken = 0; // so many entries
    };
    std::vector<Shot> shots(count);
    for (std::uint32_t k = 0; k < count; ++k) shots[k].random = Randomness(seed_, first + k);
    taken.assign(at(tape_.n) * count, static_cast<std::uint32_t>(tape_.nnz));
    using States = std::vector<std::uint32_t>; // of each shot, counted in a list
    std::vector<States> waiting{States(count, 0)};
    for (std::size_t l = tape_.lists.size(); l-- > 0;) {
        const TapeList &from = tape_.lists[l];
        if (from.begins()) {
            waiting.pop_back();
            continue;
        }
        States &states = waiting.back();
        States others(from.is_join() ? count : 0);
        const std::uint32_t *const first_move = tape_.first_move.data() + tape_.first_state[l];
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint32_t begin = first_move[states[k]], end = first_move[states[k] + 1];
            const TapeMove move =
                tape_.moves[end - begin > 1 ? drawn(begin, end, shots[k].random.uniform()) : begin];
            states[k] = move.source;
            if (from.is_join())
                others[k] = move.entry;
            else if (move.entry != tape_.nnz)
                taken[shots[k].taken++ * count + k] = move.entry;
        }
        if (!from.is_join()) continue;
        waiting.push_back(std::move(others));
        if (from.other < from.before) std::swap(waiting[waiting.size() - 2], waiting.back());
    }
}

std::int64_t TapeSampler::bytes_for(const Tape &tape) {
    return bytes_of(tape) + static_cast<std::int64_t>(sizeof(double) * tape.moves.size());
}

std::string TapeSampler::digest() const { return digest_of(tape_.moves) + digest_of(tape_.first_move); }

double GraphShots::seconds(const SampledPart &part, std::int64_t shots) {
    const std::int32_t n = part.pattern.rows;
    if (n > most_lines) return infinity;
    const bool has_loops = BjorklundPlan(part.pattern).has_loops;
    double seconds = 0, states = 1; // as if the graph were full
    for (std::int32_t left = n; left > 0; left -= has_loops ? 1 : 2) {
        Pattern rest;
        rest.one_sided = true;
        rest.rows = rest.cols = std::max(0, left - 2);
        rest.row_ptr.assign(at(rest.rows) + 1, 0);
        BjorklundPlan plan(rest);
        plan.has_loops = has_loops;
        seconds += states * left * (call_seconds + bjorklund_cost(plan, 1).serial_seconds);
        states = std::min(states * left, static_cast<double>(shots));
    }
    return seconds;
}

GraphShots::GraphShots(const SampledPart &part, std::int64_t shots, std::uint64_t seed)
    : part_(part),
      seed_(seed),
      shot_seconds_(seconds(part, std::min<std::int64_t>(shots, most_at_once)) /
                    static_cast<double>(std::clamp<std::int64_t>(shots, 1, most_at_once))) {
    for (std::int32_t i = 0; i < part.pattern.rows; ++i)
        line_.insert(line_.end(), part.pattern.row(i).size(), i);
}

GraphShots::Lines GraphShots::without(Lines left, std::uint32_t entry) const {
    return left & ~(bit(line_[entry]) | bit(part_.pattern.col[entry]));
}

GraphShots::Choices GraphShots::choices(Lines left) const {
    Choices choices;
    std::vector<Ball> weights;
    const std::int32_t i = std::countr_zero(left);
    for (std::int64_t k = part_.pattern.row_begin(i); k < part_.pattern.row_begin(i + 1); ++k) {
        if ((left & bit(part_.pattern.col[at(k)])) == 0) continue;
        const auto entry = static_cast<std::uint32_t>(k);
        const Ball weight = ball_of(part_.entries[entry]) * hafnian_of(part_, without(left, entry));
        if (weight.value.mantissa == 0 && weight.error.mantissa == 0) continue;
        choices.entries.push_back(entry);
        weights.push_back(weight);
    }
    std::int64_t unit = std::numeric_limits<std::int64_t>::min();
    for (const Ball &weight : weights) unit = std::max(unit, weight.value.exp2);
    double sum = 0, error = 0;
    for (const Ball &weight : weights) {
        sum += std::max(0.0, to_double({weight.value.mantissa, weight.value.exp2 - unit}));
        error += to_double_up({weight.error.mantissa, weight.error.exp2 - unit});
        choices.up_to.push_back(sum);
    }
    if (!(error <= tolerance / 4 * sum)) // of the weight, and of the sum, above and below
        throw Error(PERM_UNSUPPORTED,
                    "the matchings of this graph are drawn by hafnians of what is left, and "
                    "doubles lose too much of these: scale its weights, or draw along the "
                    "frontier, with more memory (memory_limit_bytes)");
    return choices;
}

void GraphShots::draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const {
    const std::int32_t n = part_.pattern.rows;
    const Lines all = n == most_lines ? ~Lines{0} : bit(n) - 1;
    struct Shot {
        Randomness random;
        std::size_t taken = 0; // so many entries
    };
    std::vector<Shot> shots(count);
    std::map<Lines, std::vector<std::uint32_t>> waiting; // shots, by what is left of them
    for (std::uint32_t k = 0; k < count; ++k) {
        shots[k].random = Randomness(seed_, first + k);
        waiting[all].push_back(k);
    }
    taken.assign(at(n) * count, static_cast<std::uint32_t>(part_.pattern.nnz()));
    while (!waiting.empty()) {
        std::vector<Lines> left;
        for (const auto &[lines, some] : waiting) left.push_back(lines);
        std::vector<Choices> of(left.size());
        parallel_for(left.size(), [&](std::uint64_t k) {
            poll();
            of[k] = choices(left[k]);
        });
        std::map<Lines, std::vector<std::uint32_t>> next;
        for (std::size_t k = 0; k < left.size(); ++k)
            for (const std::uint32_t shot : waiting[left[k]]) {
                const std::vector<double> &up_to = of[k].up_to;
                const double x = shots[shot].random.uniform() * up_to.back();
                const auto place = std::min<std::ptrdiff_t>(
                    std::upper_bound(up_to.begin(), up_to.end(), x) - up_to.begin(), std::ssize(up_to) - 1);
                const std::uint32_t entry = of[k].entries[at(place)];
                taken[shots[shot].taken++ * count + shot] = entry;
                if (const Lines rest = without(left[k], entry); rest != 0) next[rest].push_back(shot);
            }
        waiting = std::move(next);
    }
}

} // namespace libperm
