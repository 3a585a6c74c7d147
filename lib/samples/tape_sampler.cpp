#include "lib/samples/tape_sampler.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/randomness.hpp"
#include "lib/number/bits.hpp"
#include "lib/tape/long_tape.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

// x * 2^(exp2 - unit), 0 far below.
double in_units(double x, std::int64_t exp2, std::int64_t unit) {
    return exp2 - unit < -1000 ? 0 : x * power_of_two(static_cast<int>(exp2 - unit));
}

template <class T> std::string digest_of(const std::vector<T> &all) {
    return digest_of_bytes(
        std::string_view(reinterpret_cast<const char *>(all.data()), all.size() * sizeof(T)));
}

} // namespace

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

} // namespace libperm
